// A second reading of what a packet means for a loop, written from its description and not
// from the kernel's code. It takes packets of ours of every class that a hint has, and must
// come to the plan that the loop follows.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import test from "node:test";
import { fileURLToPath } from "node:url";

import { suite } from "./node/world.mjs";

const ROOT = path.join(path.dirname(fileURLToPath(import.meta.url)), "..");
const FOLLOW = process.env.LOOPX_FOLLOW ?? path.join(ROOT, "target/debug/loopx-follow");
const any = suite(test, "pi");
/** Minutes after the first, second, ... question in a row that failed. */
const RETRIES = [3, 6, 12, 24, 30];
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

/** What to do with a packet after `unchanged` looks at the wait that had `token`, or `failures`. */
function waitPlan(packet, { token = "", unchanged = 0, failures = 0 } = {}) {
  const hint = packet.scheduler_hint;
  // A directive beside "stop": no cadence may be taken from this packet, and no run either. It is
  // a question that failed, however well the goal stands.
  if (!["stop", undefined].includes(hint.unchanged_poll?.local_scheduler)) {
    const minutes = RETRIES[Math.min(failures, RETRIES.length - 1)];
    return { kind: "wait", minutes, token, unchanged, failures: failures + 1 };
  }
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

/** A policy that only a person writes: whether an agent only watches. */
function workMode(world, agent, mode) {
  const registry = JSON.parse(readFileSync(world.registry, "utf8"));
  registry.goals[0].coordination.agent_work_modes = { [agent]: mode };
  writeFileSync(world.registry, JSON.stringify(registry));
}

/** An app holds no loop of a command line. */
const CONTRADICTION = {
  host_surface: "codex_app", scheduler_owner: "agent_cli_loop", execution_mode: "interactive", source: "explicit",
};

/** Each class of a hint that decisions have, with what brings it about. */
const CLASSES = {
  active_work: { prepare: (world) => world.todo("one"), comes: ["prompt"] },
  human_gate: { prepare: async (world) => { await world.todo("one"); await world.gate(); }, comes: ["wait", "wait", "recheck"] },
  agent_scope_wait: { prepare: claimed, comes: ["wait", "wait", "recheck"] },
  agent_monitor_only: {
    prepare: async (world) => { await world.todo("one"); workMode(world, "ada", "monitor_only"); },
    comes: ["wait", "wait", "recheck"],
  },
  monitor_wait: {
    prepare: async (world) => {
      const todo = await monitor(world);
      await world.kernel.quotaMonitorPoll({ goal_id: "g", agent_id: "ada", todo_id: todo, outcome: "no_change", execute: true });
    },
    // The third look waits until the monitor is due, and then it is work.
    comes: ["wait", "wait", "wait"],
  },
  goal_stopped: { prepare: async (world) => { await world.todo("one"); await world.kernel.goalStop({ goal_id: "g" }); }, comes: ["pause"] },
  terminal_no_followup: {
    prepare: async (world) => {
      const todo = await world.todo("one");
      await world.kernel.todoComplete({ goal_id: "g", agent_id: "ada", todo_id: todo, evidence: "done", no_follow_up: true });
    },
    comes: ["stop"],
  },
  control_plane_repair: {
    prepare: (world) => world.todo("one"), context: CONTRADICTION,
    comes: ["wait", "wait", "wait", "wait", "wait", "wait"],
  },
};

for (const [name, { prepare, context, comes }] of Object.entries(CLASSES)) {
  any(`${name}: the loop follows the plan that its packets mean`, async (world) => {
    await prepare(world);
    const door = context ? { execution_context: context } : {};
    const session = world.session(door);
    await session.step("activated");
    let event = "settled";
    let known = {};
    const seen = [];
    for (let n = 0; n < comes.length; n++) {
      const packet = world.kernel.shouldRun({ goal_id: "g", agent_id: "ada", include_detail: ["scheduler"], ...door });
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
    assert.deepEqual(seen, comes);
    if (context) assert.equal(world.admissions(), 0, "there is work, and nobody is woken for it by a host that cannot be");
  });
}

/** A decision with the contract of a mode: nobody is asked, and nothing is to be done. */
const decision = (mode, agent = {}) => ({
  goal_id: "g", agent_identity: { agent_id: "ada" }, should_run: false, effective_action: mode,
  heartbeat_recommendation: { recommended_mode: mode },
  interaction_contract: {
    schema_version: "loopx_interaction_contract_v0", mode, user_channel: { action_required: false },
    agent_channel: { must_attempt: false, delivery_allowed: false, quiet_noop_allowed: true, ...agent },
  },
});

/**
 * What no rule decides: modes of the earlier tool that hosts may still be handed, and a contract that
 * contradicts itself. The kernel's own arbitration and its state machine have them from `loopx-follow`.
 */
const UNDECIDED = {
  unchanged_noop: { decision: decision("mapped_noop_if_unchanged"), comes: ["wait", "wait", "recheck", "pause"] },
  peer_coordination_blocked: { decision: decision("peer_coordination_blocked"), comes: ["pause"], reason: "returned_to_owner" },
  control_plane_repair: {
    decision: decision("bounded_delivery", { delivery_allowed: true, quiet_noop_allowed: false }),
    comes: ["wait", "wait", "wait", "wait"],
  },
};

for (const [name, { decision, comes, reason = "unchanged_limit" }] of Object.entries(UNDECIDED)) {
  test(`${name}, which no rule decides: the state machine follows the plan that the packet means`, () => {
    const asked = { decision, surface: "pi", at: "2026-11-29T12:00:00Z", looks: 4 };
    const looks = JSON.parse(execFileSync(FOLLOW, { input: JSON.stringify(asked), encoding: "utf8" }));
    let known = {};
    for (const { at, packet, action } of looks) {
      assert.equal(packet.scheduler_hint.cadence_class, name);
      const plan = waitPlan(packet, known);
      if (known.kind === "recheck") {
        // The same answer once more: there is nothing to wait for.
        assert.deepEqual([plan.kind, action.kind, action.reason], ["recheck", "pause", reason]);
        continue;
      }
      assert.equal(action.kind, plan.kind, JSON.stringify({ action, plan }));
      if (plan.kind === "wait") assert.equal((Date.parse(action.until) - Date.parse(at)) / 60_000, plan.minutes);
      if (plan.kind === "pause") assert.equal(action.reason, reason);
      known = plan.kind === "recheck" ? { ...known, kind: "recheck" } : plan;
    }
    assert.deepEqual(looks.map(({ action }) => action.kind), comes);
  });
}

test("every class of a hint is in one of the tests above, and no rule decides what is called undecided", () => {
  const source = readFileSync(path.join(ROOT, "core/src/schedule/class.rs"), "utf8");
  const classes = new Set([...source.matchAll(/ class: "([a-z_]+)"/g)].map(([, name]) => name));
  const tested = [...Object.keys(CLASSES), ...Object.keys(UNDECIDED), "quota_paused", "quiet_wait"];
  assert.deepEqual([...classes].sort(), [...new Set(tested)].sort());
  const admission = path.join(ROOT, "core/src/admission");
  const rules = readdirSync(admission, { recursive: true }).filter((name) => name.endsWith(".rs"));
  assert.ok(rules.length > 10);
  for (const name of rules) {
    const text = readFileSync(path.join(admission, name), "utf8");
    assert.doesNotMatch(text, /mapped_noop_if_unchanged|peer_coordination_blocked/, `${name}: take a packet of the real decision`);
  }
});

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
