/**
 * The strips as a picture file: the same geometry as on the page, drawn on a canvas in the page's own
 * colours, with the question above and the verdict below.
 */

import { momentOf } from "../race/moment.js";
import { endOfRace } from "../race/race.js";
import { axisOf, stripsShape } from "../race/strips_shape.js";
import { verdictOn } from "../race/verdict.js";
import { say } from "../words.js";

const WIDTH = 1600;
const MARGIN = 48;
const TEXT = 24;
const BAR = 54;

/** @param {import("../race/race.js").Race} race all of it over @returns {Promise<Blob>} a PNG */
export async function pictureOf(race) {
  const end_ms = Number(endOfRace(race));
  const { strips } = momentOf(race, end_ms);
  const shape = stripsShape(strips, {
    width: WIDTH - 2 * MARGIN, text: TEXT, bar: BAR, axis_ms: axisOf(end_ms), moment_ms: null, wordsPerMinute: race.experiment.wordsPerMinute,
  });
  const canvas = document.createElement("canvas");
  canvas.width = WIDTH;
  canvas.height = shape.height + 4 * MARGIN + 60;
  const pen = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
  const style = getComputedStyle(document.documentElement);
  /** @param {string} name */
  const color = (name) => style.getPropertyValue(`--${name}`).trim();
  const family = style.fontFamily;
  pen.fillStyle = color("paper");
  pen.fillRect(0, 0, canvas.width, canvas.height);
  write(pen, race.experiment.prompt.replace(/\s+/g, " "), MARGIN, MARGIN + 26, `500 28px ${family}`, color("soft"));
  pen.translate(MARGIN, MARGIN + 60);
  drawStrips(pen, shape, color, family);
  const { same, sooner } = verdictOn(race.lanes);
  write(pen, `${same} ${sooner}`, 0, shape.height + 72, `650 40px ${family}`, color("ink"));
  write(pen, `Firstword · ${race.madeAt.slice(0, 10)}`, 0, shape.height + 112, `20px ${family}`, color("soft"));
  return new Promise((resolve, reject) => canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error("no picture"))), "image/png"));
}

// Private

/**
 * @param {CanvasRenderingContext2D} pen
 * @param {import("../race/strips_shape.js").StripsShape} shape
 * @param {(name: string) => string} color
 * @param {string} family
 */
function drawStrips(pen, { rows, marks, left, width, height }, color, family) {
  const bottom = (rows.at(-1)?.bottom ?? 0) + 6;
  for (const { x, ms } of marks) {
    line(pen, x, 0, x, bottom, color("line"), 1);
    write(pen, say("seconds", { value: ms / 1000 }), x, height - 2, `20px ${family}`, color("soft"), "center");
  }
  for (const { name, nameY, top, bottom: low, wait, ticks, single, end, reading } of rows) {
    write(pen, name, 0, nameY, `600 ${TEXT}px ${family}`, color("ink"));
    line(pen, left, low, width, low, color("line-strong"), 1);
    hatch(pen, left, top, Math.max(1, wait - left), low - top, color("hatch"), color("wait"));
    pen.strokeStyle = color("accent");
    pen.lineWidth = single ? 8 : 2.5;
    pen.stroke(new Path2D(ticks));
    if (reading) line(pen, reading.from, low + 5, reading.to, low + 5, color("ink"), 2, [2, 4]);
    if (end !== null) line(pen, end + 4, top, end + 4, low, color("ink"), 4);
  }
}

/** @param {CanvasRenderingContext2D} pen @param {number} x @param {number} y @param {number} width @param {number} height @param {string} fill @param {string} edge */
function hatch(pen, x, y, width, height, fill, edge) {
  pen.save();
  pen.beginPath();
  pen.rect(x, y, width, height);
  pen.clip();
  for (let at = x - height; at < x + width + height; at += 14) line(pen, at, y + height, at + height, y, fill, 6);
  pen.restore();
  pen.strokeStyle = edge;
  pen.lineWidth = 1;
  pen.strokeRect(x, y, width, height);
}

/** @param {CanvasRenderingContext2D} pen @param {number} x1 @param {number} y1 @param {number} x2 @param {number} y2 @param {string} color @param {number} width @param {number[]} [dash] */
function line(pen, x1, y1, x2, y2, color, width, dash = []) {
  pen.strokeStyle = color;
  pen.lineWidth = width;
  pen.setLineDash(dash);
  pen.beginPath();
  pen.moveTo(x1, y1);
  pen.lineTo(x2, y2);
  pen.stroke();
  pen.setLineDash([]);
}

/** @param {CanvasRenderingContext2D} pen @param {string} text @param {number} x @param {number} y @param {string} font @param {string} color @param {CanvasTextAlign} [align] */
function write(pen, text, x, y, font, color, align = "left") {
  pen.font = font;
  pen.fillStyle = color;
  pen.textAlign = align;
  pen.fillText(text, x, y, WIDTH - 2 * MARGIN);
}
