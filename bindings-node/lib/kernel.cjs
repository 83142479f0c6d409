"use strict";

// The package's own classes over one of two doors: the native module, or the program.

const path = require("node:path");
const operations = require("./operations.json");
const { BinaryDoor } = require("./binary.cjs");
const { LoopxError, invalid, jsonOf, named, optionsOf } = require("./error.cjs");
const { native, story } = require("./native.cjs");

/** Text to value; a text that begins with `!` is a refusal. */
function opened(text) {
  if (text.charCodeAt(0) === 33) throw LoopxError.of(text.slice(1));
  return JSON.parse(text);
}

class NativeDoor {
  constructor(module, options) {
    this.via = "native";
    this.module = module;
    try {
      this.kernel = module.NativeKernel.open(options);
    } catch (error) {
      throw LoopxError.of(error.message, error);
    }
  }

  callSync(operation, request) {
    return this.kernel.callSync(operation, request);
  }

  call(operation, request) {
    return this.kernel.call(operation, request);
  }

  fixClock(now) {
    return this.kernel.fixClock(now);
  }

  close() {
    this.kernel.close();
  }

  session(options) {
    try {
      const loop = this.module.NativeLoop.open(options);
      return { step: (event) => loop.step(this.kernel, event), owed: () => loop.owed() };
    } catch (error) {
      throw LoopxError.of(error.message, error);
    }
  }
}

const OPTIONS = ["registry", "runtimeRoot", "cwd", "home", "label", "independentWorktree", "deadlineMs", "now", "onNotice"];
const FOLDERS = ["registry", "runtimeRoot", "cwd", "home"];
const SESSION = [
  "goal_id", "surface", "session", "agent_id", "available_capabilities", "independent_worktree", "execution_context",
  "ttl_seconds", "holder_pid", "observe", "ephemeral",
];

/** As the native module says it, also where the program is run. */
const CLOSED = `!${JSON.stringify({
  ok: false, error_code: "request_invalid", error: "the kernel is closed", about: "kernel", next_command: "open another one: Kernel.open()",
})}`;

class ClosedDoor {
  constructor(via) {
    this.via = via;
  }

  callSync() { return CLOSED; }
  async call() { return CLOSED; }
  fixClock() { return CLOSED; }
  close() {}
  session() { throw LoopxError.of(CLOSED.slice(1)); }
}

let noticed = false;

function door(given) {
  const { onNotice, ...rest } = optionsOf("options", given, OPTIONS);
  for (const name of [...FOLDERS, "label", "now"]) {
    if (typeof (rest[name] ?? "") !== "string") throw invalid(name, `${name} is a text, not ${named(rest[name])}`);
  }
  if (typeof (onNotice ?? door) !== "function") throw invalid("onNotice", `onNotice is a function, not ${named(onNotice)}`);
  const options = {
    registry: rest.registry, runtime_root: rest.runtimeRoot, cwd: rest.cwd && path.resolve(rest.cwd), home: rest.home,
    label: rest.label, independent_worktree: rest.independentWorktree,
    deadline_ms: rest.deadlineMs, now: rest.now,
  };
  const text = jsonOf("options", options);
  const looked = native(rest.cwd ? [rest.cwd] : []);
  if (looked.native) return new NativeDoor(looked.native, text);
  const told = story(looked);
  if (!noticed) {
    noticed = true;
    // Never on standard output: that may be a protocol.
    const say = onNotice ?? ((sentence) => process.stderr.write(`loopx: ${sentence}\n`));
    const deaf = ["deadlineMs", "independentWorktree"].filter((name) => rest[name] != null);
    const but = deaf.length > 0 ? ` It has no ${deaf.join(" and no ")}.` : "";
    say(`${told}\nThe program ${process.env.LOOPX_BIN || "loopx"} is run instead, once a call.${but}`);
  }
  return new BinaryDoor(options, told);
}

class Kernel {
  #door;

  constructor(secret, opened) {
    if (secret !== door) throw new TypeError("use Kernel.open()");
    this.#door = opened;
  }

  static open(options = {}) {
    return new Kernel(door, door(options));
  }

  get via() {
    return this.#door.via;
  }

  async call(operation, request = {}) {
    return opened(await this.#door.call(operationOf(operation), jsonOf("request", request)));
  }

  callSync(operation, request = {}) {
    return opened(this.#door.callSync(operationOf(operation), jsonOf("request", request)));
  }

  fixClock(now) {
    if (typeof (now ?? "") !== "string") throw invalid("now", `now is a text or null, not ${named(now)}`);
    opened(this.#door.fixClock(now ?? null));
  }

  close() {
    this.#door.close?.();
    this.#door = new ClosedDoor(this.via);
  }

  /** For {@link LoopSession}. */
  session(options) {
    const loop = this.#door.session(jsonOf("session", options));
    const closed = () => this.#door instanceof ClosedDoor;
    return { step: async (event) => (closed() ? CLOSED : loop.step(event)), owed: () => loop.owed() };
  }
}

function operationOf(name) {
  if (typeof name === "string") return name;
  throw invalid("operation", `an operation is a name like "goal.list", not ${named(name)}`, "loopx --help");
}

for (const { name, method, sync } of operations) {
  const value = sync
    ? function (request) { return this.callSync(name, request); }
    : function (request) { return this.call(name, request); };
  Object.defineProperty(value, "name", { value: method });
  Object.defineProperty(Kernel.prototype, method, { value, writable: true, configurable: true });
}

/** A person's message may be cut in the middle of a character, and it counts all the same. */
const wellFormed = (_key, value) => (typeof value === "string" ? value.replace(/\p{Surrogate}/gu, "\ufffd") : value);

class LoopSession {
  #loop;
  #last = Promise.resolve();

  constructor(kernel, options) {
    if (!(kernel instanceof Kernel)) throw invalid("kernel", `a LoopSession needs a Kernel, not ${named(kernel)}`);
    optionsOf("session", options, SESSION);
    for (const name of ["goal_id", "surface", "session"]) {
      if (typeof options[name] !== "string") throw invalid(name, `a LoopSession needs ${name}, a text, not ${named(options[name])}`);
    }
    this.goalId = options.goal_id;
    this.#loop = kernel.session(options);
  }

  /** Steps of a session happen one after the other, in the order of the calls. */
  async step(event) {
    const asked = typeof event === "string" ? { kind: event } : event;
    if (typeof asked?.kind !== "string") throw invalid("event", `an event is its kind, or an object with a kind, not ${named(event)}`);
    const text = jsonOf("event", asked, wellFormed);
    const next = this.#last.then(async () => opened(await this.#loop.step(text)));
    this.#last = next.catch(() => {});
    return next;
  }

  owed() {
    return opened(this.#loop.owed());
  }
}

module.exports = { Kernel, LoopSession };
