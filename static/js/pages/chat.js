/**
 * The chat page's first look: the composer, the connection, whether the model is there. What works with
 * conversations is twice as much code and comes with the first sign of a person, or at once when
 * there is something to go on with (pages/conversation.js). Nothing is decided here.
 */

import { recall, tabStorage } from "../remembered.js";
import { Banner } from "../components/banner.js";
import { Composer } from "../components/composer.js";
import { mountHelp } from "../components/help.js";
import { isLetter } from "../components/letters.js";
import { Notice } from "../components/notice.js";
import { part, setText } from "../components/parts.js";
import { mountLanguage } from "../components/language.js";
import { mountTheme } from "../components/theme.js";
import { httpAddress } from "../stream/address.js";
import { Readiness } from "../stream/readiness.js";
import { connect } from "../stream/connection.js";
import { fillWords, say, speak } from "../words.js";

/** The first look is painted and at rest by then, and nobody has written a message yet. */
const QUIET_MS = 1000;

const page = document.body;
await speak(["common", "chat", "reply"]);
for (const seen of page.querySelectorAll(":scope > header, :scope > main, :scope > footer")) fillWords(seen);
mountTheme(part(page, "theme", HTMLSelectElement));
mountLanguage(part(page, "language", HTMLSelectElement));

const banner = new Banner(part(page, "banner", HTMLElement));
const composer = new Composer(part(page, "composer", HTMLElement));
const notice = new Notice(part(page, "notice", HTMLElement), composer);
mountHelp(page, notFetched);
const readiness = new Readiness(httpAddress(location.href, "readyz"), showReadiness);
/** @type {import("./conversation.js").Talk | null} */
let talk = null;
/** @type {Promise<import("./conversation.js").Talk> | null} */
let coming = null;
const wire = connect(location.href, (event) => talk?.session.hear(event), (state) => {
  page.dataset.connection = state.kind;
  if (state.kind === "open" || state.kind === "trying") talk?.session.live.connected();
  // A short gap is nobody's concern.
  const text = state.kind === "lost" && state.failures > 1 ? say("reconnecting") : "";
  if (state.kind === "open" || state.kind === "lost") banner.show("connection", text);
  if (state.kind === "refused") banner.show("network", say("overHttp"));
});
readiness.watch();

/**
 * @param {(talk: import("./conversation.js").Talk) => unknown} [act] what is wanted of it, once it is there; without:
 *   it is fetched early, and nobody waits for it
 * @param {() => void} [failed] it or a part of it could not be fetched
 */
async function talking(act, failed = () => {}) {
  try {
    coming ??= import("./conversation.js").then(({ Talk }) => Talk.begin({ page, composer, banner, notice, readiness, wire, notFetched }));
    talk = await coming;
    page.dataset.talk = "ready";
    await act?.(talk);
  } catch (error) {
    if (!talk) coming = null; // The next wish fetches it anew.
    if (!act) return;
    failed();
    notFetched(error);
  }
}

/** @param {unknown} error */
function notFetched(error) {
  console.error(error);
  notice.show(say("fetchAgain"));
}

// A mouse moves and a finger touches well before anything is sent; and who only reads gives us time.
for (const sign of ["pointermove", "pointerdown", "keydown", "input"]) {
  page.addEventListener(sign, () => talking(), { once: true, passive: true });
}
page.addEventListener("ask", (event) => {
  const { detail } = /** @type {CustomEvent} */ (event);
  talking((it) => it.ask(detail), () => composer.giveBack(detail.text));
});
page.addEventListener("keydown", (event) => {
  if (event.key.toLowerCase() === "k" && (event.ctrlKey || event.metaKey)) {
    event.preventDefault();
    talking((it) => it.openDrawer());
  }
  if (isLetter(event, "t")) composer.toggleMode();
});
part(page, "new-chat", HTMLButtonElement).addEventListener("click", () => talking((it) => it.startNew()));
part(page, "drawer-toggle", HTMLButtonElement).addEventListener("click", () => talking((it) => it.toggleDrawer()));
for (const name of ["settings-open", "chosen"]) {
  part(page, name, HTMLButtonElement).addEventListener("click", () => talking((it) => it.openSettings()));
}
for (const starter of page.querySelectorAll("[data-starter]")) {
  starter.addEventListener("click", () => {
    composer.fill(starter.textContent ?? "");
    composer.send();
  });
}
document.addEventListener("visibilitychange", () => document.hidden || wire.probe());
addEventListener("online", () => wire.probe());
addEventListener("pageshow", (event) => event.persisted && wire.probe());
addEventListener("hashchange", () => openLink());

const listIsOpen = recall("drawer", "closed") === "open" && matchMedia("(min-width: 64rem)").matches;
// Here somebody does wait for it: what was on the page comes back with it.
if (recall("conversation", "", tabStorage()) || recall("settings", "{}") !== "{}") await talking(() => {});
if (listIsOpen) await talking((it) => it.openDrawer(false));
await openLink();
page.dataset.state = "ready";
setTimeout(() => talking(), QUIET_MS);

async function openLink() {
  if (location.hash.startsWith("#try=")) await talking((it) => it.openLink());
}

/** @param {{ state: string, detail: string, progress: number | null }} answer */
function showReadiness({ state, detail, progress }) {
  page.dataset.model = state;
  const model = part(page, "model", HTMLElement);
  if (state === "ready") {
    banner.show("loading", "");
    setText(model, detail ? say("chatWith", { model: detail }) : "");
    talk?.session.live.modelIsReady();
  } else {
    const what = state === "away" ? say("serverAway") : detail ? say("loading", { detail }) : say("loadingPlain");
    banner.show("loading", `${what}. ${say("sendWhenReady")}`, progress);
  }
}
