// A project of its own with a clock of its own, for the suites of hosts.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtempSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import path from "node:path";

const require = createRequire(import.meta.url);
/** The installed tarball where `cargo xtask test` has installed one, else the sources. */
export const PACKAGE = process.env.LOOPX_PACKAGE ?? path.resolve(import.meta.dirname ?? path.dirname(new URL(import.meta.url).pathname), "../../bindings-node");
export const loopx = require(PACKAGE);
export const { HostLoop, SLICE_MS } = require(path.join(PACKAGE, "lib/host-loop.cjs"));

const BEGIN = Date.parse("2026-11-29T12:00:00Z");
const MINUTE = 60_000;

/** Timers that fire when the clock is moved. */
export class FakeClock {
  #timers = new Map();
  #next = 1;
  at = BEGIN;

  now = () => this.at;

  setTimeout = (work, ms) => {
    this.#timers.set(this.#next, { due: this.at + ms, work });
    return this.#next++;
  };

  clearTimeout = (timer) => this.#timers.delete(timer);

  get pending() {
    return this.#timers.size;
  }

  /** The longest sleep of any timer that is set. */
  get longest() {
    return Math.max(0, ...[...this.#timers.values()].map(({ due }) => due - this.at));
  }

  /** Fires what is due, each after its microtasks. */
  async fire() {
    for (const [id, { due, work }] of [...this.#timers]) {
      if (due <= this.at && this.#timers.delete(id)) await work();
    }
  }
}

export class World {
  constructor(surface, { agent = "ada", session = "session-1" } = {}) {
    this.surface = surface;
    this.agent = agent;
    this.sessionName = session;
    this.folder = mkdtempSync(path.join(tmpdir(), "loopx-node-"));
    this.project = path.join(this.folder, "p");
    mkdirSync(path.join(this.project, ".loopx"), { recursive: true });
    this.clock = new FakeClock();
    this.kernel = this.open();
    this.sent = [];
    this.said = [];
    this.resting = true;
  }

  static async of(surface, options) {
    const world = new World(surface, options);
    await world.goal("g");
    return world;
  }

  get registry() {
    return path.join(this.project, ".loopx/registry.json");
  }

  get instant() {
    return new Date(this.clock.at).toISOString();
  }

  open(options = {}) {
    return loopx.Kernel.open({
      registry: this.registry, cwd: this.project, home: path.join(this.folder, "home"),
      now: this.instant, ...options,
    });
  }

  goal(id) {
    return this.kernel.goalCreate({ goal_id: id, objective: "x", agents: [this.agent, "bob"] });
  }

  async todo(text, more = {}) {
    const added = await this.kernel.todoAdd({ goal_id: "g", role: "agent", text, ...more });
    return added.todo_id;
  }

  async gate() {
    const opened = await this.kernel.gateOpen({ goal_id: "g", question: "May we?", blocks_agent: this.agent });
    return opened.todo_id;
  }

  decide(gate) {
    return this.kernel.gateDecide({ goal_id: "g", todo_id: gate, outcome: "approve" });
  }

  settle(turn, outcome = "completed", more = {}) {
    return this.kernel.turnSettle({
      goal_id: "g", agent_id: this.agent, turn_instance_id: turn, outcome,
      evidence: ["tests pass"], no_follow_up: outcome === "completed", ...more,
    });
  }

  session(more = {}) {
    return new loopx.LoopSession(this.kernel, {
      goal_id: "g", surface: this.surface, session: this.sessionName, agent_id: this.agent, ...more,
    });
  }

  /** A host's loop on timers that this world moves. */
  host(session = this.session(), options = {}) {
    return new HostLoop(
      this.kernel,
      session,
      {
        prompt: (text, action) => { this.sent.push({ text, ...action }); },
        say: (notice) => { this.said.push(notice.text); },
        idle: () => this.resting,
      },
      { clock: this.clock, watchMs: 3_000, ...options },
    );
  }

  /** Moves the clock, and lets what is due happen. */
  async later(minutes) {
    const end = this.clock.at + minutes * MINUTE;
    while (this.clock.at < end) {
      this.clock.at = Math.min(end, this.clock.at + MINUTE);
      this.kernel.fixClock(this.instant);
      await this.clock.fire();
    }
  }

  /** The clock alone, without any timer: a machine that slept. */
  sleep(minutes) {
    this.clock.at += minutes * MINUTE;
    this.kernel.fixClock(this.instant);
  }

  stored() {
    const { loops } = this.kernel.loopShow({ surface: this.surface, session: this.sessionName });
    return loops[0];
  }

  turn(id) {
    return this.kernel.turnShow({ goal_id: "g", turn_instance_id: id }).turn.state;
  }

  admissions() {
    return this.kernel.history({ goal_id: "g", limit: 500 }).commits.filter((c) => c.verb === "turn.admit").length;
  }

  /**
   * Holds the store's queue as another process does; answers how to let it go. Whoever
   * writes meanwhile waits.
   */
  async hold() {
    const name = readdirSync(this.project, { recursive: true }).find((file) => file.endsWith("goal.db.lock"));
    const holder = spawn("flock", ["-x", path.join(this.project, name), "-c", "echo held; exec sleep 60"], {
      stdio: ["ignore", "pipe", "ignore"], detached: true,
    });
    await new Promise((resolve, reject) => {
      holder.stdout.once("data", resolve);
      holder.once("error", reject);
    });
    return () =>
      new Promise((resolve) => {
        holder.once("close", resolve);
        process.kill(-holder.pid);
      });
  }

  /** What `asked` asks, and what happens while it waits for an answer. */
  async during(asked, happens) {
    const release = await this.hold();
    const all = [asked()];
    await new Promise((resolve) => setTimeout(resolve, 50));
    all.push(happens());
    await new Promise((resolve) => setTimeout(resolve, 50));
    await release();
    return Promise.all(all);
  }

  commit() {
    return this.kernel.history({ goal_id: "g", limit: 1 }).last_commit;
  }

  close() {
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** Minutes from the world's clock to the end of a wait. */
export function minutes(world, answer) {
  assert.equal(answer.action.kind, "wait", JSON.stringify(answer));
  return (Date.parse(answer.action.until) - world.clock.at) / MINUTE;
}

/** A world for one test, gone after it. */
export function suite(test, surface, options) {
  return (name, run) =>
    test(name, async (t) => {
      const world = await World.of(surface, options);
      t.after(() => world.close());
      await run(world, t);
    });
}

/** Activates and settles: the first decision. */
export async function begin(loop) {
  const told = (event) => (loop.tell ? loop.tell(event) : loop.step(event));
  await told("activated");
  return told("settled");
}

/** The prompt comes back as the session's own input. */
export function echo(loop, answer) {
  const event = { kind: "user_prompt", prompt: answer.action.text };
  return loop.tell ? loop.tell(event) : loop.step(event);
}
