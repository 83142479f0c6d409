// Real OpenCode, driven by its HTTP API, with a model of ours. One server is shared by the
// scenarios of a project, because each takes seconds to start.

import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import path from "node:path";
import test from "node:test";

import { CANARY, CREDENTIAL, HOSTS, Project, seconds, until } from "./project.mjs";
import { diligent, last, mockModel } from "./mock_model.mjs";

const OPENCODE = path.join(HOSTS, "oc/node_modules/opencode-linux-x64/bin/opencode");
const skip = existsSync(OPENCODE) ? false : `SKIPPED: OpenCode is not in ${HOSTS}; tests/e2e/install_hosts.sh brings it`;
const shell = (command) => ({ name: "bash", args: { command, description: "work" } });

/** One `opencode serve`. */
class Server {
  static async start(project) {
    const it = new Server();
    it.events = [];
    it.said = "";
    const at = (name) => path.join(project.home, name);
    it.child = project.spawn(OPENCODE, ["serve", "--hostname", "127.0.0.1", "--port", "0", "--print-logs"], {
      XDG_CONFIG_HOME: at(".config"), XDG_DATA_HOME: at(".local/share"), XDG_CACHE_HOME: at(".cache"), XDG_STATE_HOME: at(".local/state"),
      OPENCODE_DISABLE_AUTOUPDATE: "1", OPENCODE_DISABLE_MODELS_FETCH: "1", OPENCODE_DISABLE_LSP_DOWNLOAD: "1",
      OPENCODE_DISABLE_DEFAULT_PLUGINS: "1", OPENCODE_DISABLE_SHARE: "1", npm_config_offline: "true", npm_config_fetch_retries: "0",
    });
    for (const stream of [it.child.stdout, it.child.stderr]) stream.setEncoding("utf8").on("data", (text) => (it.said += text));
    const found = () => /listening on (http:\S+)/.exec(it.said)?.[1];
    it.url = await until("a server", found, { seconds: 90, shown: () => it.said.slice(-3000) });
    it.listen();
    return it;
  }

  async listen() {
    try {
      const answer = await fetch(`${this.url}/event`);
      let rest = "";
      for await (const piece of answer.body.pipeThrough(new TextDecoderStream())) {
        const lines = (rest + piece).split("\n");
        rest = lines.pop();
        for (const line of lines) if (line.startsWith("data: ")) this.events.push(JSON.parse(line.slice(6)));
      }
    } catch {
      // The server has gone.
    }
  }

  async ask(method, where, body) {
    const answer = await fetch(this.url + where, {
      method, headers: { "content-type": "application/json" }, body: body === undefined ? undefined : JSON.stringify(body),
    });
    const text = await answer.text();
    assert.ok(answer.ok, `${method} ${where}: ${answer.status} ${text.slice(0, 300)}`);
    return text ? JSON.parse(text) : null;
  }

  async session() {
    return (await this.ask("POST", "/session", { title: "a title" })).id;
  }

  message(id, text) {
    return this.ask("POST", `/session/${id}/prompt_async`, { parts: [{ type: "text", text }] });
  }

  command(id, text) {
    return this.ask("POST", `/session/${id}/command`, { command: "loopx", arguments: text });
  }

  idles(id) {
    return this.events.filter((e) => e.type === "session.idle" && e.properties.sessionID === id).length;
  }

  shown() {
    const brief = this.events.map((e) => JSON.stringify(e).slice(0, 200)).filter((e) => !e.includes("part.delta"));
    return `${brief.slice(-25).join("\n")}\n${this.said.split("\n").filter((l) => l.includes("loopx")).slice(-20).join("\n")}`;
  }

  async stop() {
    const gone = new Promise((resolve) => this.child.once("exit", resolve));
    this.child.kill("SIGTERM");
    await gone;
  }
}

async function opencode(t, answer) {
  const project = new Project("opencode");
  const model = await mockModel(answer);
  t.after(async () => {
    await project.close();
    await model.close();
  });
  project.write("work/opencode.json", {
    model: "mock/mock-model", small_model: "mock/mock-model", autoupdate: false, share: "disabled", enabled_providers: ["mock"],
    permission: { bash: "allow", edit: "allow" },
    provider: { mock: { npm: "@ai-sdk/openai-compatible", name: "Mock", options: { baseURL: model.url, apiKey: CREDENTIAL }, models: { "mock-model": { name: "Mock", tool_call: true, limit: { context: 100000, output: 4096 } } } } },
  });
  return { project, model };
}

const goal = (project) => project.loopx("goal", "create", "--goal-id", "site", "--objective", "Ship it", "--agent-id", "opencode");
const state = (project) => project.loops()[0]?.state;
const ended = (project, server) =>
  until("the end", () => state(project) === "stopped", { seconds: 90, shown: () => `${JSON.stringify(project.loops())}\n${JSON.stringify(project.loopx("history", "--limit", "20").commits)}\n${server.shown()}` });

test("a goal text starts a loop that plans, delivers two todos and ends", { skip }, async (t) => {
  const { project, model } = await opencode(t, diligent(shell));
  const server = await Server.start(project);
  const id = await server.session();
  await server.message(id, `hello, ${CANARY}`);
  await until("the first answer", () => server.idles(id) > 0, { shown: () => server.shown() });
  await server.command(id, "Ship the site");
  await ended(project, server);
  const { todos } = project.loopx("todo", "list");
  assert.deepEqual(todos.filter((todo) => todo.status === "done").map((todo) => todo.text).sort(), ["Write the guide", "Write the parser"]);
  await seconds(4);
  assert.equal(model.turns.length, 1 + 3 * 2);
  project.noCanary([CANARY, "walrus", CREDENTIAL, id, "hello,"], [project.home]);
});

test("a gate, an abort over a restart, a person's turn and two processes", { skip }, async (t) => {
  let slow = false;
  const work = diligent(shell, { words: `done, ${CANARY}` });
  const { project, model } = await opencode(t, async (request, signal) => {
    const { role, text } = last(request);
    if (slow) await new Promise((resolve) => signal.addEventListener("abort", resolve));
    if (role === "user" && text.includes("take the goal")) {
      return { tool: { name: "loopx_goal_activate", args: { goal_id: "site", agent_id: "opencode" } } };
    }
    return work(request);
  });
  goal(project);
  project.loopx("todo", "add", "--role", "agent", "--text", "Write the parser");
  const gate = project.loopx("gate", "open", "--question", "May we?", "--blocks-agent", "opencode").todo_id;
  let server = await Server.start(project);
  const id = await server.session();

  await t.test("the tool activates, and a gate is waited for without one model call", async () => {
    await server.message(id, "please take the goal site");
    await until("the wait", () => project.loops()[0]?.due_at, { shown: () => server.shown() });
    assert.equal(model.turns.length, 2);
    await seconds(5);
    assert.equal(model.turns.length, 2);
  });

  await t.test("a second process on the session joins, and a decided gate goes on once", async () => {
    const second = await Server.start(project);
    await second.ask("GET", `/session/${id}`);
    await seconds(2);
    project.loopx("gate", "decide", "--todo-id", gate, "--outcome", "approve");
    await ended(project, server);
    await seconds(4);
    assert.equal(model.turns.length, 2 + 2);
    const { commits } = project.loopx("history", "--limit", "200");
    assert.equal(commits.filter((c) => c.verb === "turn.admit").length, 1);
    await second.stop();
  });

  await t.test("a person's message takes the turn, and the loop goes on after it", async () => {
    project.loopx("todo", "add", "--role", "agent", "--text", "Write the guide");
    const other = project.loopx("gate", "open", "--question", "And now?", "--blocks-agent", "opencode").todo_id;
    await server.command(id, "resume");
    await until("the wait", () => state(project) === "armed" && project.loops()[0].due_at, { shown: () => server.shown() });
    await seconds(1);
    const asked = model.turns.length;
    await server.message(id, `what do you wait for? ${CANARY}`);
    await until("the answer", () => model.turns.length === asked + 1, { shown: () => server.shown() });
    await seconds(1);
    assert.equal(state(project), "armed");
    const before = model.turns.length;
    assert.equal(before, asked + 1);
    project.loopx("gate", "decide", "--todo-id", other, "--outcome", "approve");
    await ended(project, server);
    assert.equal(model.turns.length, before + 2);
  });

  await t.test("an abort stays paused over a restart", async () => {
    project.loopx("todo", "add", "--role", "agent", "--text", "Write the tests");
    slow = true;
    const before = model.turns.length;
    server.command(id, "resume").catch(() => {});
    await until("the call", () => model.turns.length === before + 1, { shown: () => server.shown() });
    await server.ask("POST", `/session/${id}/abort`);
    await until("the pause", () => state(project) === "paused", { shown: () => server.shown() });
    slow = false;
    assert.equal(project.loops()[0].reason, "aborted");
    await seconds(3);
    await server.stop();
    server = await Server.start(project);
    await server.ask("GET", `/session/${id}`);
    await seconds(4);
    assert.equal(model.turns.length, before + 1);
    assert.equal(project.loops()[0].reason, "aborted");
    await server.command(id, "resume");
    await ended(project, server);
    assert.equal(model.turns.length, before + 1 + 2);
  });

  await t.test("of all that was said LoopX has kept nothing", () => {
    assert.ok(model.calls.some(({ request }) => JSON.stringify(request.messages).includes(CANARY)), "the canary was in the session");
    project.noCanary([CANARY, "walrus", CREDENTIAL, id, "what do you wait", "take the goal"], [project.home]);
  });
});
