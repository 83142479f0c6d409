// Real Pi, driven by RPC, with a model of ours: what a person sees when they use LoopX in it.

import assert from "node:assert/strict";
import { cpSync, existsSync, mkdirSync } from "node:fs";
import path from "node:path";
import test from "node:test";

import { CANARY, CREDENTIAL, HOSTS, Project, seconds, until } from "./project.mjs";
import { diligent, last, mockModel } from "./mock_model.mjs";

const NODE = path.join(HOSTS, "node/node_modules/node/bin/node");
const PI = path.join(HOSTS, "pi/node_modules/@earendil-works/pi-coding-agent");
const CLI = path.join(PI, "dist/bundle/cli.js");
const skip = existsSync(NODE) && existsSync(CLI) ? false : `SKIPPED: Pi is not in ${HOSTS}; tests/e2e/install_hosts.sh brings it`;
const shell = (command) => ({ name: "bash", args: { command } });

/** One Pi process in RPC mode. */
class Pi {
  constructor(project, args = []) {
    this.events = [];
    this.errors = "";
    this.child = project.spawn(NODE, [CLI, "--approve", "--mode", "rpc", ...args], {
      PI_CODING_AGENT_DIR: path.join(project.folder, "agent"), PI_OFFLINE: "1", PI_SKIP_VERSION_CHECK: "1", PI_TELEMETRY: "0",
    });
    let rest = "";
    this.child.stdout.setEncoding("utf8").on("data", (piece) => {
      const lines = (rest + piece).split("\n");
      rest = lines.pop();
      for (const line of lines.filter(Boolean)) this.events.push(JSON.parse(line));
    });
    this.child.stderr.setEncoding("utf8").on("data", (piece) => (this.errors += piece));
    this.next = 1;
  }

  async ask(type, more = {}) {
    const id = String(this.next++);
    this.child.stdin.write(`${JSON.stringify({ id, type, ...more })}\n`);
    const found = () => this.events.find((e) => e.type === "response" && e.id === id);
    return until(`an answer to ${type}`, found, { shown: () => this.shown() });
  }

  prompt(message) {
    return this.ask("prompt", { message });
  }

  get notices() {
    return this.events.filter((e) => e.type === "extension_ui_request" && e.method === "notify").map((e) => e.message);
  }

  notice(pattern, options) {
    return until(`a notice ${pattern}`, () => this.notices.find((m) => pattern.test(m)), { shown: () => this.shown(), ...options });
  }

  get settled() {
    return this.events.filter((e) => e.type === "agent_settled").length;
  }

  shown() {
    const brief = this.events.filter((e) => e.type !== "message_update").map((e) => JSON.stringify(e).slice(0, 300));
    return `${brief.slice(-30).join("\n")}\n${this.errors}`;
  }

  async quit() {
    const gone = new Promise((resolve) => this.child.once("exit", resolve));
    this.child.stdin.end();
    await gone;
  }
}

async function pi(t, answer) {
  const project = new Project("pi");
  const model = await mockModel(answer);
  t.after(async () => {
    await project.close();
    await model.close();
  });
  const { root } = project;
  const installed = path.join(root, ".pi/extensions/loopx");
  mkdirSync(installed, { recursive: true });
  for (const part of ["package.json", "lib", "extensions"]) {
    cpSync(path.join(root, "node_modules/loopx", part), path.join(installed, part), { recursive: true });
  }
  project.write("agent/models.json", { providers: { mock: { baseUrl: model.url, api: "openai-completions", apiKey: CREDENTIAL, models: [{ id: "mock-model", contextWindow: 100000, maxTokens: 4096 }] } } });
  project.write("agent/settings.json", { defaultProvider: "mock", defaultModel: "mock-model", quietStartup: true, defaultProjectTrust: "always" });
  return { project, model, start: (args) => new Pi(project, args) };
}

test("a goal text starts a loop that plans, delivers two todos and ends", { skip }, async (t) => {
  const { project, model, start } = await pi(t, diligent(shell));
  const host = start();
  await host.prompt(`hello, ${CANARY}`);
  await until("the first answer", () => host.settled === 1, { shown: () => host.shown() });
  await host.prompt("/loopx Ship the site");
  await host.notice(/The goal is done/, { seconds: 60 });
  const { todos } = project.loopx("todo", "list");
  assert.deepEqual(todos.filter((todo) => todo.status === "done").map((todo) => todo.text).sort(), ["Write the guide", "Write the parser"]);
  const spent = project.loopx("quota", "status").goals[0];
  assert.equal(spent.spent_slots ?? spent.window?.spent, 3, JSON.stringify(spent));
  // One call for the greeting; two a turn: the command, and what came of it.
  assert.equal(model.turns.length, 1 + 3 * 2);
  await seconds(4);
  assert.equal(model.turns.length, 7, "nothing after the end");
  project.noCanary([CANARY, "walrus", CREDENTIAL, project.home, project.folder, "hello,"]);
});
