// The loop of OpenCode through the npm package, on a real store with a clock of its own, and
// its plugin with a client that only notes what it is asked. The names follow what hosts
// rely on.

import assert from "node:assert/strict";
import { readdirSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import test from "node:test";

import { PACKAGE, World, begin, echo, minutes, suite } from "./node/world.mjs";

const opencode = suite(test, "opencode");
const { LoopX } = createRequire(import.meta.url)(path.join(PACKAGE, "extensions/opencode/index.js"));

/** The plugin on a world's project, and what it asks of OpenCode. */
async function plugin(world, { fail = false } = {}) {
  // The plugin has the system's clock; the goal has more than one agent.
  process.env.LOOPX_AGENT_ID = "ada";
  world.kernel = world.open({ now: undefined });
  const sent = [];
  const client = {
    session: {
      list: async () => ({ data: [] }),
      promptAsync: async ({ path: { id }, body }) => {
        sent.push({ id, text: body.parts[0].text });
        return fail ? { error: { name: "Unknown" } } : {};
      },
    },
    app: { log: async () => {} },
    tui: { showToast: async () => {} },
  };
  const hooks = await LoopX({ client, directory: world.project });
  const event = (type, properties = {}) => hooks.event({ event: { type, properties: { sessionID: "session-1", ...properties } } });
  const message = (text) => hooks["chat.message"]({ sessionID: "session-1" }, { parts: [{ type: "text", text }] });
  const command = async (text) => {
    const output = { parts: [{ type: "text", text: "template" }] };
    await hooks["command.execute.before"]({ command: "loopx", sessionID: "session-1", arguments: text }, output);
    return output.parts[0].text;
  };
  return { hooks, sent, event, message, command };
}

opencode("a command's own prompt is not taken for a person's", async (world) => {
  const { command, message, event, sent } = await plugin(world);
  const prompt = await command("Write the parser");
  assert.match(prompt, /LOOPX_TURN=loop-/);
  assert.deepEqual(sent, [], "the command brings it in itself");
  await message(prompt);
  assert.equal(world.stored().pending.delivered, true);
  await event("session.idle");
  assert.equal(world.stored().state, "armed");
});

opencode("an idle session is continued only when the kernel says run", async (world) => {
  await world.todo("one");
  await world.gate();
  const answer = await begin(world.session());
  assert.equal(answer.action.kind, "wait");
  assert.equal(world.admissions(), 0);
});

opencode("a probe that takes too long is retried", async (world) => {
  await world.todo("one");
  world.kernel = world.open({ deadlineMs: 80 });
  const loop = world.host();
  await loop.tell("activated");
  const release = await world.hold();
  const asked = await loop.tell("settled");
  await release();
  assert.deepEqual([asked.ok, minutes(world, asked), world.sent.length], [false, 3, 0], JSON.stringify(asked));
  await world.later(2);
  assert.equal(world.sent.length, 0);
  await world.later(2);
  assert.equal(world.sent.length, 1, "its timer has asked again");
});

opencode("an unreadable binding is not taken for an absent one", async (world) => {
  await world.todo("one");
  await begin(world.session());
  const folder = path.join(world.project, ".loopx/goals");
  const store = readdirSync(folder, { recursive: true }).find((name) => name.endsWith("goal.db"));
  writeFileSync(path.join(folder, store), "this is no store");
  world.kernel = world.open();
  const answer = await world.session().step("settled");
  assert.deepEqual([answer.ok, answer.action.kind], [false, "wait"], JSON.stringify(answer));
  assert.equal(answer.error_code, "store_unreadable");
});

opencode("the timers of two sessions are their own", async (world) => {
  await world.todo("one");
  await world.gate();
  const [one, two] = [world.host(), world.host(world.session({ session: "session-2" }))];
  await begin(one);
  await begin(two);
  await one.dispose();
  await world.later(31);
  assert.equal(world.stored().unchanged, 1, "the first one's timer is gone");
  const [second] = world.kernel.loopShow({ surface: "opencode", session: "session-2" }).loops;
  assert.equal(second.unchanged, 2, "the second one's has fired");
});

opencode("another goal takes a session over, and its turn ends", async (world) => {
  await world.todo("one");
  await world.goal("h");
  const run = await begin(world.session());
  await world.session({ goal_id: "h" }).step("activated");
  assert.equal(world.turn(run.action.turn_id), "released");
  const { loops } = world.kernel.loopShow({ surface: "opencode", session: "session-1" });
  assert.deepEqual(loops.map((l) => l.goal_id), ["h"]);
});

opencode("a session that is deleted follows nothing", async (world) => {
  await world.todo("one");
  const { command, event } = await plugin(world);
  await command("Go");
  assert.equal(world.stored().state, "armed");
  await event("session.deleted", { info: { id: "session-1" } });
  assert.equal(world.stored(), undefined);
});

opencode("a loop that was detached says so and asks no more", async (world) => {
  await begin(world.session());
  await world.kernel.loopUnbind({ goal_id: "g", surface: "opencode", session: "session-1" });
  const answer = await world.session().step("settled");
  assert.deepEqual([answer.error_code, answer.action.kind], ["loop_unknown", "idle"]);
});

opencode("pause pauses, and a message of the person does not resume", async (world) => {
  await world.todo("one");
  const session = world.session();
  await begin(session);
  assert.equal((await session.step("paused")).action.reason, "user_paused");
  await session.step({ kind: "user_prompt", prompt: "hello" });
  assert.equal((await session.step("settled")).action.kind, "idle");
});

opencode("a resume makes no second turn", async (world) => {
  await world.todo("one");
  const session = world.session();
  const run = await begin(session);
  await echo(session, run);
  await session.step("paused");
  await session.step("resumed");
  assert.equal(world.stored().pending.turn_id, run.action.turn_id);
  assert.equal(world.admissions(), 1);
});

for (const [what, more, reason] of [["stopped", "goalStop", "goal_stopped"], ["resumed", "goalResume", null]]) {
  opencode(`a goal that is ${what} elsewhere is noticed by the watch`, async (world) => {
    await world.todo("one");
    await world.gate();
    const loop = world.host();
    await begin(loop);
    await world.kernel.goalStop({ goal_id: "g" });
    await loop.look();
    if (more === "goalResume") {
      await world.kernel.goalResume({ goal_id: "g" });
      await loop.look();
    }
    assert.equal(world.stored().reason, reason);
  });
}

opencode("a disposed plugin leaves no timer and no holder", async (world) => {
  await world.todo("one");
  await world.gate();
  const loop = world.host();
  await begin(loop);
  await loop.dispose({ kind: "disposed" });
  assert.equal(world.clock.pending, 0);
  assert.equal(world.stored().state, "armed");
});

opencode("a disposal in the middle of a turn ends the turn", async (world) => {
  await world.todo("one");
  const loop = world.host();
  const run = await begin(loop);
  await echo(loop, run);
  await loop.dispose({ kind: "disposed", ended_turn: true });
  assert.equal(world.turn(run.action.turn_id), "released");
});

opencode("idleness that is told twice is one idleness", async (world) => {
  await world.todo("one");
  const { command, message, event, sent } = await plugin(world);
  const prompt = await command("resume is no text");
  await message(prompt);
  const turn = world.stored().pending.turn_id;
  await world.settle(turn, "progress");
  await Promise.all([event("session.idle"), event("session.idle"), event("session.idle")]);
  assert.equal(sent.length, 1);
  await message(sent[0].text);
  assert.equal(world.stored().pending.delivered, true, "the late repeat ended nothing");
});

opencode("an abort is remembered over the idleness that follows it", async (world) => {
  await world.todo("one");
  const { command, message, event, sent } = await plugin(world);
  await message(await command("Go"));
  await event("session.error", { error: { name: "MessageAbortedError" } });
  await event("session.idle");
  await event("session.idle");
  assert.deepEqual(sent, []);
  assert.deepEqual([world.stored().state, world.stored().reason], ["paused", "aborted"]);
  const again = await plugin(world);
  await again.message("something else");
  await again.event("session.idle");
  assert.deepEqual(again.sent, [], "also in another process");
});

opencode("a model that fails is waited for on the ladder", async (world) => {
  await world.todo("one");
  const { command, message, event, sent } = await plugin(world);
  await message(await command("Go"));
  await event("session.error", { error: { name: "ProviderError" } });
  await event("session.idle");
  assert.deepEqual(sent, []);
  assert.equal(world.stored().failures, 1);
});

opencode("a prompt that OpenCode refuses is a failure of the host", async (world) => {
  await world.todo("one");
  const { command, message, event, sent } = await plugin(world, { fail: true });
  const prompt = await command("Go");
  await message(prompt);
  await world.settle(world.stored().pending.turn_id, "progress");
  await event("session.idle");
  for (let n = 0; n < 50 && world.stored().failures === 0; n++) await new Promise((r) => setTimeout(r, 20));
  assert.deepEqual([sent.length, world.stored().failures, world.stored().pending], [1, 1, null]);
});

opencode("a message during a probe takes the turn, and the loop goes on after it", async (world) => {
  const todo = await world.todo("one");
  const loop = world.host();
  await loop.tell("activated");
  await Promise.all([loop.tell("settled"), loop.tell({ kind: "user_prompt", prompt: "first this" })]);
  assert.deepEqual(world.sent, [], "the prompt came too late");
  assert.equal(world.stored().state, "armed");
  assert.equal(world.turn(world.stored().pending.turn_id), "released", "what was not sent is given back");
  await loop.tell("settled");
  assert.deepEqual(world.sent.map((sent) => sent.todo_id), [todo]);
});

/** A session that follows the goal and has just been at work: its idleness is told next. */
async function worked(world) {
  await world.todo("one");
  const it = await plugin(world);
  await it.hooks.tool.loopx_goal_activate.execute({ goal_id: "g", agent_id: "ada" }, { sessionID: "session-1" });
  await it.message("x");
  return it;
}

opencode("a person's message while LoopX decides: nothing is sent until it is answered", async (world) => {
  const { event, message, sent } = await worked(world);
  await world.during(() => event("session.idle"), () => message("first do this"));
  assert.deepEqual(sent, []);
  await event("session.idle");
  assert.equal(sent.length, 1);
});

opencode("/loopx pause while LoopX decides pauses, and tells the model nothing else", async (world) => {
  const { event, command, sent } = await worked(world);
  const [, said] = await world.during(() => event("session.idle"), () => command("pause"));
  assert.match(said, /^LoopX g: paused/);
  assert.deepEqual(sent, []);
  assert.deepEqual([world.stored().state, world.stored().pending], ["paused", null]);
});

opencode("/loopx while LoopX decides only looks; the prompt is sent to the session", async (world) => {
  const { event, command, sent } = await worked(world);
  const [, said] = await world.during(() => event("session.idle"), () => command(""));
  assert.match(said, /^LoopX g: /);
  assert.doesNotMatch(said, /LOOPX_TURN/);
  assert.equal(sent.length, 1);
});

opencode("/loopx resume while LoopX decides brings the one prompt in", async (world) => {
  const { event, command, sent } = await worked(world);
  const [, said] = await world.during(() => event("session.idle"), () => command("resume"));
  assert.match(said, /LOOPX_TURN=loop-/);
  assert.deepEqual(sent, []);
  assert.equal(world.admissions(), 1);
});

opencode("a word that is nearly a command's starts no goal", async (world) => {
  const { command } = await plugin(world);
  for (const word of ["stop", "help", "Resum"]) assert.match(await command(word), /starts no goal.*pause.*resume/);
  assert.equal(world.stored(), undefined);
});

opencode("/loopx TEXT whose activation is refused says why", async (world) => {
  await world.todo("one");
  const { hooks } = await plugin(world);
  const output = { parts: [] };
  await hooks["command.execute.before"]({ command: "loopx", sessionID: "s".repeat(5000), arguments: "Write it" }, output);
  assert.match(output.parts[0].text, /session is longer than 4,096 bytes/);
});

opencode("the end is a stop that something new and a resume leave", async (world) => {
  await world.todo("one");
  const session = world.session();
  const run = await begin(session);
  await echo(session, run);
  await world.settle(run.action.turn_id);
  assert.equal((await session.step("settled")).action.kind, "stop");
  await world.todo("two");
  assert.equal((await session.step("resumed")).action.kind, "prompt");
});

opencode("the unchanged limit pauses where the person sees it", async (world) => {
  await world.todo("one");
  await world.gate();
  const loop = world.host();
  await begin(loop);
  await world.later(31);
  await world.later(61);
  assert.equal(world.stored().reason, "unchanged_limit", JSON.stringify(world.stored()));
  assert.match(world.said.at(-1), /Nothing has changed/);
});

opencode("failures climb to thirty minutes and stay there", async (world) => {
  const session = world.session();
  await session.step("activated");
  const waits = [];
  for (let n = 0; n < 6; n++) waits.push(minutes(world, await session.step("host_error")));
  assert.deepEqual(waits, [3, 6, 12, 24, 30, 30]);
});

opencode("two processes on one session continue once", async (world) => {
  await world.todo("one");
  const [mine, theirs] = [world.session(), world.session()];
  await mine.step("activated");
  const answers = [await theirs.step("session_replaced")];
  answers.push(...(await Promise.all([mine.step("settled"), theirs.step("settled")])));
  assert.equal(answers.filter(({ action }) => action.kind === "prompt").length, 1);
  assert.equal(world.admissions(), 1);
});

opencode("a person's message resets the ladder and keeps the loop armed", async (world) => {
  await world.todo("one");
  await world.gate();
  const session = world.session();
  await begin(session);
  world.sleep(30);
  assert.equal(minutes(world, await session.step("timer")), 60);
  await session.step({ kind: "user_prompt", prompt: "and?" });
  assert.equal(minutes(world, await session.step("settled")), 30);
});

opencode("a refused decision is data, with its code", async (world) => {
  const refused = world.kernel.shouldRun({ goal_id: "nowhere" });
  assert.deepEqual([refused.ok, refused.should_run, refused.error_code], [false, false, "goal_not_found"]);
});

opencode("a question without an answer is an error, with its code", async (world) => {
  assert.throws(() => world.kernel.loopShow({ goal_id: "nowhere" }), { name: "LoopxError", code: "goal_not_found" });
  await assert.rejects(world.kernel.call("no.such", {}), { code: "request_invalid" });
});

opencode("compaction continues once, and the next prompt carries the whole body", async (world) => {
  await world.todo("one");
  await world.todo("two");
  const session = world.session();
  const run = await begin(session);
  await echo(session, run);
  await world.settle(run.action.turn_id);
  for (const event of ["compacted", "compacted"]) assert.notEqual((await session.step(event)).action.kind, "prompt");
  const next = await session.step("settled");
  assert.match(next.action.text, /Other outcomes/);
  assert.notEqual((await session.step("compacted")).action.kind, "prompt");
  assert.equal(world.admissions(), 2);
});
