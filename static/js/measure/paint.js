/**
 * When is a text on the screen? The browser does not say, so this measures the next best thing: after
 * the DOM changed, wait for the frame that paints it (requestAnimationFrame), then for the first task
 * after that frame. The stamp is late by less than one frame and never early. A hidden tab paints
 * nothing: the stamp is taken at once and the caller flags it.
 */

/**
 * @param {(stamp_ms: number) => void} tell gets performance.now() after the paint
 * @param {Document} [page]
 */
export function afterPaint(tell, page = document) {
  if (page.hidden) {
    tell(performance.now());
    return;
  }
  let told = false;
  const once = () => {
    if (told) return;
    told = true;
    page.removeEventListener("visibilitychange", whenHidden);
    tell(performance.now());
  };
  // A tab that is hidden before its frame would never get one.
  const whenHidden = () => page.hidden && once();
  page.addEventListener("visibilitychange", whenHidden);
  requestAnimationFrame(() => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      once();
    };
    port2.postMessage(null);
  });
}
