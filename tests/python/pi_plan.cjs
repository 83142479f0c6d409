"use strict";

// The loop of Pi's own extension in a project where its session has a loop already, at the instants
// that it asks for itself: prints the packet before each look and what the look came to. Argument:
// the package's folder. Standard input: project, session, first instant, looks, and the question.

const { readFileSync } = require("node:fs");

const folder = process.argv[2];
const asked = JSON.parse(readFileSync(0, "utf8"));
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
const pi = {
  on: (event, work) => { handlers[event] = work; },
  registerCommand() {},
  registerTool() {},
  sendUserMessage() {},
};
const ctx = {
  cwd: asked.project, isIdle: () => true, sessionManager: { getSessionFile: () => asked.session },
  ui: { notify() {}, setStatus() {} },
};

(async () => {
  require(`${folder}/extensions/pi/index.js`)(pi);
  const looking = Kernel.open({ cwd: asked.project });
  const seen = [];
  let { at } = asked;
  for (let n = 0; n < asked.looks; n++) {
    for (const kernel of kernels) kernel.fixClock(at);
    const packet = looking.shouldRun(asked.question);
    answers.length = 0;
    // The session is opened again, and looks at once; from then on it settles.
    await handlers[n === 0 ? "session_start" : "agent_settled"]({}, ctx);
    const actions = answers.map(({ action }) => action);
    seen.push({ at, packet, actions, decisions: answers.map(({ decision }) => decision ?? null) });
    const last = actions.at(-1);
    if (last?.kind !== "wait") break;
    at = last.until;
  }
  process.stdout.write(JSON.stringify({ via: kernels[0].via, seen }));
  process.exit(0);
})().catch((error) => { console.error(error); process.exit(1); });
