/**
 * The part of the chat page that works with conversations: the transcript, the session, and the wishes
 * that components send upwards. It is fetched at the first sign of a person (or at once, when there is
 * a conversation to go on with). The list, the settings, files and links are fetched when they are first
 * asked for. Nothing is decided here.
 *
 * @typedef {object} Shell what pages/chat.js has mounted already
 * @property {HTMLElement} page
 * @property {import("../components/composer.js").Composer} composer
 * @property {import("../components/banner.js").Banner} banner
 * @property {import("../components/notice.js").Notice} notice
 * @property {import("../stream/readiness.js").Readiness} readiness
 * @property {import("../stream/socket_wire.js").Wire} wire
 * @property {(error: unknown) => void} notFetched what to do where a part that comes late did not come
 */

import { loadMarked } from "../answer/libraries.js";
import { ScrollKeeper } from "../answer/scroll_keeper.js";
import { MAX_BYTES, bytesOf } from "../chat/question.js";
import { Session } from "../chat/session.js";
import { ConversationStore } from "../chat/store.js";
import { Tabs } from "../chat/tabs.js";
import { mountHistory } from "../components/history.js";
import { part, setText } from "../components/parts.js";
import { rehearse } from "../components/rehearsal.js";
import { spellSettings } from "../components/settings_words.js";
import { Transcript } from "../components/transcript.js";
import { StallWatch } from "../stream/stall_watch.js";
import { fillWords, say, speak } from "../words.js";

export class Talk {
  /** @type {import("../components/drawer.js").Drawer | null} */
  #drawer = null;
  /** @type {import("../components/settings_panel.js").SettingsPanel | null} */
  #settings = null;
  #asked = new AbortController();

  /** Ready to ask, with the conversation of this tab on the page. @param {Shell} shell @returns {Promise<Talk>} */
  static async begin(shell) {
    const [marked] = await Promise.all([loadMarked(), speak(["talk"])]);
    fillWords(document);
    const talk = new Talk(shell, marked);
    await talk.session.restore();
    if (talk.session.conversation.turns.length > 0) talk.keeper.open();
    if (!talk.session.isLive) void talk.#rehearse(marked);
    return talk;
  }

  /** @param {Shell} shell @param {import("../answer/libraries.js").Marked | null} marked */
  constructor(shell, marked) {
    this.shell = shell;
    const { page, readiness, wire, notice } = shell;
    const below = part(page, "below", HTMLButtonElement);
    const welcome = part(page, "welcome", HTMLElement);
    this.toggle = part(page, "drawer-toggle", HTMLButtonElement);
    const turns = part(page, "turns", HTMLElement);
    const scroller = part(page, "scroller", HTMLElement);
    this.keeper = new ScrollKeeper(scroller, part(page, "column", HTMLElement), turns, (news) => {
      const hides = !news || !welcome.hidden;
      if (hides && document.activeElement === below) scroller.focus({ preventScroll: true });
      below.hidden = hides;
    });
    below.addEventListener("click", () => this.keeper.follow());
    this.store = new ConversationStore();
    /** @type {Session} */
    this.session = new Session(this.store, new Tabs(), readiness, {
      show: (conversation) => this.#show(conversation, welcome),
      view: (reply) => this.transcript.view(reply),
      renew: (reply) => this.transcript.renew(reply),
      live: (live) => this.#showLive(live),
      tell: (topic, text) => shell.banner.show(topic, text),
      announce: (text) => setText(part(page, "announcer", HTMLElement), text),
      listChanged: () => this.#drawer?.refreshSoon(),
      removedElsewhere: () => notice.show(say("deletedElsewhere")),
    });
    this.session.use(wire);
    new StallWatch(readiness.address, () => this.session.live.silence_ms, (stalled_s) => {
      shell.banner.show("stalled", stalled_s === null ? "" : say("stalled", { count: Math.round(stalled_s) }));
    });
    /** @type {Transcript} */
    this.transcript = new Transcript(turns, marked, (reply) => this.session.live.timeOf(reply));
    this.firstWords = mountHistory(part(page, "history", HTMLElement), () => this.session.conversation.turns.flatMap(({ replies }) => replies));
    this.#listen();
    document.addEventListener("visibilitychange", () => this.session.live.visibilityChanged());
    addEventListener("pagehide", () => this.session.hand.saveBusy());
  }

  /** @param {{ text: string, at_ms: number }} message */
  ask({ text, at_ms }) {
    const { composer, notice } = this.shell;
    // Sent twice before this part of the page was there.
    if (this.session.isLive) return composer.giveBack(text);
    if (bytesOf(text) > MAX_BYTES) {
      composer.giveBack(text);
      return notice.show(say("promptTooLong", { count: bytesOf(text), most: MAX_BYTES }));
    }
    if (location.hash) history.replaceState(null, "", location.pathname + location.search);
    this.#asking(() => this.session.ask(text, composer.mode, at_ms));
  }

  startNew() {
    this.session.startNew();
    this.shell.composer.fill("");
  }

  toggleDrawer() {
    return this.#drawer?.root.open ? this.#drawer.close() : this.openDrawer();
  }

  /** @param {boolean} [focus] whether the reader asked for it */
  async openDrawer(focus = true) {
    const [{ Drawer }, { Library }] = await Promise.all([import("../components/drawer.js"), import("../chat/library.js")]);
    const { page, notice } = this.shell;
    this.#drawer ??= new Drawer(part(page, "drawer", HTMLDialogElement), this.toggle, new Library(this.session), notice);
    this.#drawer.open(focus);
  }

  async openSettings() {
    const [{ SettingsPanel }, { experimentLink }] = await Promise.all([import("../components/settings_panel.js"), import("../chat/share_link.js")]);
    const { composer, page } = this.shell;
    const settings = () => this.session.conversation.settings;
    this.#settings ??= new SettingsPanel(part(page, "settings", HTMLDialogElement), {
      current: settings,
      settle: (changed) => this.session.settle(changed),
      link: () => experimentLink(location.href, { prompt: composer.text.value, mode: composer.mode, settings: settings() }),
      takeFocus: () => composer.takeFocus(),
    });
    this.#settings.open();
  }

  /** A link with an experiment fills the composer and the settings of a new chat; it never sends. */
  async openLink() {
    const { mountExperiment } = await import("../components/experiment.js");
    mountExperiment(location.hash, this.session, this.shell.composer, (text) => this.shell.notice.show(text));
  }

  // Private

  /** What the first question needs is ready before it is asked. @param {import("../answer/libraries.js").Marked | null} marked */
  async #rehearse(marked) {
    await rehearse(marked, this.#asked.signal);
    await this.store.open();
    this.shell.page.dataset.rehearsed = "true";
  }

  /** @param {import("../chat/conversation.js").Conversation} conversation @param {HTMLElement} welcome */
  #show(conversation, welcome) {
    welcome.hidden = conversation.turns.length > 0;
    this.transcript.update(conversation);
    this.firstWords.update();
    const words = spellSettings(conversation.settings);
    this.shell.composer.showChosen(words && say("chosenLabel", { words }));
    this.#drawer?.refreshSoon();
  }

  /** @param {boolean} live */
  #showLive(live) {
    this.shell.composer.update(live);
    this.transcript.updateActions();
    this.keeper.reply(live);
    this.shell.page.dataset.live = String(live);
  }

  /** Ask, and go along with the answer. What was pressed for it (Ask again, Continue, Ask) is often gone then.
   * @param {() => void} act */
  #asking(act) {
    const pressed = document.activeElement;
    const { composer, notice } = this.shell;
    this.#asked.abort();
    notice.hide();
    act();
    this.keeper.follow();
    if (pressed?.isConnected && !pressed.closest("[hidden]")) return;
    if (this.session.isLive) composer.stopButton.focus();
    else composer.takeFocus();
  }

  #listen() {
    const { session, shell: { page, composer, notice } } = this;
    const on = (/** @type {string} */ name, /** @type {(detail: any, event: Event) => void} */ act) =>
      page.addEventListener(name, (event) => act(/** @type {CustomEvent} */ (event).detail, event));
    on("again", ({ reply, at_ms }) => this.#asking(() => session.askAgain(reply, composer.mode, at_ms)));
    on("go-on", ({ reply, at_ms }) => this.#asking(() => session.goOn(reply, composer.mode, at_ms)));
    on("edit", ({ turn, text, at_ms }, event) => {
      if (session.isLive) return event.preventDefault();
      this.#asking(() => session.edit(turn, text, composer.mode, at_ms));
    });
    on("edit-last", () => this.transcript.edit());
    on("choose", ({ fork, branch }) => session.choose(fork, branch));
    on("remove-turn", ({ turn }) => {
      const undo = session.removeTurn(turn);
      composer.text.focus();
      notice.show(say("turnDeleted"), { label: say("undo"), act: () => void undo() });
    });
    on("share", ({ turn, button }) => this.#share(turn, button).catch(this.shell.notFetched));
    on("open-conversation", async ({ id }) => {
      if (!(await session.open(id))) return;
      this.keeper.open();
      composer.text.focus();
    });
    on("halt", () => session.stop());
    page.addEventListener("keydown", (event) => {
      if (event.key === "Escape" && !event.isComposing && !document.querySelector("dialog:modal")) session.stop();
    });
  }

  /** @param {import("../chat/conversation.js").Turn} turn @param {HTMLElement} button */
  async #share(turn, button) {
    const [{ experimentLink }, { copy }] = await Promise.all([import("../chat/share_link.js"), import("../components/clipboard.js")]);
    const { conversation } = this.session;
    const chosen = turn.replies.find(({ id }) => id === conversation.chosen[turn.id]) ?? turn.replies.at(-1);
    const mode = chosen?.mode ?? this.shell.composer.mode;
    const link = experimentLink(location.href, { prompt: turn.question, mode, settings: chosen?.settings ?? conversation.settings });
    this.shell.notice.show((await copy(link, button)) ? say("linkCopied") : say("linkNotCopied", { link }));
  }
}
