"use strict";

// The package's own classes over one of two doors: the native module, or the program.

const path = require("node:path");
const operations = require("./operations.json");
const { BinaryDoor } = require("./binary.cjs");
const { LoopxError } = require("./error.cjs");
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
  const { onNotice, ...rest } = given;
  const options = {
    registry: rest.registry, runtime_root: rest.runtimeRoot, cwd: rest.cwd && path.resolve(rest.cwd), home: rest.home,
    label: rest.label, independent_worktree: rest.independentWorktree,
    deadline_ms: rest.deadlineMs, now: rest.now,
  };
  const looked = native(rest.cwd ? [rest.cwd] : []);
  if (looked.native) return new NativeDoor(looked.native, JSON.stringify(options));
  const told = story(looked);
  if (!noticed) {
    noticed = true;
    // Never on standard output: that may be a protocol.
    const say = onNotice ?? ((sentence) => process.stderr.write(`loopx: ${sentence}\n`));
    say(`${told}\nThe program ${process.env.LOOPX_BIN || "loopx"} is run instead, once a call.`);
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
    return opened(await this.#door.call(operation, JSON.stringify(request)));
  }

  callSync(operation, request = {}) {
    return opened(this.#door.callSync(operation, JSON.stringify(request)));
  }

  fixClock(now) {
    opened(this.#door.fixClock(now));
  }

  close() {
    this.#door.close?.();
    this.#door = new ClosedDoor(this.via);
  }

  /** For {@link LoopSession}. */
  session(options) {
    const loop = this.#door.session(JSON.stringify(options));
    const closed = () => this.#door instanceof ClosedDoor;
    return { step: async (event) => (closed() ? CLOSED : loop.step(event)), owed: () => loop.owed() };
  }
}

for (const { name, method, sync } of operations) {
  const value = sync
    ? function (request) { return this.callSync(name, request); }
    : function (request) { return this.call(name, request); };
  Object.defineProperty(value, "name", { value: method });
  Object.defineProperty(Kernel.prototype, method, { value, writable: true, configurable: true });
}

class LoopSession {
  #loop;
  #last = Promise.resolve();

  constructor(kernel, options) {
    this.goalId = options.goal_id;
    this.#loop = kernel.session(options);
  }

  /** Steps of a session happen one after the other, in the order of the calls. */
  step(event) {
    const text = JSON.stringify(typeof event === "string" ? { kind: event } : event);
    const next = this.#last.then(async () => opened(await this.#loop.step(text)));
    this.#last = next.catch(() => {});
    return next;
  }

  owed() {
    return opened(this.#loop.owed());
  }
}

module.exports = { Kernel, LoopSession };
