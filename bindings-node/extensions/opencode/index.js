"use strict";

// LoopX in OpenCode: the command `/loopx`, the tool `loopx_goal_activate`, and the loops of
// its sessions. Registration, timers and messages; what to do comes from the kernel. Nothing
// is imported that OpenCode would have to fetch.

const { Bridge, TOOL, line, refused, told } = require("../../lib/bridge.cjs");
const { HostLoop } = require("../../lib/host-loop.cjs");

/** Sessions that are looked through for loops to take up at the start. */
const SESSIONS = 200;

/** One session of this process. */
class Session {
  constructor(id, home) {
    this.id = id;
    this.home = home;
    this.loop = null;
    this.busy = false;
    /** A run has begun since the session was idle last: idleness is told more than once. */
    this.worked = false;
    /** The run was stopped or broke: the idleness that follows says nothing new. */
    this.over = false;
  }

  attach(goalId, agentId, more) {
    const { bridge } = this.home;
    this.loop = new HostLoop(bridge.kernel, bridge.session(goalId, agentId, this.id, more), {
      prompt: (text) => this.prompt(text),
      say: (notice) => this.home.say(told(notice)),
      idle: () => !this.busy,
      shown: (answer) => this.home.log(line(goalId, answer)),
    });
    return this.loop;
  }

  async prompt(text) {
    const sent = await this.home.client.session.promptAsync({
      path: { id: this.id }, body: { parts: [{ type: "text", text }] },
    });
    if (sent?.error) {
      this.home.log(`the prompt could not be sent: ${JSON.stringify(sent.error).slice(0, 200)}`);
      queueMicrotask(() => this.tell("host_error"));
    }
  }

  async tell(event, send) {
    try {
      return await this.loop?.tell(event, send);
    } catch (error) {
      this.home.log(error.message);
    }
  }

  /** Takes up a loop that this session had before. */
  async takeUp() {
    const row = await this.home.bridge.followed(this.id);
    if (!row) return;
    this.attach(row.goal_id, row.agent_id);
    // A prompt that is out in a runtime that lives stays that runtime's.
    await this.tell("session_replaced");
  }

  async activate(goalId, agentId, more) {
    await this.loop?.dispose();
    this.attach(goalId, agentId, more);
    return this.tell("activated");
  }

  async idle() {
    const { worked, over } = this;
    this.busy = false;
    this.worked = false;
    if (worked && !over) await this.tell("settled");
  }

  async error(name) {
    this.over = true;
    await this.tell(name === "MessageAbortedError" ? "aborted" : "host_error");
  }

  /** `/loopx`: what the session is told instead of the command's text. */
  async command(text) {
    const { verb, text: goal } = Bridge.command(text);
    const { bridge } = this.home;
    if (verb === "help") return goal;
    if (verb !== "start" && !this.loop) await this.takeUp();
    if (verb !== "start" && !this.loop) {
      return "This session follows no LoopX goal. /loopx TEXT starts one.";
    }
    if (verb === "gates") return bridge.gates(this.loop.goalId);
    if (verb === "inspect") {
      const row = await bridge.followed(this.id);
      return `${line(this.loop.goalId, { ...this.loop.last, action: row?.action, loop: row })}\n${bridge.gates(this.loop.goalId)}`;
    }
    // A prompt that this command's own step leads to is what the command says.
    let own = null;
    const bring = (prompt) => void (own = prompt);
    let answer = null;
    if (verb === "start") {
      const { goal_id, agent_id } = await bridge.start(goal);
      answer = await this.activate(goal_id, agent_id);
      if (answer?.ok !== false) answer = await this.tell("settled", bring);
    } else {
      answer = await this.tell(verb === "resume" ? "resumed" : "paused", bring);
    }
    return own ?? refused(answer) ?? line(this.loop.goalId, answer ?? {});
  }
}

async function LoopX({ client, directory }) {
  const sessions = new Map();
  const home = {
    client,
    bridge: new Bridge({ surface: "opencode", cwd: directory, onNotice: (text) => home.log(text) }),
    log(message) {
      client.app?.log?.({ body: { service: "loopx", level: "info", message } })?.catch?.(() => {});
    },
    say(message) {
      home.log(message);
      client.tui?.showToast?.({ body: { message, variant: "info" } })?.catch?.(() => {});
    },
  };
  /** The session, with the loop that it had before. */
  const session = async (id) => {
    let known = sessions.get(id);
    if (!known) {
      known = new Session(id, home);
      sessions.set(id, known);
      known.ready = known.takeUp().catch((error) => home.log(error.message));
    }
    await known.ready;
    return known;
  };

  /** Loops that wait go on by themselves after a restart. */
  const takeUp = async () => {
    const listed = await client.session.list();
    for (const { id } of (listed?.data ?? []).slice(0, SESSIONS)) {
      const follows = async () => home.bridge.followed(id).catch((error) => home.log(error.message));
      if (sessions.has(id) || !(await follows())) continue;
      await session(id);
    }
  };
  setTimeout(() => takeUp().catch((error) => home.log(error.message)), 500).unref?.();

  return {
    async event({ event: { type, properties } }) {
      const id = properties?.sessionID ?? properties?.info?.id;
      if (typeof id !== "string") return;
      switch (type) {
        case "session.idle":
          return void (await (await session(id)).idle());
        case "session.error":
          return void (await (await session(id)).error(properties.error?.name));
        case "session.compacted":
          return void (await (await session(id)).tell("compacted"));
        case "session.deleted": {
          const known = sessions.get(id);
          sessions.delete(id);
          if (!known?.loop) return;
          await known.loop.dispose();
          await home.bridge.kernel.call("loop.unbind", { goal_id: known.loop.goalId, surface: "opencode", session: id });
          return;
        }
        case "session.status":
          if (sessions.has(id)) sessions.get(id).busy = properties.status?.type !== "idle";
          return;
        default:
      }
    },
    async "chat.message"({ sessionID }, { parts }) {
      const it = await session(sessionID);
      it.over = false;
      it.worked = true;
      it.busy = true;
      const prompt = parts.filter((part) => part.type === "text" && !part.synthetic).map((part) => part.text).join("\n");
      await it.tell({ kind: "user_prompt", prompt });
    },
    async "command.execute.before"({ command, sessionID, arguments: text }, output) {
      if (command !== "loopx") return;
      let said;
      try {
        said = await (await session(sessionID)).command(text);
      } catch (error) {
        said = `LoopX: ${error.message}\n${error.nextCommand ?? ""}`.trim();
      }
      const part = output.parts.find(({ type }) => type === "text");
      if (part) part.text = said;
      else output.parts.push({ type: "text", text: said });
    },
    // Its arguments are said as JSON Schema: a schema library is not there offline.
    async "tool.definition"({ toolID }, output) {
      if (toolID === TOOL.name && "jsonSchema" in output) output.jsonSchema = TOOL.parameters;
    },
    tool: {
      [TOOL.name]: {
        description: TOOL.description,
        args: {},
        async execute(args, { sessionID }) {
          const { goal_id, agent_id, objective, available_capabilities } = args ?? {};
          const it = await session(sessionID);
          const more = available_capabilities ? { available_capabilities } : {};
          return home.bridge.activated(goal_id, agent_id, objective, (goal, agent) => it.activate(goal, agent, more));
        },
      },
    },
    async dispose() {
      for (const { loop, busy } of sessions.values()) {
        await loop?.dispose({ kind: "disposed", ended_turn: busy }).catch(() => {});
      }
    },
  };
}

module.exports = { LoopX };
