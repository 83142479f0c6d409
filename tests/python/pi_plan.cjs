"use strict";

// The loop of Pi's own extension in a project, at the instants that it asks for itself: prints what
// each look came to. Arguments: the package's folder, the project, the first instant, looks.

const [, , folder, project, begin, looks] = process.argv;
// Nothing is waited for here: the instants are given.
globalThis.setTimeout = () => ({ unref() {} });

const { Kernel, LoopSession } = require(`${folder}/index.cjs`);
const kernels = [];
const open = Kernel.open;
Kernel.open = (options) => (kernels.push(open.call(Kernel, options)), kernels.at(-1));
const answers = [];
const step = LoopSession.prototype.step;
LoopSession.prototype.step = async function (event) {
  const answer = await step.call(this, event);
  answers.push(answer);
  return answer;
};

const handlers = {};
let tool;
const pi = {
  on: (event, work) => { handlers[event] = work; },
  registerCommand() {},
  registerTool: (given) => { tool = given; },
  sendUserMessage() {},
};
const ctx = {
  cwd: project, isIdle: () => true, sessionManager: { getSessionFile: () => "session-1" },
  ui: { notify() {}, setStatus() {} },
};

(async () => {
  require(`${folder}/extensions/pi/index.js`)(pi);
  await handlers.session_start({}, ctx);
  await tool.execute("1", { goal_id: "g", agent_id: "ada" }, null, null, ctx);
  const seen = [];
  let at = begin;
  for (let n = 0; n < Number(looks); n++) {
    for (const kernel of kernels) kernel.fixClock(at);
    const packet = kernels.at(-1).shouldRun({
      goal_id: "g", agent_id: "ada", include_detail: ["scheduler"],
      execution_context: { host_surface: "generic_cli", scheduler_owner: "agent_cli_loop", execution_mode: "interactive", source: "runtime_profile:generic_cli" },
    });
    answers.length = 0;
    await handlers.agent_settled({}, ctx);
    const actions = answers.map(({ action }) => action);
    seen.push({ at, packet, actions });
    const last = actions.at(-1);
    if (last?.kind !== "wait") break;
    at = last.until;
  }
  process.stdout.write(JSON.stringify({ via: kernels[0].via, seen }));
  process.exit(0);
})().catch((error) => { console.error(error); process.exit(1); });
