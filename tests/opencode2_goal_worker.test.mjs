// What a worker of OpenCode 2 has from its loop, through the npm package with a clock of its
// own. What belongs to the worker's own command line and to its HTTP client is not here.

import assert from "node:assert/strict";
import test from "node:test";

import { begin, echo, minutes, suite } from "./node/world.mjs";

const worker = suite(test, "opencode2");

worker("the loop's name is made of host and digest, never of the session", async (world) => {
  await begin(world.session());
  assert.match(world.stored().session_key, /^opencode2-[0-9a-f]{24}$/);
});

worker("a living holder keeps its session, a dead one loses it", async (world) => {
  if (process.platform !== "linux") return;
  await world.todo("one");
  const { spawn } = await import("node:child_process");
  const other = spawn("sleep", ["600"]);
  const first = world.session({ holder_pid: other.pid });
  const run = await begin(first);
  await echo(first, run);
  const joined = await world.session({ holder_pid: process.pid }).step("session_replaced");
  assert.deepEqual([joined.joined, joined.action.kind], [true, "wait"]);
  assert.equal(world.turn(run.action.turn_id), "live");
  const gone = new Promise((resolve) => other.once("close", resolve));
  other.kill("SIGKILL");
  await gone;
  const taken = await world.session({ holder_pid: process.pid }).step("session_replaced");
  assert.equal(taken.action.kind, "prompt");
  assert.notEqual(taken.action.turn_id, run.action.turn_id);
});

worker("a whole loop: run, settle, run, settle, end", async (world) => {
  const todos = [await world.todo("one"), await world.todo("two")];
  const session = world.session();
  let run = await begin(session);
  for (const todo of todos) {
    assert.deepEqual([run.action.kind, run.action.todo_id], ["prompt", todo]);
    await echo(session, run);
    await world.settle(run.action.turn_id);
    run = await session.step({ kind: "settled", turn_instance_id: run.action.turn_id });
  }
  assert.deepEqual([run.action.kind, run.action.reason], ["stop", "terminal"]);
});

worker("a quiet wait says until when, and asks nothing before", async (world) => {
  await world.todo("one");
  await world.gate();
  const session = world.session();
  assert.equal(minutes(world, await begin(session)), 30);
  world.sleep(29);
  assert.equal(minutes(world, await session.step("timer")), 1);
});

worker("the wait plan of a real packet ends in a recheck and a stop at its limit", async (world) => {
  await world.todo("one");
  await world.gate();
  const session = world.session();
  let answer = await begin(session);
  const kinds = [];
  for (let n = 0; n < 4; n++) {
    kinds.push(answer.action.kind);
    if (answer.action.kind === "wait") world.sleep(minutes(world, answer));
    answer = await session.step("timer");
  }
  assert.deepEqual(kinds, ["wait", "wait", "recheck", "pause"]);
});

worker("a message from elsewhere takes the turn", async (world) => {
  await world.todo("one");
  const session = world.session();
  const run = await begin(session);
  await session.step({ kind: "user_prompt", prompt: "wait, first this" });
  assert.equal(world.stored().state, "armed");
  assert.equal((await session.step("resumed")).action.turn_id, run.action.turn_id, "ours is still out");
});

worker("failed probes back off to half an hour", async (world) => {
  const session = world.session();
  await session.step("activated");
  const waits = [];
  for (let n = 0; n < 6; n++) waits.push(minutes(world, await session.step("probe_failed")));
  assert.deepEqual(waits, [3, 6, 12, 24, 30, 30]);
});

worker("a paused loop stays paused until it is resumed", async (world) => {
  await world.todo("one");
  await begin(world.session());
  await world.session().step("paused");
  assert.equal((await world.session().step("session_replaced")).action.kind, "idle");
  assert.equal((await world.session().step("resumed")).action.kind, "prompt");
});

worker("a session that is gone lets its goal go", async (world) => {
  await world.todo("one");
  const run = await begin(world.session());
  await world.kernel.loopUnbind({ goal_id: "g", surface: "opencode2", session: "session-1" });
  assert.equal(world.turn(run.action.turn_id), "released");
  assert.equal((await world.session().step("settled")).error_code, "loop_unknown");
});

worker("the goal's window is the budget of turns, and the first prompt counts", async (world) => {
  await world.kernel.goalCreate({ goal_id: "small", objective: "x", agents: ["ada"], allowed_slots: 1 });
  for (const text of ["one", "two"]) await world.kernel.todoAdd({ goal_id: "small", role: "agent", text });
  const session = world.session({ goal_id: "small" });
  const run = await begin(session);
  assert.equal(run.action.kind, "prompt");
  await echo(session, run);
  await world.settle(run.action.turn_id, "completed", { goal_id: "small", no_follow_up: true });
  const next = await session.step("settled");
  assert.equal(next.action.kind, "wait", JSON.stringify(next));
  assert.equal(next.decision.rule, "throttled");
});

worker("a turn that nobody ends is over after its reservation", async (world) => {
  await world.todo("one");
  const session = world.session({ ttl_seconds: 900 });
  const run = await begin(session);
  assert.equal(minutes(world, await echo(session, run)), 15);
  world.sleep(16);
  const after = await session.step("timer");
  assert.equal(after.action.kind, "prompt");
  assert.notEqual(after.action.turn_id, run.action.turn_id);
});

worker("an agent that settles nothing is held after three turns, and its person is told", async (world) => {
  await world.todo("one");
  const loop = world.host();
  let answer = await begin(loop);
  let turns = 0;
  while (answer.action.kind === "prompt" && ++turns < 10) {
    await echo(loop, answer);
    answer = await loop.tell("settled");
  }
  assert.deepEqual([turns, answer.decision.rule], [3, "stalled"]);
  assert.ok(world.said.length > 0);
});

worker("a run with no turn out is a prompt at once", async (world) => {
  await world.todo("one");
  const session = world.session();
  await session.step("activated");
  assert.equal(world.stored().pending, null);
  assert.equal((await session.step("settled")).action.kind, "prompt");
});

worker("a denied decision keeps the loop and says why", async (world) => {
  await world.kernel.goalStop({ goal_id: "g" });
  const answer = await begin(world.session());
  assert.deepEqual([answer.action.kind, answer.action.reason], ["pause", "goal_stopped"]);
  assert.equal(answer.decision.should_run, false);
});
