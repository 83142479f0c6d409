"use strict";

// What every JavaScript host does around a LoopSession: timers, the watch, and handing on
// what the kernel answers. Nothing here decides anything.

/** Longest sleep of one timer: a machine that slept wakes no later than this. */
const SLICE_MS = 60_000;
/** How often the goal is looked at for commits of others, by door. */
const WATCH_MS = { native: 3_000, binary: 60_000 };

const SYSTEM = {
  now: () => Date.now(),
  setTimeout: (work, ms) => {
    const timer = setTimeout(work, ms);
    timer.unref?.();
    return timer;
  },
  clearTimeout: (timer) => clearTimeout(timer),
};

/** What a person does: it goes before a prompt that is about to be sent. */
const BY_PERSON = new Set(["aborted", "paused", "resumed", "user_prompt"]);

class HostLoop {
  #kernel;
  #session;
  #host;
  #clock;
  #timer = null;
  #watch = null;
  #commit = 0;
  #mark = null;
  #disposed = false;
  /** How often a person has acted; who asked before that comes too late with a prompt. */
  #acts = 0;
  /** The prompt that was sent last: it comes back as an event, and is nobody's act. */
  #sent = null;
  /** The turn of a prompt that was not sent, as long as the loop may still have it. */
  #unsent = null;

  /**
   * `host`: `prompt(text, action)` sends a prompt, `say(notice)` tells the person, `idle()`
   * says whether the agent is at rest, `shown(answer)` is called after every step.
   */
  constructor(kernel, session, host, { clock = SYSTEM, watchMs } = {}) {
    this.#kernel = kernel;
    this.#session = session;
    this.#host = host;
    this.#clock = clock;
    this.watchMs = watchMs ?? WATCH_MS[kernel.via];
    this.last = null;
    this.#watchOn();
  }

  get goalId() {
    return this.#session.goalId;
  }

  get disposed() {
    return this.#disposed;
  }

  /**
   * Tells the kernel what happened, and does what it answers. `send` gets the prompt that
   * this very event leads to, where it is not the host's `prompt`.
   */
  async tell(event, send = (text, action) => this.#host.prompt(text, action)) {
    if (this.#disposed) return this.last;
    const { kind, prompt } = typeof event === "string" ? { kind: event } : (event ?? {});
    const own = kind === "user_prompt" && this.#sent !== null && prompt === this.#sent;
    if (BY_PERSON.has(kind) && !own) this.#acts += 1;
    const acts = this.#acts;
    let answer = await this.#session.step(event);
    if (this.#disposed) return answer;
    if (acts !== this.#acts && answer.action.kind === "prompt") {
      this.#unsent = answer.action.turn_id;
      answer = { ...answer, action: { kind: "idle" } };
    }
    this.last = answer;
    if (answer.commit) this.#commit = answer.commit;
    if (answer.notice) this.#host.say?.(answer.notice, answer);
    await this.#act(answer.action, send);
    if (acts === this.#acts) await this.#giveBack(answer);
    this.#host.shown?.(answer);
    return answer;
  }

  async #act(action, send) {
    this.#sleepNot();
    switch (action.kind) {
      case "prompt":
        this.#sent = action.text;
        return send(action.text, action);
      case "wait":
        return this.#sleepUntil(Date.parse(action.until));
      case "recheck":
        return void (await this.tell("timer", send));
      default:
    }
  }

  /** Gives the turn of an unsent prompt back where what the person did has left it. */
  async #giveBack({ action, loop }) {
    if (this.#unsent === null || !loop) return;
    const turn = this.#unsent;
    const { pending } = loop;
    if (action.kind !== "prompt" && pending?.turn_id === turn && !pending.delivered) {
      const request = { goal_id: this.goalId, turn_instance_id: turn };
      try {
        await this.#kernel.call("turn.release", loop.agent_id ? { ...request, agent_id: loop.agent_id } : request);
      } catch {
        return; // Tried again with the next event.
      }
    }
    if (this.#unsent === turn) this.#unsent = null;
  }

  /** Told only while the agent rests: what it is doing ends in an event of its own. */
  async #quietly(event) {
    if (this.#disposed || this.#host.idle?.() === false) return;
    await this.tell(event).catch(() => {});
  }

  #sleepUntil(due) {
    const left = due - this.#clock.now();
    this.#timer = this.#clock.setTimeout(
      () => (due <= this.#clock.now() ? this.#quietly("timer") : this.#sleepUntil(due)),
      Math.max(0, Math.min(SLICE_MS, left)),
    );
  }

  #sleepNot() {
    if (this.#timer !== null) this.#clock.clearTimeout(this.#timer);
    this.#timer = null;
  }

  #watchOn() {
    this.#watch = this.#clock.setTimeout(async () => {
      await this.look().catch(() => {});
      if (!this.#disposed) this.#watchOn();
    }, this.watchMs);
  }

  /** Looks whether others have committed, and tells the loop when they have. */
  async look() {
    if (this.#disposed || !this.last) return;
    const request = { goal_id: this.goalId, commit: this.#commit };
    const seen = await this.#kernel.call("goal.changed_since", request);
    if (this.#disposed || !seen.changed || seen.mark === this.#mark) return;
    if (this.#host.idle?.() === false) return;
    this.#mark = seen.mark;
    await this.tell("changed");
  }

  /** The runtime goes away; `event` is told first when there is one. */
  async dispose(event) {
    if (this.#disposed) return;
    this.#disposed = true;
    this.#sleepNot();
    this.#clock.clearTimeout(this.#watch);
    if (event) await this.#session.step(event);
  }
}

module.exports = { HostLoop, SLICE_MS, WATCH_MS };
