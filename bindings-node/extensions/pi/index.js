"use strict";

// LoopX in Pi: the command `/loopx`, the tool `loopx_goal_activate`, and the loop of the
// session. Registration, timers and messages; what to do comes from the kernel.

const { randomUUID } = require("node:crypto");
const { Bridge, TOOL, line, refused, told } = require("../../lib/bridge.cjs");
const { HostLoop } = require("../../lib/host-loop.cjs");

class PiLoop {
  constructor(pi, ctx) {
    this.pi = pi;
    this.ctx = ctx;
    const file = ctx.sessionManager?.getSessionFile?.();
    // A session that Pi does not keep has no name that anybody could come back to.
    this.ephemeral = !file;
    this.name = file ?? `ephemeral-${randomUUID()}`;
    this.bridge = new Bridge({ surface: "pi", cwd: ctx.cwd, onNotice: (text) => this.say(text, "warning") });
    this.loop = null;
    this.outcome = null;
  }

  say(text, kind = "info") {
    try {
      this.ctx.ui.notify(text, kind);
    } catch {
      // The session that it belonged to has been replaced.
    }
  }

  show(text) {
    try {
      this.ctx.ui.setStatus?.("loopx", text);
    } catch {
      // As above.
    }
  }

  attach(goalId, agentId, more) {
    const kept = this.ephemeral ? { ephemeral: true } : {};
    const session = this.bridge.session(goalId, agentId, this.name, { ...more, ...kept });
    this.loop = new HostLoop(this.bridge.kernel, session, {
      prompt: (text) => this.pi.sendUserMessage(text, this.ctx.isIdle() ? undefined : { deliverAs: "followUp" }),
      say: (notice, answer) => this.say(told(notice), answer.action.kind === "wait" ? "warning" : "info"),
      idle: () => this.ctx.isIdle(),
      shown: (answer) => this.show(line(goalId, answer)),
    });
    return this.loop;
  }

  async tell(event) {
    try {
      return await this.loop?.tell(event);
    } catch (error) {
      this.say(`LoopX: ${error.message}`, "error");
    }
  }

  /** Takes up a loop that this session had before. */
  async takeUp() {
    if (this.ephemeral) return;
    const row = await this.bridge.followed(this.name);
    if (!row) return;
    this.attach(row.goal_id, row.agent_id);
    await this.tell("session_replaced");
  }

  async activate(goalId, agentId, more) {
    await this.loop?.dispose();
    this.attach(goalId, agentId, more);
    return this.tell("activated");
  }

  async leave() {
    const { loop } = this;
    this.loop = null;
    if (!loop) return;
    await loop.dispose(this.ephemeral ? null : { kind: "disposed", ended_turn: !this.ctx.isIdle() });
    if (this.ephemeral) {
      await this.bridge.kernel.call("loop.unbind", { goal_id: loop.goalId, surface: "pi", session: this.name });
    }
  }

  /** What a person has asked for is not refused without a word. */
  answered(answer) {
    const said = refused(answer);
    if (said) this.say(said, "error");
  }

  async command(text) {
    const { verb, text: goal } = Bridge.command(text);
    if (verb === "help") return this.say(goal);
    if (verb === "start") {
      const { goal_id, agent_id } = await this.bridge.start(goal);
      const activated = await this.activate(goal_id, agent_id);
      if (activated?.ok !== false && this.ctx.isIdle()) return this.answered(await this.tell("settled"));
      return this.answered(activated);
    }
    if (!this.loop) await this.takeUp();
    if (!this.loop) {
      return this.say("LoopX: this session follows no goal. /loopx TEXT starts one.");
    }
    if (verb === "gates") return this.say(this.bridge.gates(this.loop.goalId));
    if (verb === "resume" || verb === "pause") return this.answered(await this.tell(verb === "resume" ? "resumed" : "paused"));
    const row = await this.bridge.followed(this.name);
    this.say(`${line(this.loop.goalId, { ...this.loop.last, action: row?.action, loop: row })}\n${this.bridge.gates(this.loop.goalId)}`);
  }
}

module.exports = function loopxInPi(pi) {
  let here = null;

  const leave = async () => {
    const was = here;
    here = null;
    await was?.leave().catch(() => {});
  };
  /** Events of a session come with the context to use from then on. */
  const on = (event, work) =>
    pi.on(event, async (said, ctx) => {
      if (!here) return;
      here.ctx = ctx;
      await work(here, said);
    });

  pi.on("session_start", async (_event, ctx) => {
    await leave();
    here = new PiLoop(pi, ctx);
    try {
      await here.takeUp();
    } catch (error) {
      here.say(`LoopX: ${error.message}`, "error");
    }
  });
  pi.on("session_shutdown", async (_event, ctx) => {
    if (here) here.ctx = ctx;
    await leave();
  });

  // What a person types, also while the agent is at work.
  on("input", async (it, { source, text }) => {
    if (source !== "extension") await it.tell({ kind: "user_prompt", prompt: text });
  });
  // Every prompt that begins a run, the loop's own among them.
  on("before_agent_start", async (it, { prompt }) => {
    it.outcome = null;
    if (typeof prompt === "string") await it.tell({ kind: "user_prompt", prompt });
  });
  on("agent_end", async (it, { messages }) => {
    const last = messages?.findLast?.((message) => message.role === "assistant");
    const aborted = last?.stopReason === "aborted";
    // Stored before anything else can happen: the process may be gone next.
    if (aborted && it.outcome !== "aborted") await it.tell("aborted");
    it.outcome = last?.stopReason ?? null;
  });
  on("agent_settled", async (it, { aborted }) => {
    const outcome = it.outcome;
    it.outcome = null;
    if (outcome === "aborted") return;
    if (aborted) return void (await it.tell("aborted"));
    await it.tell(outcome === "error" ? "host_error" : "settled");
  });
  on("session_compact", async (it) => void (await it.tell("compacted")));

  pi.registerCommand("loopx", {
    description: "LoopX: a goal text starts a loop; resume, pause, gates, or nothing to look",
    getArgumentCompletions: (prefix) =>
      ["status", "resume", "pause", "gates"].filter((word) => word.startsWith(prefix)).map((value) => ({ value, label: value })),
    handler: async (args, ctx) => {
      here ??= new PiLoop(pi, ctx);
      here.ctx = ctx;
      try {
        await here.command(args);
      } catch (error) {
        here.say(`LoopX: ${error.message}\n  ${error.nextCommand ?? ""}`.trim(), "error");
      }
    },
  });

  pi.registerTool({
    name: TOOL.name,
    label: "LoopX",
    description: TOOL.description,
    parameters: TOOL.parameters,
    async execute(_id, { goal_id, agent_id, objective, available_capabilities }, _signal, _update, ctx) {
      here ??= new PiLoop(pi, ctx);
      here.ctx = ctx;
      const more = available_capabilities ? { available_capabilities } : {};
      const text = await here.bridge.activated(goal_id, agent_id, objective, (goal, agent) => here.activate(goal, agent, more));
      return { content: [{ type: "text", text }], details: {} };
    },
  });
};
