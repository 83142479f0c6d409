"use strict";

// The kernel through the program `loopx`, where the native module does not load: the same
// requests and answers, one process a call.

const { execFileSync, spawn } = require("node:child_process");
const { LoopxError } = require("./error.cjs");

/** Refusals of these operations are answers. */
const DECISIONS = new Set(["quota.should_run", "turn.admit"]);
const MOST = 64 * 1024 * 1024;
const PATIENCE_MS = 60_000;
/** Until a program that could not be run is tried again. */
const AGAIN_MS = 60_000;

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
      return `!${JSON.stringify({ error_code: "internal", error, about: operation })}`;
    }
    const refused = value?.ok === false && value.error_code && !DECISIONS.has(operation);
    return refused ? `!${stdout}` : stdout;
  }

  callSync(operation, request) {
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
      const child = spawn(program(), this.arguments(operation), {
        cwd: this.cwd, env: this.env, timeout: PATIENCE_MS, windowsHide: true,
        stdio: ["pipe", "pipe", "pipe"],
      });
      let [stdout, stderr] = ["", ""];
      child.stdout.setEncoding("utf8").on("data", (text) => (stdout += text));
      child.stderr.setEncoding("utf8").on("data", (text) => (stderr += text));
      child.on("error", (error) => reject(gone(error, this.told)));
      child.on("close", () => resolve(this.said(operation, stdout, stderr)));
      child.stdin.on("error", () => {});
      child.stdin.end(request);
    });
  }

  fixClock(now) {
    if (now) this.env.LOOPX_NOW = now;
    else delete this.env.LOOPX_NOW;
    return '{"ok":true}';
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

/** The native session's part: the generation that it saw, and what is yet to be stored. */
class BinaryLoop {
  constructor(door, template) {
    this.door = door;
    this.template = template;
    this.generation = undefined;
    this.waiting = [];
  }

  async step(event) {
    const asked = JSON.parse(event);
    const queue = [...this.waiting, asked];
    for (const next of queue) {
      const said = await this.send(next).catch((error) => `!${JSON.stringify(error)}`);
      if (said[0] === "!") {
        const refusal = JSON.parse(said.slice(1));
        const unknown = refusal.error_code === "loop_unknown";
        if (unknown) this.waiting = [];
        else if (BY_PERSON.has(asked.kind)) this.waiting = [...this.waiting, asked];
        const until = new Date(Date.now() + AGAIN_MS).toISOString();
        const action = unknown ? { kind: "idle" } : { kind: "wait", until };
        return JSON.stringify({ ...refusal, ok: false, action });
      }
      if (next !== asked) this.waiting.shift();
      else return said;
    }
  }

  async send(event) {
    const generation = UNCONDITIONAL.has(event.kind) ? undefined : this.generation;
    const request = JSON.stringify({ ...this.template, event, generation });
    const said = await this.door.call("loop.step", request);
    if (said[0] !== "!") this.generation = JSON.parse(said).loop?.generation;
    return said;
  }

  owed() {
    return JSON.stringify(this.waiting);
  }
}

module.exports = { BinaryDoor };
