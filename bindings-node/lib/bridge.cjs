"use strict";

// What the extensions of Pi and OpenCode have in common: which goal a session follows, how a
// goal is started, and how things are shown. What may run, and when, the kernel says.

const { LoopxError } = require("./error.cjs");
const { Kernel, LoopSession } = require("./kernel.cjs");

/** The tool that lets an agent begin a loop in its own session. */
const TOOL = {
  name: "loopx_goal_activate",
  description:
    "Lets this session loop on a LoopX goal: LoopX sends the next piece of work when the session is idle. Call it once, after the goal's todos are written.",
  parameters: {
    type: "object",
    properties: {
      goal_id: { type: "string", description: "The goal" },
      agent_id: { type: "string", description: "Who works, one of the goal's agents" },
      objective: { type: "string", description: "What the goal is for, when it is a new goal" },
      available_capabilities: {
        type: "array", items: { type: "string" }, description: "What this session can do",
      },
    },
    required: ["goal_id"],
  },
};

/** Words of `/loopx` that are not a goal's text. */
const INSPECT = new Set(["", "status", "history", "list"]);
const VERBS = new Set(["resume", "pause", "gates"]);
/** What people say for one of them elsewhere; a word alone of these is nobody's goal. */
const ELSEWHERE = new Set(["?", "-h", "--help", "help", "stop", "halt", "start", "continue", "unpause", "cancel", "quit", "exit", "abort", "show", "info"]);
const USAGE = "/loopx TEXT starts a goal; /loopx looks, /loopx pause, /loopx resume and /loopx gates do what they say.";

/** Whether one word becomes the other by a single slip: a letter more, less, changed or swapped. */
function slip(one, other) {
  let [first, last] = [0, 0];
  while (first < one.length && one[first] === other[first]) first++;
  while (last < Math.min(one.length, other.length) - first && one.at(-1 - last) === other.at(-1 - last)) last++;
  const [a, b] = [one, other].map((word) => word.slice(first, word.length - last));
  return Math.max(a.length, b.length) < 2 || (a.length === 2 && b === a[1] + a[0]);
}

class Bridge {
  #kernel = null;

  constructor({ surface, cwd, onNotice }) {
    this.surface = surface;
    this.cwd = cwd;
    this.onNotice = onNotice;
  }

  get kernel() {
    this.#kernel ??= Kernel.open({ cwd: this.cwd, onNotice: this.onNotice });
    return this.#kernel;
  }

  /** A goal that was just made may have brought the registry with it. */
  reopen() {
    this.#kernel = null;
    return this.kernel;
  }

  /** The loop of a session, wherever in the registry it is; throws where nobody can tell. */
  async followed(session) {
    try {
      const { loops, unreadable_goals: unread = [] } = await this.kernel.call("loop.show", { surface: this.surface, session });
      if (loops.length === 0 && unread.length > 0) {
        const [{ goal_id, error }] = unread;
        throw new LoopxError({ ...unread[0], error: `whether this session follows ${goal_id} is not known: ${error}` });
      }
      return loops[0] ?? null;
    } catch (error) {
      // A folder without a registry has no loops.
      if (error.code === "goal_not_found" || error.code === "registry_missing") return null;
      throw error;
    }
  }

  session(goalId, agentId, session, more = {}) {
    return new LoopSession(this.kernel, {
      goal_id: goalId, surface: this.surface, session,
      ...(agentId ? { agent_id: agentId } : {}),
      // Where the kernel can tell a living process from a dead one.
      ...(process.platform === "linux" ? { holder_pid: process.pid } : {}),
      ...more,
    });
  }

  /** Starts a goal with a text; answers the goal and the agent that loops. */
  async start(text) {
    const started = await this.kernel.call("start_goal", {
      goal_text: text, host: this.surface, agent_id: process.env.LOOPX_AGENT_ID || undefined,
    });
    this.reopen();
    return started;
  }

  /** The tool: makes the goal where it is new, lets the session follow it, says what holds. */
  async activated(goalId, agentId, objective, activate) {
    let agent = agentId;
    try {
      const { agents } = this.kernel.goalShow({ goal_id: goalId });
      agent ??= agents?.length === 1 ? agents[0] : undefined;
    } catch (error) {
      if (error.code !== "goal_not_found" || !objective) throw error;
      agent ??= this.surface;
      await this.kernel.goalCreate({ goal_id: goalId, objective, agents: [agent] });
      this.reopen();
    }
    // Refused where the agent's loop is switched on on another surface.
    if (agent) await this.kernel.call("host_loop.activate", { goal_id: goalId, agent_id: agent, host: this.surface });
    const answer = await activate(goalId, agent);
    if (!answer || answer.ok === false) throw new Error(answer?.error ?? "the loop could not be activated");
    return `This session follows ${goalId} now. End your turn: LoopX sends the next piece of work.`;
  }

  /** What `/loopx` with these arguments is. */
  static command(text) {
    const said = (text ?? "").trim();
    const word = said.toLowerCase();
    if (INSPECT.has(word)) return { verb: "inspect" };
    if (VERBS.has(word)) return { verb: word };
    const meant = [...VERBS, ...INSPECT].some((verb) => verb !== "" && slip(word, verb));
    if (meant || ELSEWHERE.has(word)) return { verb: "help", text: `LoopX: ${JSON.stringify(said)} starts no goal. ${USAGE}` };
    return { verb: "start", text: said };
  }

  /** What waits for a person, each with the kernel's command that goes on. */
  gates(goalId) {
    const { gates, actions } = this.kernel.gateList({ goal_id: goalId });
    const lines = [...gates, ...actions].map(({ text, question, next_command }) => `${question ?? text}\n  ${next_command}`);
    return lines.length > 0 ? lines.join("\n") : "Nothing waits for a person.";
  }
}

/** A step that was refused as text, else nothing. */
function refused(answer) {
  return answer?.ok === false ? `LoopX: ${answer.error}\n  ${answer.next_command ?? ""}`.trim() : null;
}

/** A line about a loop: what it does, what it waits for and until when. */
function line(goalId, answer) {
  const { action, decision, loop } = answer;
  const head = `LoopX ${goalId}`;
  switch (action?.kind) {
    case "prompt":
      return `${head}: works on ${action.todo_id ?? "the plan"}`;
    case "wait":
    case "recheck": {
      if (loop?.pending) return `${head}: works on ${loop.pending.todo_id ?? "the plan"}`;
      const why = decision?.reason ?? answer.error ?? "waits";
      return action.until ? `${head}: ${why}; next look ${clock(action.until)}` : `${head}: ${why}`;
    }
    case "pause":
    case "stop":
      return `${head}: ${action.kind === "stop" ? "stopped" : "paused"}, ${action.reason.replaceAll("_", " ")}`;
    default:
      return loop ? `${head}: ${loop.state}${loop.reason ? `, ${loop.reason.replaceAll("_", " ")}` : ""}` : head;
  }
}

/** The time of day of an instant here, with its date when it is another day. */
function clock(instant) {
  const at = new Date(instant);
  const time = at.toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });
  return at.toDateString() === new Date().toDateString() ? time : `${at.toLocaleDateString()} ${time}`;
}

/** A notice as text: the sentence, and the commands that go on. */
function told(notice) {
  return [notice.text, ...(notice.commands ?? []).map((command) => `  ${command}`)].join("\n");
}

module.exports = { Bridge, TOOL, line, refused, told };
