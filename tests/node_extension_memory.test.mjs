// What the extensions of Pi and OpenCode say of a loop that the store has and nobody can
// read: never that there is none.

import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { readdirSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import test from "node:test";

import { PACKAGE, suite } from "./node/world.mjs";

const require = createRequire(import.meta.url);
const any = suite(test, "pi");

/** The extension in a Pi that does nothing but register and remember. */
function pi(world, file = "/s/one.jsonl") {
  const heard = {};
  const here = { said: [], sent: [] };
  require(path.join(PACKAGE, "extensions/pi/index.js"))({
    on: (event, work) => (heard[event] = work),
    registerCommand: (_name, command) => (here.command = (text) => command.handler(text, ctx)),
    registerTool: (tool) => (here.activate = (request) => tool.execute("1", request, null, null, ctx)),
    sendUserMessage: (text) => here.sent.push(text),
  });
  const ctx = {
    cwd: world.project, isIdle: () => true,
    ui: { notify: (text) => here.said.push(text), setStatus() {} },
    sessionManager: { getSessionFile: () => file },
  };
  here.fire = (event, said = {}) => heard[event]?.(said, ctx);
  return here;
}

/** The plugin in an OpenCode without sessions of its own. */
async function opencode(world) {
  const { LoopX } = require(path.join(PACKAGE, "extensions/opencode/index.js"));
  const plugin = await LoopX({ client: { session: { list: async () => ({ data: [] }) } }, directory: world.project });
  return {
    activate: (request) => plugin.tool.loopx_goal_activate.execute(request, { sessionID: "ses_1" }),
    async command(text) {
      const output = { parts: [] };
      await plugin["command.execute.before"]({ command: "loopx", sessionID: "ses_1", arguments: text }, output);
      return output.parts[0].text;
    },
  };
}

function corrupt(world, t) {
  const store = readdirSync(world.project, { recursive: true }).find((name) => name.endsWith("goal.db"));
  const script = "import sqlite3,sys\nc=sqlite3.connect(sys.argv[1])\nn=c.execute(\"update host_rows set doc='{' where kind='loop'\").rowcount\nc.commit()\nprint(n)";
  try {
    assert.equal(execFileSync("python3", ["-c", script, path.join(world.project, store)], { encoding: "utf8" }).trim(), "1");
  } catch (error) {
    if (error.code !== "ENOENT") throw error;
    t.skip("SKIPPED: there is no python3 to break a row");
    return false;
  }
  return true;
}

any("Pi does not take a loop that cannot be read for none", async (world, t) => {
  await world.todo("one");
  const before = pi(world);
  await before.fire("session_start");
  await before.command("");
  assert.match(before.said.at(-1), /follows no goal/);
  await before.activate({ goal_id: "g", agent_id: "ada" });
  if (!corrupt(world, t)) return;
  const shown = world.kernel.loopShow({ surface: "pi", session: "/s/one.jsonl" });
  assert.deepEqual([shown.loops, shown.unreadable_goals.map((g) => [g.goal_id, g.error_code])], [[], [["g", "store_unreadable"]]]);
  const after = pi(world);
  await after.fire("session_start");
  for (const text of ["", "resume", "gates"]) {
    await after.command(text);
    assert.match(after.said.at(-1), /whether this session follows g is not known: .*cannot be read/);
  }
  assert.ok(!after.said.some((text) => text.includes("follows no goal")));
  assert.equal(after.sent.length, 0);
  const other = pi(world, "/s/two.jsonl");
  await other.fire("session_start");
  await other.command("");
  assert.deepEqual(other.said, ["LoopX: this session follows no goal. /loopx TEXT starts one."]);
});

any("OpenCode does not take a loop that cannot be read for none", async (world, t) => {
  await world.todo("one");
  const before = await opencode(world);
  assert.match(await before.command(""), /follows no LoopX goal/);
  await before.activate({ goal_id: "g", agent_id: "ada" });
  if (!corrupt(world, t)) return;
  const after = await opencode(world);
  for (const text of ["", "resume", "gates"]) {
    assert.match(await after.command(text), /whether this session follows g is not known: .*cannot be read/);
  }
});

any("a Pi session that Pi does not keep is over when its process is killed", async (world, t) => {
  if (process.platform !== "linux") return t.skip("SKIPPED: a dead process cannot be told here");
  await world.todo("one");
  const script = `
    const heard = {}; let tool;
    require(${JSON.stringify(path.join(PACKAGE, "extensions/pi/index.js"))})({
      on: (event, work) => (heard[event] = work), registerCommand() {}, registerTool: (it) => (tool = it), sendUserMessage() {},
    });
    const ctx = { cwd: ${JSON.stringify(world.project)}, isIdle: () => true, ui: { notify() {}, setStatus() {} }, sessionManager: { getSessionFile() {} } };
    (async () => {
      await heard.session_start({}, ctx);
      await tool.execute("1", { goal_id: "g", agent_id: "ada" }, null, null, ctx);
      await heard.agent_settled({}, ctx);
      console.log("ready");
      setInterval(() => {}, 1e5);
    })();`;
  const env = { ...process.env, NODE_TEST_CONTEXT: undefined };
  const session = async () => {
    const child = spawn(process.execPath, ["-e", script], { stdio: ["ignore", "pipe", "inherit"], env });
    t.after(() => child.kill("SIGKILL"));
    await new Promise((resolve) => child.stdout.once("data", resolve));
    return child;
  };
  const first = await session();
  const loops = () => world.kernel.loopShow({ goal_id: "g" }).loops.map(({ state, ephemeral, pending }) => [state, ephemeral, !!pending]);
  assert.deepEqual(loops(), [["armed", true, true]]);
  const gone = new Promise((resolve) => first.once("exit", resolve));
  first.kill("SIGKILL");
  await gone;
  assert.deepEqual(loops(), []);
  await session();
  assert.deepEqual(loops(), [["armed", true, true]], "the next one has the work");
});
