/**
 * An exercise: its question, a field or choices, and a word on the answer. Nothing is kept or sent.
 */

import { EXERCISES, isRight } from "../learn/exercises.js";
import { say } from "../words.js";
import { element, setText } from "./parts.js";

/** @param {HTMLFormElement} form names its exercise @param {(id: string) => void} solved */
export function mountExercise(form, solved) {
  const id = form.dataset.exercise ?? "";
  const exercise = EXERCISES[id];
  if (!exercise) throw new Error(`there is no exercise ${id}`);
  const question = element("p", "exercise-question", element("b", "", `${say("exercise")} `), say(`${id}.q`));
  question.id = `question-${id}`;
  const answers = element("div", "exercise-answers");
  answers.setAttribute("role", "group");
  answers.setAttribute("aria-labelledby", question.id);
  answers.append(...(exercise.kind === "choice" ? choices(id, exercise.choices) : number(id, question.id)));
  const verdict = element("p", "exercise-verdict");
  verdict.setAttribute("role", "status");
  const check = element("button", "quiet check", say("check"));
  answers.append(check);
  form.append(question, answers, verdict);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const right = isRight(exercise, String(new FormData(form).get("answer") ?? ""));
    form.dataset.right = String(right);
    if (right === null) return setText(verdict, say(exercise.kind === "choice" ? "chooseOne" : "notANumber"));
    setText(verdict, right ? `${say("right")} ${say(`${id}.why`)}` : say("wrong"));
    if (right) solved(id);
  });
}

// Private

/** @param {string} id @param {number} count */
function choices(id, count) {
  return Array.from({ length: count }, (_, i) => {
    const input = document.createElement("input");
    Object.assign(input, { type: "radio", name: "answer", value: String(i) });
    return element("label", "choice", input, element("span", "", say(`${id}.${i}`)));
  });
}

/** @param {string} id @param {string} labelledBy */
function number(id, labelledBy) {
  const input = document.createElement("input");
  Object.assign(input, { type: "text", name: "answer", inputMode: "decimal", autocomplete: "off", size: 7, maxLength: 12 });
  input.setAttribute("aria-labelledby", labelledBy);
  return [input, element("span", "unit", say(`${id}.unit`))];
}
