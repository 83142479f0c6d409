// What the npm package takes from the process that uses it: descriptors until they are given
// back, and none of the threads that Node has for files and names.

import assert from "node:assert/strict";
import dns from "node:dns";
import { spawn, spawnSync } from "node:child_process";
import { readFile, readdirSync } from "node:fs";
import path from "node:path";
import test from "node:test";
import { Worker } from "node:worker_threads";

import { PACKAGE, loopx, suite } from "./node/world.mjs";

const any = suite(test, "pi");

/** Holds the queue of the goal's store for that long. */
async function hold(world, t, seconds) {
  const lock = readdirSync(world.project, { recursive: true }).find((name) => name.endsWith("goal.db.lock"));
  const holder = spawn("flock", ["-x", path.join(world.project, lock), "-c", `echo held; sleep ${seconds}`], { stdio: ["ignore", "pipe", "ignore"] });
  t.after(() => holder.kill("SIGKILL"));
  return new Promise((resolve) => { holder.stdout.once("data", () => resolve(true)); holder.once("error", () => resolve(false)); });
}

any("a kernel that is closed holds nothing open and refuses every call", async (world, t) => {
  await world.todo("one");
  const ask = { goal_id: "g", agent_id: "ada" };
  const descriptors = () => (process.platform === "linux" ? readdirSync("/proc/self/fd").length : 0);
  world.kernel.shouldRun(ask);
  const before = descriptors();
  for (let n = 0; n < 300; n++) {
    const kernel = world.open();
    assert.equal(kernel.shouldRun(ask).should_run, true);
    kernel.close();
  }
  assert.ok(descriptors() <= before + 2, `${before} descriptors before, ${descriptors()} after`);
  const kernel = world.open();
  const loop = world.session();
  const other = new loopx.LoopSession(kernel, { goal_id: "g", surface: "pi", session: "s-2", agent_id: "ada" });
  const underWay = kernel.todoAdd({ goal_id: "g", role: "agent", text: "two" });
  kernel.close();
  kernel.close();
  assert.equal((await underWay).ok, true);
  const refused = (error) => error instanceof loopx.LoopxError && error.code === "request_invalid" && error.message === "the kernel is closed";
  assert.throws(() => kernel.shouldRun(ask), refused);
  assert.throws(() => kernel.fixClock(null), refused);
  await assert.rejects(kernel.todoAdd({ goal_id: "g", role: "agent", text: "three" }), refused);
  await assert.rejects(other.step("activated"), refused);
  assert.throws(() => new loopx.LoopSession(kernel, { goal_id: "g", surface: "pi", session: "s-3" }), refused);
  assert.equal((await loop.step("activated")).ok, true, "another kernel's session goes on");
});

any("writes that wait for a lock leave Node's own threads alone", async (world, t) => {
  await world.todo("one");
  if (!(await hold(world, t, 2))) return t.skip("SKIPPED: there is no flock to hold the lock");
  const began = performance.now();
  const after = () => performance.now() - began;
  const writes = Array.from({ length: 12 }, (_, n) => world.todo(`more ${n}`));
  const read = new Promise((resolve) => readFile(PACKAGE + "/package.json", () => resolve(after())));
  const looked = new Promise((resolve) => dns.lookup("localhost", () => resolve(after())));
  const [file, name] = await Promise.all([read, looked]);
  assert.ok(file < 1_000 && name < 1_000, `a file took ${file} ms, a name ${name} ms`);
  assert.equal(new Set(await Promise.all(writes)).size, 12, "all come about");
  assert.ok(after() > 1_000, "they did wait");
});

any("a worker thread may end in the middle of a call", async (world, t) => {
  await world.todo("one");
  if (!(await hold(world, t, 2))) return t.skip("SKIPPED: there is no flock to hold the lock");
  const options = { registry: world.registry, cwd: world.project, home: world.folder };
  const script = `const { Kernel } = require(${JSON.stringify(PACKAGE)});
    const kernel = Kernel.open(${JSON.stringify(options)});
    for (let n = 0; n < 3; n++) kernel.todoAdd({ goal_id: "g", role: "agent", text: "from a worker " + n });
    require("node:worker_threads").parentPort.postMessage("asked");`;
  for (let n = 0; n < 2; n++) {
    const worker = new Worker(script, { eval: true });
    await new Promise((resolve, reject) => { worker.once("message", resolve); worker.once("error", reject); });
    await worker.terminate();
  }
  await world.todo("two");
  const texts = world.kernel.todoList({ goal_id: "g" }).todos.map((todo) => todo.text);
  assert.ok(texts.includes("two"));
});

any("a process ends when its calls have ended, and keeps no thread", async (world) => {
  const options = { registry: world.registry, cwd: world.project, home: world.folder };
  const script = `const { Kernel } = require(${JSON.stringify(PACKAGE)});
    const kernel = Kernel.open(${JSON.stringify(options)});
    for (let n = 0; n < 5; n++) kernel.todoAdd({ goal_id: "g", role: "agent", text: "t" + n }).then(() => process.stdout.write("."));`;
  const began = performance.now();
  const said = spawnSync(process.execPath, ["-e", script], { encoding: "utf8", env: { ...process.env, NODE_TEST_CONTEXT: undefined } });
  assert.deepEqual([said.stdout, said.status], [".....", 0], said.stderr);
  assert.ok(performance.now() - began < 4_000, "no idle thread is waited for");
});
