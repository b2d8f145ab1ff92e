/**
 * An experiment's runs as they went with the real model (bench/lab_runs.py), for a server that has none
 * ready.
 *
 * @typedef {{ made_at: string, model: string, cpu: string, cores: number }} About on what it was made
 */

import { httpAddress } from "../stream/address.js";

/**
 * @param {string} page the page's own address @param {string} experiment
 * @returns {Promise<any>} About, and what that experiment keeps
 */
export async function recordedRun(page, experiment) {
  const response = await fetch(httpAddress(page, `static/runs/${experiment}.json`));
  if (!response.ok) throw new Error(`HTTP ${response.status}`);
  return response.json();
}
