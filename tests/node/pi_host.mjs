// Pi's extension on a host that only notes what it is asked: what Pi would be told, without Pi.

import { createRequire } from "node:module";
import path from "node:path";

import { PACKAGE } from "./world.mjs";

const extension = createRequire(import.meta.url)(path.join(PACKAGE, "extensions/pi/index.js"));

/** The extension in a world's project, in a session of that file; none is an ephemeral one. */
export function piHost(world, file = "/s/one.jsonl") {
  // The extension has the system's clock; the goal has more than one agent.
  process.env.LOOPX_AGENT_ID = "ada";
  world.kernel = world.open({ now: undefined });
  const handlers = new Map();
  const host = { sent: [], notes: [], status: [], idle: true };
  extension({
    on: (event, work) => handlers.set(event, [...(handlers.get(event) ?? []), work]),
    registerCommand: (_name, command) => (host.told = command),
    registerTool: (tool) => (host.tool = tool),
    sendUserMessage: (text) => host.sent.push(text),
  });
  const ctx = {
    cwd: world.project,
    isIdle: () => host.idle,
    ui: { notify: (text) => host.notes.push(text), setStatus: (_key, text) => host.status.push(text) },
    sessionManager: { getSessionFile: () => file },
  };
  host.fire = async (event, said = {}) => {
    for (const work of handlers.get(event) ?? []) await work(said, ctx);
  };
  host.command = (text) => host.told.handler(text, ctx);
  host.activate = () => host.tool.execute("1", { goal_id: "g", agent_id: "ada" }, null, null, ctx);
  /** The prompt that was sent last, as Pi says that a run begins with it. */
  host.echo = () => host.fire("before_agent_start", { prompt: host.sent.at(-1) });
  host.ends = async (stopReason, aborted = false) => {
    await host.fire("agent_end", { messages: [{ role: "user" }, { role: "assistant", stopReason }] });
    await host.fire("agent_settled", { aborted });
  };
  return host;
}
