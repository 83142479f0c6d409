// A second reading of what a packet means for a loop, written from its description and not
// from the kernel's code. It takes packets of ours of every class that a hint has, and must
// come to the plan that the loop follows.

import assert from "node:assert/strict";
import test from "node:test";

import { suite } from "./node/world.mjs";

const any = suite(test, "pi");
const proof = {
  "terminal_state.schema_version": "goal_terminal_state_v0", "terminal_state.kind": "no_followup",
  "terminal_state.derived": true, "terminal_state.source": "validated_goal_closure",
  "source_completeness.schema_version": "goal_terminal_source_completeness_v0",
  "source_completeness.user_todos": "valid", "source_completeness.agent_todos": "valid",
};

function ended(packet) {
  const at = (key) => key.split(".").reduce((value, part) => value?.[part], packet.goal_frontier_projection);
  return packet.should_run === false && packet.effective_action === "terminal_no_followup" &&
    Object.entries(proof).every(([key, value]) => at(key) === value);
}

/** What to do with a packet after `unchanged` looks at the wait that had `token`. */
function waitPlan(packet, { token = "", unchanged = 0 } = {}) {
  const hint = packet.scheduler_hint;
  if (ended(packet)) return { kind: "stop" };
  if (hint.unchanged_poll?.local_scheduler === "stop") return { kind: "pause" };
  if (hint.action === "run_now") return { kind: "prompt" };
  const detail = hint.cold_path_detail.local_scheduler;
  const own = hint.reset_policy?.reset_token ?? "";
  const looks = own !== "" && own === token ? unchanged : 0;
  const limit = hint.unchanged_poll.limits.local_scheduler;
  if (limit && looks + 1 >= limit && hint.unchanged_poll.after_limits.local_scheduler === "stop_tick_loop") {
    // An instant that is known is waited for, and not asked about again before.
    const due = hint.cold_path_detail.frontier_recheck?.frontier_recheck_after_seconds ?? 0;
    if (due > 0) return { kind: "wait", minutes: due / 60, token: own, unchanged: looks };
    return { kind: hint.unchanged_poll.final_quota_replan_check_enabled ? "recheck" : "pause" };
  }
  const ladder = detail.example_progression_minutes;
  const step = ladder[Math.min(looks, ladder.length - 1)] ?? detail.recommended_interval_minutes ?? 3;
  return { kind: "wait", minutes: step, token: own, unchanged: looks + 1 };
}

const claimed = async (world) => {
  const todo = await world.todo("one");
  await world.kernel.todoClaim({ goal_id: "g", todo_id: todo, claimed_by: "bob", agent_id: "bob" });
};
const monitor = (world) => world.todo("watch the build", { task_class: "continuous_monitor", cadence: "2h", target_key: "build" });

/** Each class of a hint, with what brings it about. */
const CLASSES = {
  active_work: (world) => world.todo("one"),
  human_gate: async (world) => { await world.todo("one"); await world.gate(); },
  agent_scope_wait: claimed,
  monitor_wait: async (world) => {
    const todo = await monitor(world);
    await world.kernel.quotaMonitorPoll({ goal_id: "g", agent_id: "ada", todo_id: todo, outcome: "no_change", execute: true });
  },
  goal_stopped: async (world) => { await world.todo("one"); await world.kernel.goalStop({ goal_id: "g" }); },
  terminal_no_followup: async (world) => {
    const todo = await world.todo("one");
    await world.kernel.todoComplete({ goal_id: "g", agent_id: "ada", todo_id: todo, evidence: "done", no_follow_up: true });
  },
};

for (const [name, prepare] of Object.entries(CLASSES)) {
  any(`${name}: the loop follows the plan that its packets mean`, async (world) => {
    await prepare(world);
    const session = world.session();
    await session.step("activated");
    let event = "settled";
    let known = {};
    const seen = [];
    // The third look at a monitor waits until it is due, and then it is work.
    const looks = name === "monitor_wait" ? 3 : 4;
    for (let n = 0; n < looks; n++) {
      const packet = world.kernel.shouldRun({ goal_id: "g", agent_id: "ada", include_detail: ["scheduler"] });
      assert.equal(packet.scheduler_hint.cadence_class, name, JSON.stringify(packet).slice(0, 900));
      const plan = waitPlan(packet, known);
      const { action, commit } = await session.step(event);
      seen.push(action.kind);
      assert.equal(action.kind, plan.kind, `step ${n}: ${JSON.stringify({ action, plan })}`);
      if (plan.kind !== "wait") break;
      const minutes = (Date.parse(action.until) - world.clock.at) / 60_000;
      assert.equal(minutes, plan.minutes, `step ${n}`);
      assert.ok(commit > 0);
      known = plan;
      world.sleep(minutes);
      event = "timer";
    }
    const waits = seen.filter((kind) => kind === "wait").length;
    assert.ok(["human_gate", "agent_scope_wait", "monitor_wait"].includes(name) ? waits >= 2 : waits === 0, seen.join());
  });
}

any("quota_paused: a goal without quota pauses its loop", async (world) => {
  await world.kernel.goalCreate({ goal_id: "none", objective: "x", agents: ["ada"], compute: 0 });
  await world.kernel.todoAdd({ goal_id: "none", role: "agent", text: "one" });
  const packet = world.kernel.shouldRun({ goal_id: "none", agent_id: "ada", include_detail: ["scheduler"] });
  assert.equal(packet.scheduler_hint.cadence_class, "quota_paused");
  const session = world.session({ goal_id: "none" });
  await session.step("activated");
  assert.equal((await session.step("settled")).action.kind, waitPlan(packet).kind);
});

any("quiet_wait: a full window waits, and an offer is admitted by the loop that reads it", async (world) => {
  await world.kernel.goalCreate({ goal_id: "small", objective: "x", agents: ["ada"], allowed_slots: 1 });
  for (const text of ["one", "two"]) await world.kernel.todoAdd({ goal_id: "small", role: "agent", text });
  await world.kernel.turnAdmit({ goal_id: "small", agent_id: "ada", turn_instance_id: "t-1" });
  await world.settle("t-1", "completed", { goal_id: "small" });
  const packet = world.kernel.shouldRun({ goal_id: "small", agent_id: "ada", include_detail: ["scheduler"] });
  assert.equal(packet.scheduler_hint.cadence_class, "quiet_wait");
  const session = world.session({ goal_id: "small" });
  await session.step("activated");
  const { action } = await session.step("settled");
  assert.deepEqual([action.kind, (Date.parse(action.until) - world.clock.at) / 60_000], ["wait", waitPlan(packet).minutes]);
  // An empty goal offers a run to plan; whoever binds it runs now.
  const offered = world.kernel.shouldRun({ goal_id: "g", agent_id: "ada", include_detail: ["scheduler"] });
  assert.deepEqual([offered.scheduler_hint.reason_code, waitPlan(offered).kind], ["offer_pending", "wait"]);
  await world.goal("twin");
  const bound = await world.kernel.turnAdmit({ goal_id: "twin", agent_id: "ada", turn_instance_id: "t-2", include_detail: ["scheduler"] });
  const loop = world.session();
  await loop.step("activated");
  assert.equal((await loop.step("settled")).action.kind, waitPlan(bound).kind);
});
