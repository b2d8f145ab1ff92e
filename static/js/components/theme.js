/**
 * How the page looks: as the system, light, dark, or for a projector. The choice is set on the root
 * element before the first paint (pages/first_look.js does that); this changes it.
 */

import { recall, remember } from "../remembered.js";

/** @param {HTMLSelectElement} select */
export function mountTheme(select) {
  select.value = recall("theme", "auto");
  if (select.selectedIndex < 0) select.value = "auto";
  select.addEventListener("change", () => {
    document.documentElement.dataset.theme = select.value;
    remember("theme", select.value);
  });
}
