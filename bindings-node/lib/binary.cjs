"use strict";

// The kernel through the program `loopx`, where the native module does not load: the same
// requests and answers, one process a call.

const { execFileSync, spawn } = require("node:child_process");
const operations = require("./operations.json");
const { LoopxError } = require("./error.cjs");
// The kernel's ladder, for questions that cannot be put to it.
const { minutes: LADDER } = require("./retry.json");

/** All that an error says; an answer that is not "ok" says more. */
const ERROR = ["about", "error", "error_code", "next_command", "ok"].join();
const KNOWN = new Set(operations.map(({ name }) => name));
const WRITES = new Set(operations.filter(({ access }) => access === "write").map(({ name }) => name));
const MOST = 64 * 1024 * 1024;
const PATIENCE_MS = 60_000;

function program() {
  return process.env.LOOPX_BIN || "loopx";
}

function gone(error, told) {
  return new LoopxError(
    {
      error_code: "native_unavailable",
      error: `${told}; the program ${JSON.stringify(program())} cannot be run either: ${error.code ?? error.message}`,
      about: "loopx",
      next_command: "npm install loopx, or name the program in LOOPX_BIN",
    },
    { cause: error },
  );
}

function refusal(error, next_command) {
  return `!${JSON.stringify({ ok: false, error_code: "request_invalid", error, about: "operation", next_command })}`;
}

/** A name that is none would be wrong usage of the program, which says so in prose. */
function unknown(operation) {
  return KNOWN.has(operation) ? null : refusal(`there is no operation ${JSON.stringify(operation)}`, "loopx --help");
}

/** As the native door refuses it. */
function writes(operation) {
  if (!WRITES.has(operation)) return null;
  return refusal(`${operation} writes, and does not run on the JavaScript thread`, "await kernel.call(operation, request)");
}

class BinaryDoor {
  constructor(options, told) {
    this.via = "binary";
    this.told = told;
    this.cwd = options.cwd;
    this.env = { ...process.env };
    if (options.home) this.env.HOME = options.home;
    if (options.now) this.env.LOOPX_NOW = options.now;
    if (options.label) this.env.LOOPX_AGENT_ID = options.label;
    this.flags = [];
    if (options.registry) this.flags.push("--registry", options.registry);
    if (options.runtime_root) this.flags.push("--runtime-root", options.runtime_root);
  }

  arguments(operation) {
    return [...this.flags, "--format", "json", "call", operation, "-"];
  }

  /** As the native door says it: an error begins with `!`. */
  said(operation, stdout, stderr) {
    let value;
    try {
      value = JSON.parse(stdout);
    } catch {
      const error = (stderr || "it answered nothing").trim().split("\n")[0];
      return `!${JSON.stringify({ ok: false, error_code: "internal", error, about: operation, next_command: "loopx doctor" })}`;
    }
    const refused = value?.ok === false && Object.keys(value).sort().join() === ERROR;
    return refused ? `!${stdout}` : stdout;
  }

  callSync(operation, request) {
    const refused = unknown(operation) ?? writes(operation);
    if (refused) return refused;
    const options = {
      input: request, cwd: this.cwd, env: this.env, encoding: "utf8", maxBuffer: MOST,
      timeout: PATIENCE_MS, stdio: ["pipe", "pipe", "pipe"], windowsHide: true,
    };
    try {
      return this.said(operation, execFileSync(program(), this.arguments(operation), options), "");
    } catch (error) {
      if (typeof error.status !== "number") throw gone(error, this.told);
      return this.said(operation, error.stdout, error.stderr);
    }
  }

  call(operation, request) {
    return new Promise((resolve, reject) => {
      const refused = unknown(operation);
      if (refused) return resolve(refused);
      const child = spawn(program(), this.arguments(operation), {
        cwd: this.cwd, env: this.env, windowsHide: true, stdio: ["pipe", "pipe", "pipe"],
      });
      // Not spawn's own limit: that one would keep this process when there is no program.
      const patience = setTimeout(() => child.kill(), PATIENCE_MS);
      let [stdout, stderr] = ["", ""];
      child.stdout.setEncoding("utf8").on("data", (text) => (stdout += text));
      child.stderr.setEncoding("utf8").on("data", (text) => (stderr += text));
      child.on("error", (error) => {
        clearTimeout(patience);
        reject(gone(error, this.told));
      });
      child.on("close", () => {
        clearTimeout(patience);
        resolve(this.said(operation, stdout, stderr));
      });
      child.stdin.on("error", () => {});
      child.stdin.end(request);
    });
  }

  fixClock(now) {
    if (now) this.env.LOOPX_NOW = now;
    else delete this.env.LOOPX_NOW;
    return '{"ok":true}';
  }

  now() {
    return this.env.LOOPX_NOW ? Date.parse(this.env.LOOPX_NOW) : Date.now();
  }

  session(options) {
    return new BinaryLoop(this, JSON.parse(options));
  }
}

/** What a person does counts, whoever has the session by now. */
const UNCONDITIONAL = new Set([
  "activated", "aborted", "paused", "resumed", "user_prompt", "session_replaced",
]);
const BY_PERSON = new Set(["aborted", "paused", "user_prompt"]);
/** What nobody says twice; the timer or the change after a failure tells it again. */
const ONCE = new Set(["activated", "settled", "resumed", "session_replaced", "host_error"]);
const AGAIN = new Set(["timer", "changed"]);
const BESIDE = new Set(["delivered", "compacted"]);

/** The native session's part: the generation that it saw, and what is yet to be stored. */
class BinaryLoop {
  constructor(door, template) {
    this.door = door;
    this.template = template;
    this.generation = undefined;
    this.failures = 0;
    this.waiting = [];
    this.untold = null;
  }

  async step(event) {
    let asked = JSON.parse(event);
    if (this.untold && AGAIN.has(asked.kind)) asked = this.untold;
    if (!BESIDE.has(asked.kind)) this.untold = null;
    for (const next of [...this.waiting, asked]) {
      const said = await this.send(next).catch((error) => `!${JSON.stringify(error)}`);
      if (said[0] === "!") return this.failed(asked, said);
      if (next === asked) return said;
      this.waiting.shift();
    }
  }

  /** As the kernel's own session: what a person did is owed, and everything is tried again later. */
  failed(asked, said) {
    const refusal = JSON.parse(said.slice(1));
    // Nobody can read it, now or later.
    if (refusal.error_code === "request_invalid" && refusal.about === "request") return said;
    const last = this.waiting.at(-1);
    if (BY_PERSON.has(asked.kind) && JSON.stringify(last) !== JSON.stringify(asked)) this.waiting.push(asked);
    if (ONCE.has(asked.kind)) this.untold = asked;
    let action = { kind: "idle" };
    if (refusal.error_code === "loop_unknown") {
      this.waiting = [];
      this.untold = null;
    } else {
      const minutes = LADDER[Math.min(this.failures, LADDER.length - 1)];
      this.failures += 1;
      const until = new Date(this.door.now() + minutes * 60_000);
      action = { kind: "wait", until: until.toISOString().replace(".000Z", "Z") };
    }
    return JSON.stringify({ ...refusal, ok: false, action });
  }

  async send(event) {
    const generation = UNCONDITIONAL.has(event.kind) ? undefined : this.generation;
    const request = JSON.stringify({ ...this.template, event, generation });
    const said = await this.door.call("loop.step", request);
    if (said[0] !== "!") {
      this.failures = 0;
      this.generation = JSON.parse(said).loop?.generation;
    }
    return said;
  }

  owed() {
    return JSON.stringify(this.waiting);
  }
}

module.exports = { BinaryDoor };
