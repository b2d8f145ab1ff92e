/**
 * The chat page: find the elements, mount the components, join them with the session. Nothing is
 * decided here.
 */

import { loadMarked } from "../answer/libraries.js";
import { ScrollKeeper } from "../answer/scroll_keeper.js";
import { Session } from "../chat/session.js";
import { ConversationStore } from "../chat/store.js";
import { Banner } from "../components/banner.js";
import { Composer } from "../components/composer.js";
import { part, setText } from "../components/parts.js";
import { mountTheme } from "../components/theme.js";
import { Transcript } from "../components/transcript.js";
import { httpAddress } from "../stream/address.js";
import { Readiness } from "../stream/readiness.js";
import { connect } from "../stream/connection.js";
import { fillWords, say, speak } from "../words.js";

const page = document.body;
await speak(["common", "chat"]);
fillWords(document);
mountTheme(part(page, "theme", HTMLSelectElement));

const banner = new Banner(part(page, "banner", HTMLElement));
const composer = new Composer(part(page, "composer", HTMLElement));
const list = part(page, "turns", HTMLElement);
const welcome = part(page, "welcome", HTMLElement);
const below = part(page, "below", HTMLButtonElement);
const announcer = part(page, "announcer", HTMLElement);
const keeper = new ScrollKeeper(part(page, "scroller", HTMLElement), part(page, "column", HTMLElement), (state) => {
  below.hidden = !state.below || state.following || !welcome.hidden;
});

const readiness = new Readiness(httpAddress(location.href, "readyz"), showReadiness);
/** @type {Session} */
const session = new Session(new ConversationStore(), readiness, {
  show(conversation) {
    welcome.hidden = conversation.turns.length > 0;
    transcript.update(conversation);
  },
  view: (id) => transcript.view(id),
  live(live) {
    composer.update(live);
    page.dataset.live = String(live);
  },
  tell: (topic, text) => banner.show(topic, text),
  announce: (text) => setText(announcer, text),
});
const wire = connect(location.href, (event) => session.hear(event), (state) => {
  page.dataset.connection = state.kind;
  if (state.kind === "open") session.connected();
  // A short gap is nobody's concern.
  const text = state.kind === "lost" && state.failures > 1 ? say("reconnecting") : "";
  if (state.kind !== "refused") banner.show("connection", text);
  if (state.kind === "refused") banner.show("network", say("overHttp"));
});
session.use(wire);
readiness.watch();
/** @type {Transcript} */
const transcript = new Transcript(list, await loadMarked(), (reply) => session.timeOf(reply));
await session.restore();
if (session.conversation.turns.length > 0) keeper.follow();
page.dataset.state = "ready";

page.addEventListener("ask", (event) => {
  const { text, at_ms } = /** @type {CustomEvent} */ (event).detail;
  session.ask(text, composer.mode, at_ms);
  keeper.follow();
});
page.addEventListener("again", (event) => {
  const { reply, at_ms } = /** @type {CustomEvent} */ (event).detail;
  session.askAgain(reply, composer.mode, at_ms);
  keeper.follow();
});
page.addEventListener("halt", () => session.stop());
page.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && !event.isComposing) session.stop();
  const inField = event.target instanceof Element && event.target.closest("textarea, input:not([type=radio]), select");
  if (event.key.toLowerCase() === "t" && !inField && !event.ctrlKey && !event.metaKey && !event.altKey) composer.toggleMode();
});
below.addEventListener("click", () => keeper.follow());
part(page, "new-chat", HTMLButtonElement).addEventListener("click", () => {
  session.startNew();
  composer.fill("");
});
for (const starter of welcome.querySelectorAll("[data-starter]")) {
  starter.addEventListener("click", () => {
    composer.fill(starter.textContent ?? "");
    composer.send();
  });
}
document.addEventListener("visibilitychange", () => {
  session.visibilityChanged();
  if (!document.hidden) wire.probe();
});
addEventListener("online", () => wire.probe());
addEventListener("pageshow", (event) => event.persisted && wire.probe());
addEventListener("pagehide", () => session.leave());

/** @param {{ state: string, detail: string, progress: number | null }} answer */
function showReadiness({ state, detail, progress }) {
  page.dataset.model = state;
  const model = part(page, "model", HTMLElement);
  if (state === "ready") {
    banner.show("loading", "");
    setText(model, detail ? say("chatWith", { model: detail }) : "");
    session.modelIsReady();
  } else {
    const what = state === "away" ? say("serverAway") : detail ? say("loading", { detail }) : say("loadingPlain");
    banner.show("loading", `${what}. ${say("sendWhenReady")}`, progress);
  }
}
