// What a question costs inside Node: unchanged state, after a change by another process,
// and a million calls. Run by `cargo xtask node --bench`, which fails when a bound is not met.
// Beside them stands what this machine takes for work of a known size, so that a figure of a
// slow one can be told from a slow kernel; the verdict is on the figures as they are.

import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import path from "node:path";

const PACKAGE = process.env.LOOPX_PACKAGE;
const { Kernel } = createRequire(import.meta.url)(PACKAGE);
const folder = mkdtempSync(path.join(tmpdir(), "loopx-bench-"));
const TODOS = Number(process.env.TODOS ?? 1000);
const CALLS = Number(process.env.CALLS ?? 1_000_000);
/** Microseconds of a question about unchanged state, and of the first one after a commit. */
const [UNCHANGED, CHANGED] = [50, 1_000];
/** MiB that memory may grow by in all the calls. */
const DRIFT = 4;

const open = () => Kernel.open({ cwd: folder, home: folder });
const made = open();
await made.goalCreate({ goal_id: "g", objective: "x", agents: ["ada"] });
for (let n = 0; n < TODOS; n++) await open().todoAdd({ goal_id: "g", role: "agent", text: `[P2] Todo number ${n}` });

const kernel = open();
const ask = { goal_id: "g", agent_id: "ada" };
const time = (work) => {
  const began = process.hrtime.bigint();
  work();
  return Number(process.hrtime.bigint() - began) / 1000;
};
const quantile = (list, q) => [...list].sort((a, b) => a - b)[Math.floor((list.length - 1) * q)];
const row = (name, list) => {
  console.log(`${name.padEnd(44)} median ${quantile(list, 0.5).toFixed(1)} us, p95 ${quantile(list, 0.95).toFixed(1)} us, n ${list.length}`);
  return quantile(list, 0.5);
};
let failed = false;
const judge = (name, figure, bound, unit) => {
  const met = figure < bound;
  failed ||= !met;
  console.log(`${met ? "met" : "NOT MET"}: ${name}: ${figure.toFixed(1)} ${unit}, the bound is ${bound} ${unit}`);
};

// A write of the last two seconds is not trusted to be the last one.
await new Promise((resolve) => setTimeout(resolve, 2500));
for (let n = 0; n < 2000; n++) kernel.shouldRun(ask);
const packet = JSON.stringify(kernel.shouldRun(ask));
const plain = () => JSON.stringify(JSON.parse(packet));
for (let n = 0; n < 2000; n++) plain();
row("calibration: an answer parsed and written", Array.from({ length: 5000 }, () => time(plain)));
const unchanged = row(`shouldRun, ${TODOS} todos, unchanged`, Array.from({ length: 5000 }, () => time(() => kernel.shouldRun(ask))));
row("changedSince, unchanged", Array.from({ length: 2000 }, () => time(() => kernel.goalChangedSince({ goal_id: "g", commit: 9 ** 9 }))));

// Another process commits; the next question sees it.
const script = `const k = require(${JSON.stringify(PACKAGE)}).Kernel.open({ cwd: ${JSON.stringify(folder)}, home: ${JSON.stringify(folder)} });
  k.todoAdd({ goal_id: "g", role: "agent", text: "[P3] From elsewhere " + process.argv[1] });`;
const changed = [];
for (let n = 0; n < 25; n++) {
  execFileSync(process.execPath, ["-e", script, String(n)]);
  changed.push(time(() => kernel.shouldRun(ask)));
}
const committed = row("shouldRun after another process committed", changed);

await new Promise((resolve) => setTimeout(resolve, 2500));
const rss = () => {
  globalThis.gc?.();
  return process.memoryUsage().rss / 1024 / 1024;
};
for (let n = 0; n < CALLS / 10; n++) kernel.shouldRun(ask);
const before = rss();
const began = performance.now();
for (let n = 0; n < CALLS; n++) kernel.shouldRun(ask);
const after = rss();
console.log(`${CALLS} calls in ${((performance.now() - began) / 1000).toFixed(1)} s; RSS ${before.toFixed(1)} -> ${after.toFixed(1)} MiB`);
rmSync(folder, { recursive: true, force: true });
judge("a question about unchanged state", unchanged, UNCHANGED, "us");
judge("the first question after another process committed", committed, CHANGED, "us");
judge(`memory in ${CALLS} calls`, after - before, DRIFT, "MiB");
process.exitCode = failed ? 1 : 0;
