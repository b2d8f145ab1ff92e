/**
 * The rooms that were led in this browser, newest first: their codes and names, no keys (these are in
 * cookies that no script sees). A browser that keeps nothing shows none.
 */

import { recall, remember } from "../remembered.js";

const MOST = 8;

/** @returns {{ code: string, title: string }[]} */
export function keptRooms() {
  try {
    const kept = JSON.parse(recall("rooms", "[]"));
    return Array.isArray(kept) ? kept.filter((room) => typeof room?.code === "string" && typeof room.title === "string") : [];
  } catch {
    return [];
  }
}

/** @param {string} code @param {string} title */
export function keepRoom(code, title) {
  const others = keptRooms().filter((room) => room.code !== code);
  remember("rooms", JSON.stringify([{ code, title }, ...others].slice(0, MOST)));
}

/** @param {string} code */
export function forgetRoom(code) {
  remember("rooms", JSON.stringify(keptRooms().filter((room) => room.code !== code)));
}
