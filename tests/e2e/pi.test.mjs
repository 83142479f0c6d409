// Real Pi, driven by RPC, with a model of ours: what a person sees when they use LoopX in it.

import assert from "node:assert/strict";
import { existsSync } from "node:fs";
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

/** The session had its canary, and LoopX has kept nothing of it. */
function kept(project, model, more = []) {
  assert.ok(model.calls.some(({ request }) => JSON.stringify(request.messages).includes(CANARY)), "the canary was in the session");
  project.noCanary([CANARY, "walrus", CREDENTIAL, path.join(project.folder, "agent"), ".jsonl", ...more], [project.home]);
}

async function pi(t, answer) {
  const project = new Project("pi");
  const model = await mockModel(answer);
  t.after(async () => {
    await project.close();
    await model.close();
  });
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
  kept(project, model, ["hello,"]);
});

test("a gate is waited for without one model call, and its decision goes on by itself", { skip }, async (t) => {
  const { project, model, start } = await pi(t, diligent(shell));
  project.loopx("goal", "create", "--goal-id", "site", "--objective", "Ship it", "--agent-id", "pi");
  project.loopx("todo", "add", "--role", "agent", "--text", "Write the parser");
  const { todo_id: gate } = project.loopx("gate", "open", "--question", "May we publish?", "--blocks-agent", "pi");
  const host = start();
  await host.prompt("/loopx Write the guide");
  await host.notice(/waiting for a person/i);
  const status = () => host.events.findLast((e) => e.method === "setStatus")?.statusText ?? "";
  await until("a status line that says what is waited for and until when", () => /person.*next look/.test(status()), { shown: () => host.shown() });
  await seconds(5);
  assert.equal(model.calls.length, 0);
  const before = model.calls.length;
  await host.prompt("/loopx gates");
  await host.notice(/May we publish\?[\s\S]*loopx gate decide/);
  project.loopx("gate", "decide", "--todo-id", gate, "--outcome", "approve");
  await host.notice(/The goal is done/, { seconds: 60 });
  assert.equal(model.calls.length - before, 2 * 2);
});

test("an abort pauses, also over a restart, until it is resumed", { skip }, async (t) => {
  let slow = true;
  const work = diligent(shell, { words: `done, ${CANARY}` });
  const { project, model, start } = await pi(t, async (request, signal) => {
    if (slow) await new Promise((resolve) => signal.addEventListener("abort", resolve));
    return work(request);
  });
  project.loopx("goal", "create", "--goal-id", "site", "--objective", "Ship it", "--agent-id", "pi");
  const host = start();
  await host.prompt("/loopx Write the parser");
  await until("the first call", () => model.calls.length === 1, { shown: () => host.shown() });
  await host.ask("abort");
  await host.notice(/You stopped the agent/);
  assert.deepEqual(project.loops().map((l) => [l.state, l.reason, l.pending]), [["paused", "aborted", null]]);
  slow = false;
  await host.quit();
  const again = start(["-c"]);
  await again.ask("get_state");
  await seconds(5);
  assert.equal(model.calls.length, 1, "no call after the restart");
  assert.equal(project.loops()[0].reason, "aborted");
  await again.prompt(`what was that? ${CANARY}`);
  await until("the answer", () => again.settled === 1, { shown: () => again.shown() });
  assert.equal(project.loops()[0].state, "paused");
  await again.prompt("/loopx resume");
  await again.notice(/The goal is done/, { seconds: 60 });
  assert.equal(model.calls.length, 1 + 1 + 2);
  kept(project, model, ["what was that"]);
});

test("a user's message pauses the loop, and it goes on when it is resumed", { skip }, async (t) => {
  const { project, model, start } = await pi(t, diligent(shell, { words: `done, ${CANARY}` }));
  project.loopx("goal", "create", "--goal-id", "site", "--objective", "Ship it", "--agent-id", "pi");
  const { todo_id: gate } = project.loopx("gate", "open", "--question", "May we?", "--blocks-agent", "pi");
  const host = start();
  await host.prompt("/loopx Write the parser");
  await host.notice(/waiting for a person/i);
  await host.prompt(`what is this? ${CANARY}`);
  await host.notice(/You took over/);
  await until("the answer", () => host.settled === 1);
  project.loopx("gate", "decide", "--todo-id", gate, "--outcome", "approve");
  await seconds(5);
  assert.equal(model.turns.length, 1, "the decided gate does not go over the pause");
  assert.equal(project.loops()[0].reason, "user_prompt");
  await host.prompt("/loopx resume");
  await host.notice(/The goal is done/, { seconds: 60 });
  kept(project, model, ["what is this"]);
});

for (const [what, said, turns, reason] of [
  ["a message", `stop, do not touch anything; ${CANARY}`, 1, "user_prompt"],
  ["/loopx pause", "/loopx pause", 0, "user_paused"],
]) {
  test(`${what} while LoopX decides wins: the person is heard, and no work is sent`, { skip }, async (t) => {
    const { project, model, start } = await pi(t, diligent(shell));
    project.loopx("goal", "create", "--goal-id", "site", "--objective", "Ship it", "--agent-id", "pi");
    const { todo_id: gate } = project.loopx("gate", "open", "--question", "May we?", "--blocks-agent", "pi");
    const host = start();
    await host.prompt("/loopx Write the parser");
    await host.notice(/waiting for a person/i);
    project.loopx("gate", "decide", "--todo-id", gate, "--outcome", "approve");
    const release = await project.hold();
    // The watch has seen the decision by now, and its question waits for the queue.
    await seconds(4);
    const heard = host.prompt(said);
    await seconds(1);
    await release();
    await heard;
    await until("the pause", () => project.loops()[0].state === "paused", { shown: () => host.shown() });
    await until("the answer", () => host.settled === turns, { shown: () => host.shown() });
    await seconds(2);
    assert.deepEqual(model.turns.map(({ request }) => last(request).text), turns ? [said] : []);
    assert.deepEqual(project.loops().map((l) => [l.reason, l.pending]), [[reason, null]]);
    const { commits } = project.loopx("history", "--limit", "200");
    assert.equal(commits.filter((c) => c.verb === "turn.admit").length, 1, "there was a prompt to be overtaken");
    await host.prompt("/loopx resume");
    await host.notice(/The goal is done/, { seconds: 60 });
    assert.equal(model.turns.length, turns + 2);
  });
}

test("a wait is taken up again after a restart, and its gate still wakes it", { skip }, async (t) => {
  const { project, model, start } = await pi(t, diligent(shell));
  project.loopx("goal", "create", "--goal-id", "site", "--objective", "Ship it", "--agent-id", "pi");
  const { todo_id: gate } = project.loopx("gate", "open", "--question", "May we?", "--blocks-agent", "pi");
  const host = start();
  // Pi keeps a session once it has an answer in it.
  await host.prompt("hello");
  await until("the first answer", () => host.settled === 1);
  await host.prompt("/loopx Write the parser");
  await host.notice(/waiting for a person/i);
  const due = project.loops()[0].due_at;
  await host.quit();
  const again = start(["-c"]);
  await again.ask("get_state");
  await seconds(2);
  assert.deepEqual([project.loops()[0].state, project.loops()[0].due_at], ["armed", due]);
  project.loopx("gate", "decide", "--todo-id", gate, "--outcome", "approve");
  await again.notice(/The goal is done/, { seconds: 60 });
  assert.equal(model.turns.length, 1 + 2);
});

test("two processes on one session continue once", { skip }, async (t) => {
  const { project, model, start } = await pi(t, diligent(shell));
  project.loopx("goal", "create", "--goal-id", "site", "--objective", "Ship it", "--agent-id", "pi");
  const { todo_id: gate } = project.loopx("gate", "open", "--question", "May we?", "--blocks-agent", "pi");
  const first = start();
  await first.prompt("hello");
  await until("the first answer", () => first.settled === 1);
  await first.prompt("/loopx Write the parser");
  await first.notice(/waiting for a person/i);
  const second = start(["-c"]);
  await second.ask("get_state");
  await seconds(1);
  project.loopx("gate", "decide", "--todo-id", gate, "--outcome", "approve");
  await until("the end", () => project.loops()[0].state === "stopped", { seconds: 60, shown: () => `${first.shown()}\n${second.shown()}` });
  await seconds(4);
  assert.equal(model.turns.length, 1 + 2);
  const { commits } = project.loopx("history", "--limit", "200");
  assert.equal(commits.filter((c) => c.verb === "turn.admit").length, 1);
});

test("an agent activates the loop by its tool, and an ephemeral session leaves nothing behind", { skip }, async (t) => {
  const work = diligent(shell);
  const { project, model, start } = await pi(t, (request) => {
    const { role, text } = last(request);
    if (role === "user" && text.includes("take the goal")) {
      return { tool: { name: "loopx_goal_activate", args: { goal_id: "site", agent_id: "pi" } } };
    }
    return work(request);
  });
  project.loopx("goal", "create", "--goal-id", "site", "--objective", "Ship it", "--agent-id", "pi");
  project.loopx("todo", "add", "--role", "agent", "--text", "Write the parser");
  project.loopx("todo", "add", "--role", "agent", "--text", "Write the guide");
  const host = start(["--no-session"]);
  await host.prompt("take the goal site");
  await host.notice(/The goal is done/, { seconds: 60 });
  assert.equal(model.turns.length, 2 + 2 * 2);
  assert.equal(project.loops().length, 1);
  await host.quit();
  assert.deepEqual(project.loops(), []);
});
