// Made by `cargo xtask generate` from bindings-node/lib and bindings-node/extensions:
// one file that needs nothing beside it.
"use strict";

const modules = {};
const loaded = {};

/** A module of this file, else one of the engine. */
function within(name) {
  const known = name.slice(name.lastIndexOf("/") + 1);
  if (!modules[known]) return require(name);
  if (!loaded[known]) {
    loaded[known] = { exports: {} };
    modules[known](loaded[known], within);
  }
  return loaded[known].exports;
}

modules["operations.json"] = (module, require) => {
  module.exports = [
    {"name":"todo.add","method":"todoAdd","access":"write","sync":false},
    {"name":"todo.list","method":"todoList","access":"read","sync":true},
    {"name":"todo.claim","method":"todoClaim","access":"write","sync":false},
    {"name":"todo.update","method":"todoUpdate","access":"write","sync":false},
    {"name":"todo.complete","method":"todoComplete","access":"write","sync":false},
    {"name":"quota.should_run","method":"shouldRun","access":"read","sync":true},
    {"name":"turn.admit","method":"turnAdmit","access":"write","sync":false},
    {"name":"turn.renew","method":"turnRenew","access":"write","sync":false},
    {"name":"turn.release","method":"turnRelease","access":"write","sync":false},
    {"name":"turn.show","method":"turnShow","access":"read","sync":true},
    {"name":"turn.settle","method":"turnSettle","access":"write","sync":false},
    {"name":"task_lease.acquire","method":"taskLeaseAcquire","access":"write","sync":false},
    {"name":"task_lease.renew","method":"taskLeaseRenew","access":"write","sync":false},
    {"name":"task_lease.transfer","method":"taskLeaseTransfer","access":"write","sync":false},
    {"name":"task_lease.release","method":"taskLeaseRelease","access":"write","sync":false},
    {"name":"task_lease.inspect","method":"taskLeaseInspect","access":"read","sync":true},
    {"name":"handoff_mode.show","method":"handoffModeShow","access":"read","sync":true},
    {"name":"handoff_mode.set","method":"handoffModeSet","access":"write","sync":false},
    {"name":"loop.step","method":"loopStep","access":"write","sync":false},
    {"name":"loop.show","method":"loopShow","access":"read","sync":true},
    {"name":"loop.unbind","method":"loopUnbind","access":"write","sync":false},
    {"name":"quota.status","method":"quotaStatus","access":"read","sync":true},
    {"name":"quota.spend_slot","method":"quotaSpendSlot","access":"write","sync":false},
    {"name":"refresh_state","method":"refreshState","access":"write","sync":false},
    {"name":"goal.create","method":"goalCreate","access":"write","sync":false},
    {"name":"goal.stop","method":"goalStop","access":"write","sync":false},
    {"name":"goal.resume","method":"goalResume","access":"write","sync":false},
    {"name":"goal.list","method":"goalList","access":"read","sync":true},
    {"name":"goal.show","method":"goalShow","access":"read","sync":true},
    {"name":"goal.changed_since","method":"goalChangedSince","access":"read","sync":true},
    {"name":"goal.adopt_legacy","method":"goalAdoptLegacy","access":"write","sync":false},
    {"name":"agent.register","method":"agentRegister","access":"write","sync":false},
    {"name":"agent.list","method":"agentList","access":"read","sync":true},
    {"name":"gate.list","method":"gateList","access":"read","sync":true},
    {"name":"gate.open","method":"gateOpen","access":"write","sync":false},
    {"name":"gate.decide","method":"gateDecide","access":"write","sync":false},
    {"name":"gate.grants","method":"gateGrants","access":"read","sync":true},
    {"name":"gate.withdraw","method":"gateWithdraw","access":"write","sync":false},
    {"name":"quota.monitor_poll","method":"quotaMonitorPoll","access":"write","sync":false},
    {"name":"quota.host_poll","method":"quotaHostPoll","access":"write","sync":false},
    {"name":"quota.scheduler_ack","method":"quotaSchedulerAck","access":"write","sync":false},
    {"name":"quota.scheduler_fail","method":"quotaSchedulerFail","access":"write","sync":false},
    {"name":"quota.void_slot","method":"quotaVoidSlot","access":"write","sync":false},
    {"name":"monitor.list","method":"monitorList","access":"read","sync":true},
    {"name":"todo.supersede","method":"todoSupersede","access":"write","sync":false},
    {"name":"todo.archive","method":"todoArchive","access":"write","sync":false},
    {"name":"todo.archive_completed","method":"todoArchiveCompleted","access":"write","sync":false},
    {"name":"todo.capture_followups","method":"todoCaptureFollowups","access":"write","sync":false},
    {"name":"todo.suggest","method":"todoSuggest","access":"read","sync":true},
    {"name":"feedback","method":"feedback","access":"write","sync":false},
    {"name":"goal.accept_add","method":"goalAcceptAdd","access":"write","sync":false},
    {"name":"goal.accept_meet","method":"goalAcceptMeet","access":"write","sync":false},
    {"name":"goal.accept_list","method":"goalAcceptList","access":"read","sync":true},
    {"name":"goal.stop_all","method":"goalStopAll","access":"write","sync":false},
    {"name":"status","method":"status","access":"read","sync":true},
    {"name":"history","method":"history","access":"read","sync":true},
    {"name":"evidence_log","method":"evidenceLog","access":"read","sync":true},
    {"name":"diagnose","method":"diagnose","access":"read","sync":true},
    {"name":"explain","method":"explain","access":"read","sync":true},
    {"name":"quota.plan","method":"quotaPlan","access":"read","sync":true},
    {"name":"export","method":"export","access":"read","sync":false},
    {"name":"store.check","method":"storeCheck","access":"read","sync":false},
    {"name":"store.backup","method":"storeBackup","access":"read","sync":false},
    {"name":"store.restore","method":"storeRestore","access":"write","sync":false},
    {"name":"store.prune","method":"storePrune","access":"write","sync":false},
    {"name":"migrate","method":"migrate","access":"write","sync":false},
    {"name":"import","method":"import","access":"write","sync":false},
    {"name":"connectors.list","method":"connectorsList","access":"read","sync":true},
    {"name":"connectors.show","method":"connectorsShow","access":"read","sync":true},
    {"name":"value_connector.run","method":"valueConnectorRun","access":"write","sync":false},
    {"name":"host_mode_plan","method":"hostModePlan","access":"read","sync":true},
    {"name":"heartbeat_prompt","method":"heartbeatPrompt","access":"read","sync":true},
    {"name":"doctor","method":"doctor","access":"read","sync":true},
    {"name":"slash_commands","method":"slashCommands","access":"read","sync":true},
    {"name":"install","method":"install","access":"write","sync":false},
    {"name":"init","method":"init","access":"write","sync":false},
    {"name":"start_goal.plan","method":"startGoalPlan","access":"read","sync":true},
    {"name":"start_goal","method":"startGoal","access":"write","sync":false},
    {"name":"agent_onboard","method":"agentOnboard","access":"read","sync":true},
    {"name":"bootstrap_command_pack","method":"bootstrapCommandPack","access":"read","sync":true},
    {"name":"codex_cli_bootstrap_message","method":"codexCliBootstrapMessage","access":"read","sync":true},
    {"name":"host_loop.activate","method":"hostLoopActivate","access":"write","sync":false},
    {"name":"thread.bind","method":"threadBind","access":"write","sync":false},
    {"name":"thread.unbind","method":"threadUnbind","access":"write","sync":false},
    {"name":"thread.resolve","method":"threadResolve","access":"read","sync":true}
  ];
};

modules["retry.json"] = (module, require) => {
  module.exports = { "minutes": [3,6,12,24,30] };
};

modules["version.json"] = (module, require) => {
  module.exports = { "version": "0.1.0" };
};

modules["error.cjs"] = (module, require) => {

  /** A refusal, with the fields that the command line prints. */
  class LoopxError extends Error {
    constructor(said, options) {
      super(said.error ?? "the kernel refused", options);
      this.name = "LoopxError";
      this.code = said.error_code ?? "internal";
      this.about = said.about ?? "";
      this.nextCommand = said.next_command ?? "";
    }

    toJSON() {
      return {
        ok: false,
        error_code: this.code,
        error: this.message,
        about: this.about,
        next_command: this.nextCommand,
      };
    }

    /** From the JSON text of a refusal; what is not one becomes the message. */
    static of(text, cause) {
      try {
        return new LoopxError(JSON.parse(text), cause && { cause });
      } catch {
        return new LoopxError({ error: String(text) }, cause && { cause });
      }
    }
  }

  /** A request that is none: what of it, and what it would have to be. */
  function invalid(about, error, next = "see index.d.ts of the package loopx") {
    return new LoopxError({ error_code: "request_invalid", error, about, next_command: next });
  }

  /** A value in the words of a person who looks for a slip. */
  function named(value) {
    if (value === null) return "null";
    return Array.isArray(value) ? "an array" : { undefined: "nothing", object: "an object" }[typeof value] ?? `a ${typeof value}`;
  }

  /** An object of options with names that are known; anything else is refused. */
  function optionsOf(about, given, known) {
    if (given === null || typeof given !== "object" || Array.isArray(given)) {
      throw invalid(about, `the ${about} is an object, not ${named(given)}`);
    }
    const strange = Object.keys(given).find((name) => !known.includes(name));
    if (strange !== undefined) {
      throw invalid(about, `there is no option ${JSON.stringify(strange)} of the ${about}; known: ${known.join(", ")}`);
    }
    return given;
  }

  /** The JSON text of a value that is one. */
  function jsonOf(about, value, replacer) {
    let text;
    try {
      text = JSON.stringify(value, replacer);
    } catch (error) {
      // V8 draws a cycle over several lines.
      throw invalid(about, `the ${about} cannot be JSON: ${String(error?.message ?? error).split("\n")[0]}`);
    }
    if (text === undefined) throw invalid(about, `the ${about} is JSON, not ${named(value)}`);
    return text;
  }

  module.exports = { LoopxError, invalid, jsonOf, named, optionsOf };
};

modules["native.cjs"] = (module, require) => {

  // Finds the native module by explicit paths, says what it tried, and never throws: whoever
  // cannot load it runs the program `loopx` instead.

  const path = require("node:path");
  const { createRequire } = require("node:module");

  // The package's own, also where a bundler or a loader of a host has replaced `require`.
  const load = createRequire(__filename);
  const { version } = require("./version.json");

  function triples() {
    const { platform, arch } = process;
    // A build for the other libc does not load, and is tried next.
    if (platform === "linux") return [`linux-${arch}-gnu`, `linux-${arch}-musl`];
    if (platform === "win32") return [`win32-${arch}-msvc`];
    return [`${platform}-${arch}`];
  }

  /** Folders that a package `loopx` may be in, seen from `from`: its own and those above. */
  function packagesAbove(from) {
    const found = [];
    for (let at = path.resolve(from); ; at = path.dirname(at)) {
      if (path.basename(at) !== "node_modules") found.push(path.join(at, "node_modules", "loopx"));
      if (path.dirname(at) === at) return found;
    }
  }

  function candidates(from) {
    const given = process.env.LOOPX_NATIVE ? [process.env.LOOPX_NATIVE] : [];
    const roots = [path.join(__dirname, "..")];
    for (const folder of [__dirname, ...from]) roots.push(...packagesAbove(folder));
    const built = triples().map((triple) => path.join("native", triple, "loopx.node"));
    return [...given, ...new Set(roots.flatMap((root) => built.map((file) => path.join(root, file))))];
  }

  function attempt(file, missing) {
    if (missing(file)) return { why: "there is no such file" };
    try {
      const native = load(file);
      const found = native.version();
      // A module of another release reads and writes other shapes.
      if (found !== version) return { why: `it is version ${found}, and this is ${version}` };
      return { native };
    } catch (error) {
      return { why: String(error?.message ?? error).split("\n")[0] };
    }
  }

  /** Looks for the module: `{native, found, tried, triple}`. */
  function find(from = [], missing = (file) => !require("node:fs").existsSync(file)) {
    const tried = [];
    for (const file of candidates(from)) {
      const { native, why } = attempt(file, missing);
      if (native) return { native, found: file, tried, triple: triples()[0] };
      tried.push({ path: file, why });
    }
    return { native: null, found: null, tried, triple: triples()[0] };
  }

  let known = null;

  /** The module, looked for once; a failure is looked at again from another folder. */
  function native(from = []) {
    if (!known?.native) known = find(from);
    return known;
  }

  /** What was tried, in sentences. */
  function story({ triple, tried }) {
    const real = tried.filter(({ why }) => why !== "there is no such file");
    const lines = real.map(({ path: file, why }) => `  ${file}: ${why}`);
    const absent = tried.length - real.length;
    if (absent > 0) lines.push(`  ${absent} places without one, from ${tried[0].path} on`);
    return `there is no native module for ${triple} (${process.version}):\n${lines.join("\n")}`;
  }

  function nativeReport() {
    const { found, tried, triple } = native();
    return { found, triple, tried };
  }

  module.exports = { find, native, nativeReport, story, triples };
};

modules["binary.cjs"] = (module, require) => {

  // The kernel through the program `loopx`, where the native module does not load: the same
  // requests and answers, one process a call.

  const { execFileSync, spawn } = require("node:child_process");
  const operations = require("./operations.json");
  const { LoopxError } = require("./error.cjs");
  // The kernel's ladder, for questions that cannot be put to it.
  const { minutes: LADDER } = require("./retry.json");

  /** All that an error says; an answer that is not "ok" says more. */
  const ERROR = ["about", "error", "error_code", "next_command", "ok"].join();
  const KNOWN = new Set(operations.map(({ name }) => name));
  const WRITES = new Set(operations.filter(({ access }) => access === "write").map(({ name }) => name));
  const MOST = 64 * 1024 * 1024;
  const PATIENCE_MS = 60_000;

  function program() {
    return process.env.LOOPX_BIN || "loopx";
  }

  function gone(error, told) {
    return new LoopxError(
      {
        error_code: "native_unavailable",
        error: `${told}; the program ${JSON.stringify(program())} cannot be run either: ${error.code ?? error.message}`,
        about: "loopx",
        next_command: "npm install loopx, or name the program in LOOPX_BIN",
      },
      { cause: error },
    );
  }

  function refusal(error, next_command) {
    return `!${JSON.stringify({ ok: false, error_code: "request_invalid", error, about: "operation", next_command })}`;
  }

  /** A name that is none would be wrong usage of the program, which says so in prose. */
  function unknown(operation) {
    return KNOWN.has(operation) ? null : refusal(`there is no operation ${JSON.stringify(operation)}`, "loopx --help");
  }

  /** As the native door refuses it. */
  function writes(operation) {
    if (!WRITES.has(operation)) return null;
    return refusal(`${operation} writes, and does not run on the JavaScript thread`, "await kernel.call(operation, request)");
  }

  class BinaryDoor {
    constructor(options, told) {
      this.via = "binary";
      this.told = told;
      this.cwd = options.cwd;
      this.env = { ...process.env };
      if (options.home) this.env.HOME = options.home;
      if (options.now) this.env.LOOPX_NOW = options.now;
      if (options.label) this.env.LOOPX_AGENT_ID = options.label;
      this.flags = [];
      if (options.registry) this.flags.push("--registry", options.registry);
      if (options.runtime_root) this.flags.push("--runtime-root", options.runtime_root);
    }

    arguments(operation) {
      return [...this.flags, "--format", "json", "call", operation, "-"];
    }

    /** As the native door says it: an error begins with `!`. */
    said(operation, stdout, stderr) {
      let value;
      try {
        value = JSON.parse(stdout);
      } catch {
        const error = (stderr || "it answered nothing").trim().split("\n")[0];
        return `!${JSON.stringify({ ok: false, error_code: "internal", error, about: operation, next_command: "loopx doctor" })}`;
      }
      const refused = value?.ok === false && Object.keys(value).sort().join() === ERROR;
      return refused ? `!${stdout}` : stdout;
    }

    callSync(operation, request) {
      const refused = unknown(operation) ?? writes(operation);
      if (refused) return refused;
      const options = {
        input: request, cwd: this.cwd, env: this.env, encoding: "utf8", maxBuffer: MOST,
        timeout: PATIENCE_MS, stdio: ["pipe", "pipe", "pipe"], windowsHide: true,
      };
      try {
        return this.said(operation, execFileSync(program(), this.arguments(operation), options), "");
      } catch (error) {
        if (typeof error.status !== "number") throw gone(error, this.told);
        return this.said(operation, error.stdout, error.stderr);
      }
    }

    call(operation, request) {
      return new Promise((resolve, reject) => {
        const refused = unknown(operation);
        if (refused) return resolve(refused);
        const child = spawn(program(), this.arguments(operation), {
          cwd: this.cwd, env: this.env, windowsHide: true, stdio: ["pipe", "pipe", "pipe"],
        });
        // Not spawn's own limit: that one would keep this process when there is no program.
        const patience = setTimeout(() => child.kill(), PATIENCE_MS);
        let [stdout, stderr] = ["", ""];
        child.stdout.setEncoding("utf8").on("data", (text) => (stdout += text));
        child.stderr.setEncoding("utf8").on("data", (text) => (stderr += text));
        child.on("error", (error) => {
          clearTimeout(patience);
          reject(gone(error, this.told));
        });
        child.on("close", () => {
          clearTimeout(patience);
          resolve(this.said(operation, stdout, stderr));
        });
        child.stdin.on("error", () => {});
        child.stdin.end(request);
      });
    }

    fixClock(now) {
      if (now) this.env.LOOPX_NOW = now;
      else delete this.env.LOOPX_NOW;
      return '{"ok":true}';
    }

    now() {
      return this.env.LOOPX_NOW ? Date.parse(this.env.LOOPX_NOW) : Date.now();
    }

    session(options) {
      return new BinaryLoop(this, JSON.parse(options));
    }
  }

  /** What a person does counts, whoever has the session by now. */
  const UNCONDITIONAL = new Set([
    "activated", "aborted", "paused", "resumed", "user_prompt", "session_replaced",
  ]);
  const BY_PERSON = new Set(["aborted", "paused", "user_prompt"]);
  /** What nobody says twice; the timer or the change after a failure tells it again. */
  const ONCE = new Set(["activated", "settled", "resumed", "session_replaced", "host_error"]);
  const AGAIN = new Set(["timer", "changed"]);
  const BESIDE = new Set(["delivered", "compacted"]);

  /** The native session's part: the generation that it saw, and what is yet to be stored. */
  class BinaryLoop {
    constructor(door, template) {
      this.door = door;
      this.template = template;
      this.generation = undefined;
      this.failures = 0;
      this.waiting = [];
      this.untold = null;
    }

    async step(event) {
      let asked = JSON.parse(event);
      if (this.untold && AGAIN.has(asked.kind)) asked = this.untold;
      if (!BESIDE.has(asked.kind)) this.untold = null;
      for (const next of [...this.waiting, asked]) {
        const said = await this.send(next).catch((error) => `!${JSON.stringify(error)}`);
        if (said[0] === "!") return this.failed(asked, said);
        if (next === asked) return said;
        this.waiting.shift();
      }
    }

    /** As the kernel's own session: what a person did is owed, and everything is tried again later. */
    failed(asked, said) {
      const refusal = JSON.parse(said.slice(1));
      // Nobody can read it, now or later.
      if (refusal.error_code === "request_invalid" && refusal.about === "request") return said;
      const last = this.waiting.at(-1);
      if (BY_PERSON.has(asked.kind) && JSON.stringify(last) !== JSON.stringify(asked)) this.waiting.push(asked);
      if (ONCE.has(asked.kind)) this.untold = asked;
      let action = { kind: "idle" };
      if (refusal.error_code === "loop_unknown") {
        this.waiting = [];
        this.untold = null;
      } else {
        const minutes = LADDER[Math.min(this.failures, LADDER.length - 1)];
        this.failures += 1;
        const until = new Date(this.door.now() + minutes * 60_000);
        action = { kind: "wait", until: until.toISOString().replace(".000Z", "Z") };
      }
      return JSON.stringify({ ...refusal, ok: false, action });
    }

    async send(event) {
      const generation = UNCONDITIONAL.has(event.kind) ? undefined : this.generation;
      const request = JSON.stringify({ ...this.template, event, generation });
      const said = await this.door.call("loop.step", request);
      if (said[0] !== "!") {
        this.failures = 0;
        this.generation = JSON.parse(said).loop?.generation;
      }
      return said;
    }

    owed() {
      return JSON.stringify(this.waiting);
    }
  }

  module.exports = { BinaryDoor };
};

modules["kernel.cjs"] = (module, require) => {

  // The package's own classes over one of two doors: the native module, or the program.

  const path = require("node:path");
  const operations = require("./operations.json");
  const { BinaryDoor } = require("./binary.cjs");
  const { LoopxError, invalid, jsonOf, named, optionsOf } = require("./error.cjs");
  const { native, story } = require("./native.cjs");

  /** Text to value; a text that begins with `!` is a refusal. */
  function opened(text) {
    if (text.charCodeAt(0) === 33) throw LoopxError.of(text.slice(1));
    return JSON.parse(text);
  }

  class NativeDoor {
    constructor(module, options) {
      this.via = "native";
      this.module = module;
      try {
        this.kernel = module.NativeKernel.open(options);
      } catch (error) {
        throw LoopxError.of(error.message, error);
      }
    }

    callSync(operation, request) {
      return this.kernel.callSync(operation, request);
    }

    call(operation, request) {
      return this.kernel.call(operation, request);
    }

    fixClock(now) {
      return this.kernel.fixClock(now);
    }

    close() {
      this.kernel.close();
    }

    session(options) {
      try {
        const loop = this.module.NativeLoop.open(options);
        return { step: (event) => loop.step(this.kernel, event), owed: () => loop.owed() };
      } catch (error) {
        throw LoopxError.of(error.message, error);
      }
    }
  }

  const OPTIONS = ["registry", "runtimeRoot", "cwd", "home", "label", "independentWorktree", "deadlineMs", "now", "onNotice"];
  const FOLDERS = ["registry", "runtimeRoot", "cwd", "home"];
  const SESSION = [
    "goal_id", "surface", "session", "agent_id", "available_capabilities", "independent_worktree", "execution_context",
    "ttl_seconds", "holder_pid", "observe", "ephemeral",
  ];

  /** As the native module says it, also where the program is run. */
  const CLOSED = `!${JSON.stringify({
    ok: false, error_code: "request_invalid", error: "the kernel is closed", about: "kernel", next_command: "open another one: Kernel.open()",
  })}`;

  class ClosedDoor {
    constructor(via) {
      this.via = via;
    }

    callSync() { return CLOSED; }
    async call() { return CLOSED; }
    fixClock() { return CLOSED; }
    close() {}
    session() { throw LoopxError.of(CLOSED.slice(1)); }
  }

  let noticed = false;

  function door(given) {
    const { onNotice, ...rest } = optionsOf("options", given, OPTIONS);
    for (const name of [...FOLDERS, "label", "now"]) {
      if (typeof (rest[name] ?? "") !== "string") throw invalid(name, `${name} is a text, not ${named(rest[name])}`);
    }
    if (typeof (onNotice ?? door) !== "function") throw invalid("onNotice", `onNotice is a function, not ${named(onNotice)}`);
    const options = {
      registry: rest.registry, runtime_root: rest.runtimeRoot, cwd: rest.cwd && path.resolve(rest.cwd), home: rest.home,
      label: rest.label, independent_worktree: rest.independentWorktree,
      deadline_ms: rest.deadlineMs, now: rest.now,
    };
    const text = jsonOf("options", options);
    const looked = native(rest.cwd ? [rest.cwd] : []);
    if (looked.native) return new NativeDoor(looked.native, text);
    const told = story(looked);
    if (!noticed) {
      noticed = true;
      // Never on standard output: that may be a protocol.
      const say = onNotice ?? ((sentence) => process.stderr.write(`loopx: ${sentence}\n`));
      const deaf = ["deadlineMs", "independentWorktree"].filter((name) => rest[name] != null);
      const but = deaf.length > 0 ? ` It has no ${deaf.join(" and no ")}.` : "";
      say(`${told}\nThe program ${process.env.LOOPX_BIN || "loopx"} is run instead, once a call.${but}`);
    }
    return new BinaryDoor(options, told);
  }

  class Kernel {
    #door;

    constructor(secret, opened) {
      if (secret !== door) throw new TypeError("use Kernel.open()");
      this.#door = opened;
    }

    static open(options = {}) {
      return new Kernel(door, door(options));
    }

    get via() {
      return this.#door.via;
    }

    async call(operation, request = {}) {
      return opened(await this.#door.call(operationOf(operation), jsonOf("request", request)));
    }

    callSync(operation, request = {}) {
      return opened(this.#door.callSync(operationOf(operation), jsonOf("request", request)));
    }

    fixClock(now) {
      if (typeof (now ?? "") !== "string") throw invalid("now", `now is a text or null, not ${named(now)}`);
      opened(this.#door.fixClock(now ?? null));
    }

    close() {
      this.#door.close?.();
      this.#door = new ClosedDoor(this.via);
    }

    /** For {@link LoopSession}. */
    session(options) {
      const loop = this.#door.session(jsonOf("session", options));
      const closed = () => this.#door instanceof ClosedDoor;
      return { step: async (event) => (closed() ? CLOSED : loop.step(event)), owed: () => loop.owed() };
    }
  }

  function operationOf(name) {
    if (typeof name === "string") return name;
    throw invalid("operation", `an operation is a name like "goal.list", not ${named(name)}`, "loopx --help");
  }

  for (const { name, method, sync } of operations) {
    const value = sync
      ? function (request) { return this.callSync(name, request); }
      : function (request) { return this.call(name, request); };
    Object.defineProperty(value, "name", { value: method });
    Object.defineProperty(Kernel.prototype, method, { value, writable: true, configurable: true });
  }

  /** A person's message may be cut in the middle of a character, and it counts all the same. */
  const wellFormed = (_key, value) => (typeof value === "string" ? value.replace(/\p{Surrogate}/gu, "\ufffd") : value);

  class LoopSession {
    #loop;
    #last = Promise.resolve();

    constructor(kernel, options) {
      if (!(kernel instanceof Kernel)) throw invalid("kernel", `a LoopSession needs a Kernel, not ${named(kernel)}`);
      optionsOf("session", options, SESSION);
      for (const name of ["goal_id", "surface", "session"]) {
        if (typeof options[name] !== "string") throw invalid(name, `a LoopSession needs ${name}, a text, not ${named(options[name])}`);
      }
      this.goalId = options.goal_id;
      this.#loop = kernel.session(options);
    }

    /** Steps of a session happen one after the other, in the order of the calls. */
    async step(event) {
      const asked = typeof event === "string" ? { kind: event } : event;
      if (typeof asked?.kind !== "string") throw invalid("event", `an event is its kind, or an object with a kind, not ${named(event)}`);
      const text = jsonOf("event", asked, wellFormed);
      const next = this.#last.then(async () => opened(await this.#loop.step(text)));
      this.#last = next.catch(() => {});
      return next;
    }

    owed() {
      return opened(this.#loop.owed());
    }
  }

  module.exports = { Kernel, LoopSession };
};

modules["host-loop.cjs"] = (module, require) => {

  // What every JavaScript host does around a LoopSession: timers, the watch, and handing on
  // what the kernel answers. Nothing here decides anything.

  /** Longest sleep of one timer: a machine that slept wakes no later than this. */
  const SLICE_MS = 60_000;
  /** How often the goal is looked at for commits of others, by door. */
  const WATCH_MS = { native: 3_000, binary: 60_000 };

  const SYSTEM = {
    now: () => Date.now(),
    setTimeout: (work, ms) => {
      const timer = setTimeout(work, ms);
      timer.unref?.();
      return timer;
    },
    clearTimeout: (timer) => clearTimeout(timer),
  };

  /** What a person does: it goes before a prompt that is about to be sent. */
  const BY_PERSON = new Set(["aborted", "paused", "resumed", "user_prompt"]);

  class HostLoop {
    #kernel;
    #session;
    #host;
    #clock;
    #timer = null;
    #watch = null;
    #commit = 0;
    #mark = null;
    #disposed = false;
    /** How often a person has acted; who asked before that comes too late with a prompt. */
    #acts = 0;
    /** The prompt that was sent last: it comes back as an event, and is nobody's act. */
    #sent = null;
    /** The turn of a prompt that was not sent, as long as the loop may still have it. */
    #unsent = null;

    /**
     * `host`: `prompt(text, action)` sends a prompt, `say(notice)` tells the person, `idle()`
     * says whether the agent is at rest, `shown(answer)` is called after every step.
     */
    constructor(kernel, session, host, { clock = SYSTEM, watchMs } = {}) {
      this.#kernel = kernel;
      this.#session = session;
      this.#host = host;
      this.#clock = clock;
      this.watchMs = watchMs ?? WATCH_MS[kernel.via];
      this.last = null;
      this.#watchOn();
    }

    get goalId() {
      return this.#session.goalId;
    }

    get disposed() {
      return this.#disposed;
    }

    /**
     * Tells the kernel what happened, and does what it answers. `send` gets the prompt that
     * this very event leads to, where it is not the host's `prompt`.
     */
    async tell(event, send = (text, action) => this.#host.prompt(text, action)) {
      if (this.#disposed) return this.last;
      const { kind, prompt } = typeof event === "string" ? { kind: event } : (event ?? {});
      const own = kind === "user_prompt" && this.#sent !== null && prompt === this.#sent;
      if (BY_PERSON.has(kind) && !own) this.#acts += 1;
      const acts = this.#acts;
      let answer = await this.#session.step(event);
      if (this.#disposed) return answer;
      if (acts !== this.#acts && answer.action.kind === "prompt") {
        this.#unsent = answer.action.turn_id;
        answer = { ...answer, action: { kind: "idle" } };
      }
      this.last = answer;
      if (answer.commit) this.#commit = answer.commit;
      if (answer.notice) this.#host.say?.(answer.notice, answer);
      await this.#act(answer.action, send);
      if (acts === this.#acts) await this.#giveBack(answer);
      this.#host.shown?.(answer);
      return answer;
    }

    async #act(action, send) {
      this.#sleepNot();
      switch (action.kind) {
        case "prompt":
          this.#sent = action.text;
          return send(action.text, action);
        case "wait":
          return this.#sleepUntil(Date.parse(action.until));
        case "recheck":
          return void (await this.tell("timer", send));
        default:
      }
    }

    /** Gives the turn of an unsent prompt back where what the person did has left it. */
    async #giveBack({ action, loop }) {
      if (this.#unsent === null || !loop) return;
      const turn = this.#unsent;
      const { pending } = loop;
      if (action.kind !== "prompt" && pending?.turn_id === turn && !pending.delivered) {
        const request = { goal_id: this.goalId, turn_instance_id: turn };
        try {
          await this.#kernel.call("turn.release", loop.agent_id ? { ...request, agent_id: loop.agent_id } : request);
        } catch {
          return; // Tried again with the next event.
        }
      }
      if (this.#unsent === turn) this.#unsent = null;
    }

    /** Told only while the agent rests: what it is doing ends in an event of its own. */
    async #quietly(event) {
      if (this.#disposed || this.#host.idle?.() === false) return;
      await this.tell(event).catch(() => {});
    }

    #sleepUntil(due) {
      const left = due - this.#clock.now();
      this.#timer = this.#clock.setTimeout(
        () => (due <= this.#clock.now() ? this.#quietly("timer") : this.#sleepUntil(due)),
        Math.max(0, Math.min(SLICE_MS, left)),
      );
    }

    #sleepNot() {
      if (this.#timer !== null) this.#clock.clearTimeout(this.#timer);
      this.#timer = null;
    }

    #watchOn() {
      this.#watch = this.#clock.setTimeout(async () => {
        await this.look().catch(() => {});
        if (!this.#disposed) this.#watchOn();
      }, this.watchMs);
    }

    /** Looks whether others have committed, and tells the loop when they have. */
    async look() {
      if (this.#disposed || !this.last) return;
      const request = { goal_id: this.goalId, commit: this.#commit };
      const seen = await this.#kernel.call("goal.changed_since", request);
      if (this.#disposed || !seen.changed || seen.mark === this.#mark) return;
      if (this.#host.idle?.() === false) return;
      this.#mark = seen.mark;
      await this.tell("changed");
    }

    /** The runtime goes away; `event` is told first when there is one. */
    async dispose(event) {
      if (this.#disposed) return;
      this.#disposed = true;
      this.#sleepNot();
      this.#clock.clearTimeout(this.#watch);
      if (event) await this.#session.step(event);
    }
  }

  module.exports = { HostLoop, SLICE_MS, WATCH_MS };
};

modules["bridge.cjs"] = (module, require) => {

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
};

modules["entry"] = (module, require) => {

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
};

module.exports = within("entry");
