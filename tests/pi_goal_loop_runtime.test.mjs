// The loop of Pi through the npm package, on a real store with a clock of its own. The
// names follow what hosts rely on (the host loop's behaviours, one test each).

import assert from "node:assert/strict";
import { chmodSync, readFileSync, readdirSync } from "node:fs";
import path from "node:path";
import test from "node:test";

import { piHost } from "./node/pi_host.mjs";
import { SLICE_MS, World, begin, echo, minutes, suite } from "./node/world.mjs";

const pi = suite(test, "pi");

/** Every file below a folder. */
function files(folder) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.join(entry.parentPath ?? entry.path, entry.name));
}

pi("a run injects one prompt", async (world) => {
  const todo = await world.todo("write it");
  const loop = world.host();
  const run = await begin(loop);
  assert.deepEqual([run.action.kind, run.action.todo_id], ["prompt", todo]);
  assert.match(world.sent[0].text, new RegExp(`LOOPX_TURN=${run.action.turn_id}$`));
  for (const event of ["settled", "settled"]) assert.equal((await loop.tell(event)).action.kind, "wait");
  assert.equal(world.sent.length, 1);
  assert.equal(world.admissions(), 1);
});

pi("the validated end notifies and sends nothing", async (world) => {
  await world.todo("one");
  const loop = world.host();
  const run = await begin(loop);
  await echo(loop, run);
  await world.settle(run.action.turn_id);
  const end = await loop.tell("settled");
  assert.deepEqual([end.action.kind, end.action.reason], ["stop", "terminal"]);
  assert.equal(world.sent.length, 1);
  assert.match(world.said.at(-1), /done/);
  for (const event of ["settled", "timer", "changed"]) assert.equal((await loop.tell(event)).action.kind, "idle");
});

pi("a wait is a timer of slices that fires at its due time", async (world) => {
  await world.todo("one");
  await world.gate();
  const loop = world.host();
  assert.equal(minutes(world, await begin(loop)), 30);
  assert.ok(world.clock.longest <= SLICE_MS, "no sleep is longer than a slice");
  const looks = world.stored().unchanged;
  await world.later(29);
  assert.equal(world.stored().unchanged, looks, "not early");
  await world.later(1);
  assert.equal(world.stored().unchanged, looks + 1);
});

pi("a machine that slept over the due time looks at once, and once", async (world) => {
  await world.todo("one");
  await world.gate();
  const loop = world.host();
  await begin(loop);
  world.sleep(600);
  await world.clock.fire();
  await loop.tell("timer");
  assert.equal(world.stored().unchanged, 2);
});

pi("a failed probe is retried on a ladder that ends", async (world) => {
  await world.todo("one");
  const session = world.session();
  await session.step("activated");
  const waits = [];
  for (let n = 0; n < 6; n++) {
    const answer = await session.step("probe_failed");
    waits.push(minutes(world, answer));
    world.sleep(waits.at(-1));
  }
  assert.deepEqual(waits, [3, 6, 12, 24, 30, 30]);
  assert.equal((await session.step("timer")).action.kind, "prompt");
});

pi("a user prompt pauses and cancels the timer", async (world) => {
  await world.todo("one");
  await world.gate();
  const loop = world.host();
  await begin(loop);
  const paused = await loop.tell({ kind: "user_prompt", prompt: "let me" });
  assert.deepEqual([paused.action.kind, paused.action.reason], ["pause", "user_prompt"]);
  const commit = world.commit();
  await world.later(120);
  assert.equal(world.commit(), commit, "no timer looks any more");
  assert.equal((await loop.tell("settled")).action.kind, "idle");
});

pi("an aborted run pauses and cancels the timer", async (world) => {
  await world.todo("one");
  const loop = world.host();
  const run = await begin(loop);
  await echo(loop, run);
  const paused = await loop.tell("aborted");
  assert.deepEqual([paused.action.kind, paused.action.reason], ["pause", "aborted"]);
  assert.equal(world.turn(run.action.turn_id), "released");
  assert.equal((await loop.tell("settled")).action.kind, "idle", "the settle that follows an abort");
  await world.later(180);
  assert.equal(world.sent.length, 1);
});

pi("only an abort is an abort", async (world) => {
  await world.todo("one");
  const loop = world.host();
  const run = await begin(loop);
  await echo(loop, run);
  for (const event of ["compacted", "delivered", "changed"]) {
    await loop.tell(event);
    assert.equal(world.stored().state, "armed", event);
  }
});

pi("a continuation that was paused meanwhile is refused", async (world) => {
  await world.todo("one");
  const [mine, theirs] = [world.session(), world.session()];
  await mine.step("activated");
  await theirs.step("session_replaced");
  const paused = await mine.step("paused");
  assert.equal(paused.action.kind, "pause");
  const late = await theirs.step("settled");
  assert.deepEqual([late.action.kind, late.stale], ["idle", true]);
});

pi("the injected prompt keeps the loop armed", async (world) => {
  await world.todo("one");
  const loop = world.host();
  const run = await begin(loop);
  assert.equal((await echo(loop, run)).action.kind, "wait");
  assert.equal(world.stored().state, "armed");
});

pi("an edited prompt is the person's", async (world) => {
  await world.todo("one");
  const loop = world.host();
  const run = await begin(loop);
  const edited = { kind: "user_prompt", prompt: `${run.action.text}\nand hurry` };
  assert.equal((await loop.tell(edited)).action.reason, "user_prompt");
});

pi("a shutdown during a probe sends nothing", async (world) => {
  await world.todo("one");
  const loop = world.host();
  await loop.tell("activated");
  const asked = loop.tell("settled");
  await loop.dispose({ kind: "disposed" });
  await asked;
  assert.deepEqual(world.sent, []);
  assert.equal(world.stored().state, "armed", "it goes on when the session is back");
});

pi("a shutdown clears every timer", async (world) => {
  await world.todo("one");
  await world.gate();
  const loop = world.host();
  await begin(loop);
  assert.equal(world.clock.pending, 2, "the wait and the watch");
  await loop.dispose({ kind: "disposed" });
  assert.equal(world.clock.pending, 0);
});

for (const [what, event] of [
  ["a user's message", { kind: "user_prompt", prompt: "wait" }],
  ["an abort", "aborted"],
  ["a pause", "paused"],
]) {
  pi(`${what} during a probe wins over its answer`, async (world) => {
    await world.todo("one");
    const loop = world.host();
    await loop.tell("activated");
    const [asked, stopped] = await Promise.all([loop.tell("settled"), loop.tell(event)]);
    assert.deepEqual(world.sent, [], "the prompt came too late");
    assert.equal(asked.action.kind, "idle");
    assert.equal(stopped.action.kind, "pause");
    assert.equal(world.stored().state, "paused");
    assert.equal(world.stored().pending, null, "the turn is given back");
    assert.equal((await loop.tell("settled")).action.kind, "idle");
    const again = await loop.tell("resumed");
    assert.deepEqual([again.action.kind, world.sent.length], ["prompt", 1]);
  });
}

for (const [what, act] of [
  ["a user's message", (host) => host.fire("input", { source: "interactive", text: "wait, something else" })],
  ["an abort", (host) => host.fire("agent_settled", { aborted: true })],
  ["/loopx pause", (host) => host.command("pause")],
]) {
  pi(`${what} in Pi while LoopX decides: nothing is sent`, async (world) => {
    await world.todo("one");
    const host = piHost(world);
    await host.fire("session_start");
    await host.activate();
    await world.during(() => host.fire("agent_settled"), () => act(host));
    assert.deepEqual(host.sent, []);
    const [loop] = world.kernel.loopShow({ surface: "pi" }).loops;
    assert.deepEqual([loop.state, loop.pending], ["paused", null]);
    await host.fire("session_shutdown");
  });
}

pi("a resume during a probe sends its prompt once", async (world) => {
  await world.todo("one");
  const loop = world.host();
  await loop.tell("activated");
  await Promise.all([loop.tell("settled"), loop.tell("resumed")]);
  assert.equal(world.sent.length, 1);
  assert.equal(world.admissions(), 1);
});

pi("the loop's own prompt that comes back during a probe stops nothing", async (world) => {
  await world.todo("one");
  await world.todo("two");
  const loop = world.host();
  const run = await begin(loop);
  await world.settle(run.action.turn_id);
  await loop.tell({ kind: "user_prompt", prompt: run.action.text });
  await Promise.all([loop.tell("settled"), echo(loop, run)]);
  assert.equal(world.sent.length, 2);
  assert.equal(world.stored().state, "armed");
});

for (const prompt of ["wait \ud83d", "\udc00 wait", "\ud83d\ud83d", "wait \\ud83d", ""]) {
  pi(`a message of the person counts, also ${JSON.stringify(prompt)}`, async (world) => {
    await world.todo("one");
    const host = piHost(world);
    await host.fire("session_start");
    await host.activate();
    await host.fire("input", { source: "interactive", text: prompt });
    assert.match(host.notes.at(-1), /You took over/);
    await host.fire("agent_settled");
    assert.deepEqual(host.sent, []);
    await host.fire("session_shutdown");
  });
}

pi("a run that ends well is not an abort, and one that broke is a failure", async (world) => {
  await world.todo("one");
  const host = piHost(world);
  await host.fire("session_start");
  await host.activate();
  const stored = () => world.kernel.loopShow({ surface: "pi" }).loops[0];
  await host.fire("agent_settled");
  assert.equal(host.sent.length, 1);
  await host.echo();
  await host.ends("stop");
  assert.deepEqual([stored().state, stored().failures, host.sent.length], ["armed", 0, 2]);
  await host.echo();
  await host.ends("error");
  assert.deepEqual([stored().state, stored().failures, stored().pending, host.sent.length], ["armed", 1, null, 2]);
  assert.ok(stored().due_at, "it is tried again later");
  await host.fire("before_agent_start", { prompt: "mine" });
  await host.command("resume");
  await host.echo();
  await host.ends("aborted", true);
  assert.deepEqual([stored().state, stored().reason], ["paused", "aborted"]);
  await host.fire("session_shutdown");
});

pi("sessions that Pi does not keep have names of their own, and leave nothing behind", async (world) => {
  await world.todo("one");
  const hosts = [piHost(world, null), piHost(world, null)];
  for (const host of hosts) {
    await host.fire("session_start");
    await host.activate();
  }
  const keys = () => world.kernel.loopShow({ surface: "pi" }).loops.map((loop) => loop.session_key);
  assert.equal(new Set(keys()).size, 2);
  await hosts[0].fire("session_shutdown");
  assert.equal(keys().length, 1);
  await hosts[1].fire("session_shutdown");
  assert.deepEqual(keys(), []);
});

for (const word of ["stop", "help", "HELP", "resum", "Statu", "gate"]) {
  pi(`/loopx ${word} starts no goal and says which words there are`, async (world) => {
    const host = piHost(world);
    await host.fire("session_start");
    const before = world.commit();
    await host.command(word);
    assert.match(host.notes.at(-1), /starts no goal.*pause.*resume.*gates/);
    assert.equal(world.commit(), before);
    assert.deepEqual(world.kernel.loopShow({ surface: "pi" }).loops, []);
  });
}

pi("/loopx Pause is /loopx pause", async (world) => {
  await world.todo("one");
  const host = piHost(world);
  await host.fire("session_start");
  await host.activate();
  await host.command("Pause");
  assert.equal(world.kernel.loopShow({ surface: "pi" }).loops[0].reason, "user_paused");
  await host.fire("session_shutdown");
});

pi("/loopx TEXT whose activation is refused says so", async (world) => {
  await world.todo("one");
  // No session may be called that.
  const host = piHost(world, `/s/${"x".repeat(5000)}.jsonl`);
  await host.fire("session_start");
  await host.command("Write the parser");
  assert.match(host.notes.at(-1), /LoopX: session is longer than 4,096 bytes\n  \S/);
  assert.deepEqual(host.sent, []);
  await host.fire("session_shutdown");
});

pi("/loopx gates says the kernel's own command", async (world) => {
  await world.gate();
  await world.kernel.todoAdd({ goal_id: "g", role: "user", task_class: "user_action", text: "Pay the bill" });
  const host = piHost(world);
  await host.fire("session_start");
  await host.activate();
  await host.command("gates");
  const { gates, actions } = world.kernel.gateList({ goal_id: "g" });
  assert.deepEqual([gates.length, actions.length], [1, 1]);
  for (const { next_command } of [...gates, ...actions]) assert.ok(host.notes.at(-1).includes(`\n  ${next_command}`), host.notes.at(-1));
  await host.fire("session_shutdown");
});

pi("settles that come together are one decision", async (world) => {
  await world.todo("one");
  const loop = world.host();
  await loop.tell("activated");
  await Promise.all([1, 2, 3, 4].map(() => loop.tell("settled")));
  assert.equal(world.admissions(), 1);
  assert.equal(world.sent.length, 1);
});

pi("the wait plan climbs its ladder, and the limit leads to one recheck", async (world) => {
  await world.todo("one");
  await world.gate();
  const session = world.session();
  let answer = await begin(session);
  const waits = [];
  while (answer.action.kind === "wait") {
    waits.push(minutes(world, answer));
    world.sleep(waits.at(-1));
    answer = await session.step("timer");
  }
  assert.deepEqual(waits, [30, 60]);
  assert.equal(answer.action.kind, "recheck");
  answer = await session.step("timer");
  assert.deepEqual([answer.action.kind, answer.action.reason], ["pause", "unchanged_limit"]);
});

pi("another token begins the ladder anew", async (world) => {
  await world.todo("one");
  const gate = await world.gate();
  const session = world.session();
  await begin(session);
  world.sleep(30);
  assert.equal(minutes(world, await session.step("timer")), 60);
  await world.decide(gate);
  await world.kernel.gateOpen({ goal_id: "g", question: "And now?", blocks_agent: "ada" });
  assert.equal(minutes(world, await session.step("changed")), 30);
});

pi("a decided gate wakes the loop by the watch, without its timer", async (world) => {
  const todo = await world.todo("one");
  const gate = await world.gate();
  const loop = world.host();
  assert.equal((await begin(loop)).action.kind, "wait");
  await loop.look();
  assert.equal(world.sent.length, 0, "what it wrote itself is no change");
  await world.open().gateDecide({ goal_id: "g", todo_id: gate, outcome: "approve" });
  await loop.look();
  assert.deepEqual(world.sent.map((p) => p.todo_id), [todo]);
});

pi("the watch tells nothing while the agent is at work", async (world) => {
  await world.todo("one");
  const gate = await world.gate();
  const loop = world.host();
  await begin(loop);
  world.resting = false;
  await world.decide(gate);
  await loop.look();
  assert.equal(world.sent.length, 0);
  world.resting = true;
  await loop.look();
  assert.equal(world.sent.length, 1, "and tells it once it rests");
});

pi("what is stored comes back as it was", async (world) => {
  await world.todo("one");
  await world.gate();
  await begin(world.session());
  const before = world.stored();
  const again = await world.session().step("session_replaced");
  assert.deepEqual(
    [again.loop.state, again.loop.due_at, again.loop.unchanged],
    [before.state, before.due_at, before.unchanged],
  );
});

pi("a pause survives the runtime that made it", async (world) => {
  await world.todo("one");
  await begin(world.session());
  await world.session().step("aborted");
  for (const event of ["session_replaced", "settled", "timer", "changed"]) {
    assert.equal((await world.session().step(event)).action.kind, "idle", event);
  }
  assert.equal(world.stored().reason, "aborted");
  assert.equal((await world.session().step("resumed")).action.kind, "prompt");
});

pi("a due wait is rebuilt after a restart", async (world) => {
  await world.todo("one");
  await world.gate();
  const first = world.host();
  await begin(first);
  await first.dispose({ kind: "disposed" });
  await world.later(10);
  const second = world.host();
  assert.equal(minutes(world, await second.tell("session_replaced")), 20);
  await second.dispose({ kind: "disposed" });
  world.sleep(25);
  const third = world.host();
  assert.equal(minutes(world, await third.tell("session_replaced")), 60, "it came due meanwhile");
});

pi("a prompt that never arrived is sent again, word for word", async (world) => {
  await world.todo("one");
  const first = world.host();
  const run = await begin(first);
  await first.dispose({ kind: "disposed" });
  const second = world.host();
  const again = await second.tell("session_replaced");
  assert.deepEqual(again.action, run.action);
  assert.equal(world.admissions(), 1);
});

pi("a dispose while the answer is read acts on nothing", async (world) => {
  await world.todo("one");
  const loop = world.host();
  await loop.tell("activated");
  const asked = loop.tell("settled");
  const gone = loop.dispose();
  await Promise.all([asked, gone]);
  await world.later(120);
  assert.deepEqual(world.sent, []);
});

test("ephemeral sessions share nothing", async (t) => {
  const world = await World.of("pi", { session: "ephemeral-1" });
  t.after(() => world.close());
  await world.todo("one");
  const [one, two] = [world.session(), world.session({ session: "ephemeral-2" })];
  await begin(one);
  assert.equal((await two.step("settled")).error_code, "loop_unknown");
  assert.equal((await two.step("settled")).action.kind, "idle");
});

test("an ephemeral session leaves no loop behind", async (t) => {
  const world = await World.of("pi", { session: "ephemeral-1" });
  t.after(() => world.close());
  await world.todo("one");
  const run = await begin(world.session());
  await world.kernel.loopUnbind({ goal_id: "g", surface: "pi", session: "ephemeral-1" });
  assert.equal(world.stored(), undefined);
  assert.equal(world.turn(run.action.turn_id), "released");
});

for (const [what, prepare, late] of [
  ["run", async () => {}, "settled"],
  ["end", async (world, run) => { await world.settle(run.action.turn_id); }, "settled"],
  ["wait", async (world) => { await world.gate(); }, "timer"],
]) {
  pi(`a re-activation during a stale ${what} is not written over`, async (world) => {
    await world.todo("one");
    const stale = world.session();
    const run = await begin(stale);
    await prepare(world, run);
    await world.session().step("activated");
    const before = world.stored();
    const said = await stale.step(late);
    assert.deepEqual([said.action.kind, said.stale], ["idle", true]);
    assert.deepEqual(world.stored(), before);
  });
}

pi("sessions with a long common beginning have loops of their own", async (world) => {
  await world.todo("one");
  const long = `/sessions/${"a".repeat(3000)}`;
  const [one, two] = [world.session({ session: `${long}-1` }), world.session({ session: `${long}-2` })];
  await one.step("activated");
  assert.equal((await two.step("settled")).error_code, "loop_unknown");
  const { loops } = world.kernel.loopShow({ goal_id: "g" });
  assert.equal(loops.length, 1);
  assert.match(loops[0].session_key, /^pi-[0-9a-f]{24}$/);
});

pi("a store that cannot be written is tried again, and what the person did is not lost", async (world, t) => {
  if (process.getuid?.() === 0) return t.skip("skipped: the user root may write everything");
  await world.todo("one");
  const session = world.session();
  await begin(session);
  const store = files(world.folder).find((file) => file.endsWith("goal.db"));
  chmodSync(store, 0o400);
  chmodSync(path.dirname(store), 0o500);
  t.after(() => chmodSync(path.dirname(store), 0o700));
  const refused = await session.step("aborted");
  assert.deepEqual([refused.ok, minutes(world, refused)], [false, 3]);
  assert.deepEqual(session.owed(), [{ kind: "aborted" }]);
  chmodSync(path.dirname(store), 0o700);
  chmodSync(store, 0o600);
  assert.equal((await session.step("timer")).action.kind, "idle");
  assert.deepEqual([session.owed(), world.stored().reason], [[], "aborted"]);
});

pi("a store that another process holds is waited for, and what the person did is not lost", async (world) => {
  await world.todo("one");
  world.kernel = world.open({ deadlineMs: 80 });
  const session = world.session();
  await begin(session);
  const { spawn } = await import("node:child_process");
  const lock = files(world.folder).find((file) => file.endsWith("goal.db.lock"));
  const holder = spawn("flock", ["-x", lock, "-c", "echo held; sleep 60"], { stdio: ["ignore", "pipe", "ignore"], detached: true });
  await new Promise((resolve, reject) => { holder.stdout.once("data", resolve); holder.once("error", reject); });
  const refused = await session.step("aborted");
  process.kill(-holder.pid);
  assert.deepEqual([refused.ok, minutes(world, refused)], [false, 3], JSON.stringify(refused));
  assert.deepEqual(session.owed(), [{ kind: "aborted" }]);
  await new Promise((resolve) => holder.once("close", resolve));
  assert.equal((await session.step("timer")).action.kind, "idle");
  assert.deepEqual([session.owed(), world.stored().reason], [[], "aborted"]);
});

pi("session names of any length and shape are told apart, and are not kept", async (world) => {
  const names = ["a", "A", "a ", "/home/kim/.pi/s.jsonl", "ä".repeat(2048), "x/../y", "%2e%2e"];
  const keys = new Set();
  for (const session of names) {
    const { loop } = await world.session({ session }).step("activated");
    keys.add(loop.session_key);
  }
  assert.equal(keys.size, names.length);
  for (const session of ["", " ", "a".repeat(4097), "a\nb", "a\0b"]) {
    assert.equal((await world.session({ session }).step("activated")).error_code, "request_invalid", JSON.stringify(session));
  }
  const state = files(path.join(world.project, ".loopx"));
  assert.ok(state.length > 2);
  for (const file of state) assert.ok(!readFileSync(file).includes("kim"), file);
});

pi("two sessions of one goal have loops of their own", async (world) => {
  await world.todo("one");
  const [one, two] = [world.session(), world.session({ session: "session-2", agent_id: "bob" })];
  const run = await begin(one);
  await begin(two);
  await two.step("paused");
  assert.equal(world.stored().state, "armed");
  await echo(one, run);
  assert.equal(world.turn(run.action.turn_id), "live");
});

pi("a late message of before the re-activation does not pause what was activated since", async (world) => {
  await world.todo("one");
  const first = world.session();
  const run = await begin(first);
  await world.session().step("activated");
  assert.equal(world.turn(run.action.turn_id), "released");
  // Its own prompt comes back late: the loop that it belonged to is no more.
  const late = await echo(first, run);
  assert.equal(late.action.kind, "idle");
  assert.deepEqual([world.stored().state, world.stored().reason], ["armed", null]);
  const next = await world.session().step("settled");
  assert.equal(next.action.kind, "prompt");
  assert.equal((await echo(first, run)).action.kind, "wait", "also while the next one is out");
  assert.equal(world.stored().pending.delivered ?? false, false, "and it is not taken for that one");
  // A person's own words are theirs, also now.
  assert.equal((await first.step({ kind: "user_prompt", prompt: "hello" })).action.kind, "pause");
});
