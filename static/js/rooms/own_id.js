/**
 * This phone's secret in each room. It stands in localStorage beside the cookie, because each of the two
 * may be lost or refused; a room is deleted after a day, and so are old secrets' uses.
 */

import * as kept from "../remembered.js";

/** @param {string} code @returns {string} "" where there is none */
export const recall = (code) => kept.recall(`room.${code}`, "");

/** @param {string} code @param {string} id */
export const remember = (code, id) => kept.remember(`room.${code}`, id);

/** @param {string} code */
export const forget = (code) => kept.remember(`room.${code}`, "");
