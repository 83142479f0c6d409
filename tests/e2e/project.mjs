// A project for a real host: the packed package, the extension as `loopx install` lays it
// down, the program on PATH, a home of its own, and canaries in places that LoopX must not
// keep anything from.

import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

import { PACKAGE } from "../node/world.mjs";

export const HOSTS = process.env.LOOPX_HOSTS_DIR ?? path.join(process.env.HOME ?? "", ".cache/loopx-hosts");
const BINARY = process.env.LOOPX_BIN_UNDER_TEST ?? path.resolve(import.meta.dirname, "../../target/debug/loopx");
export const CREDENTIAL = "ghp_0123456789abcdefghijABCDEFGHIJ012345";
export const CANARY = "canary-e3f1 the walrus at noon";

/** The README's commands for a host, as a person copies them; the last one starts it. */
export function readme(host) {
  const text = readFileSync(path.resolve(import.meta.dirname, "../../README.md"), "utf8");
  const section = text.split("## In Pi and in OpenCode")[1];
  const blocks = section.split("\n## ")[0].matchAll(/```console\n([^]*?)```/g);
  const all = [...blocks].map(([, block]) => block.trim().split("\n").map((line) => line.replace(/^\$ /, "")));
  return all.find((lines) => lines.at(-1).startsWith(`${host} `));
}

/** A folder that is the host's project, with the package and the extension in it. */
export class Project {
  constructor(host) {
    this.folder = mkdtempSync(path.join(tmpdir(), `loopx-e2e-${host}-`));
    this.home = path.join(this.folder, "home");
    this.root = path.join(this.folder, "work");
    this.scratch = path.join(this.folder, "tmp");
    mkdirSync(this.home, { recursive: true });
    mkdirSync(this.scratch);
    mkdirSync(this.root);
    this.children = [];
    if (process.env.LOOPX_PACKAGE) {
      this.asTheReadmeSays(host);
      return;
    }
    // By hand, from the sources, there is no package that could be installed.
    mkdirSync(path.join(this.root, "node_modules"));
    cpSync(PACKAGE, path.join(this.root, "node_modules/loopx"), { recursive: true });
    this.loopx("install", "--host", host, "--project", this.root);
  }

  /** A new user's commands, in an empty folder beside the clone, with an empty home. */
  asTheReadmeSays(host) {
    const [install, npm, start, ...more] = readme(host);
    assert.deepEqual([more, start.split(" ")[0]], [[], host], "three commands, and the last one starts the host");
    const [tarball] = /target\/node\/\S+\.tgz$/.exec(npm);
    const clone = path.join(this.folder, "loopx");
    mkdirSync(path.join(clone, "target/node"), { recursive: true });
    // `cargo xtask node` has packed it, and PACKAGE is installed beside it.
    cpSync(path.join(PACKAGE, "../../..", path.basename(tarball)), path.join(clone, tarball));
    const env = { ...this.env, npm_config_offline: "true", npm_config_update_notifier: "false" };
    execFileSync("sh", ["-e", "-c", `${install}\n${npm}`], { cwd: this.root, env, stdio: ["ignore", "ignore", "inherit"] });
  }

  get env() {
    return {
      ...process.env, HOME: this.home, TMPDIR: this.scratch, CANARY_TOKEN: CREDENTIAL, NODE_TEST_CONTEXT: undefined,
      PATH: `${path.dirname(BINARY)}:${process.env.PATH}`,
    };
  }

  write(file, content) {
    const at = path.join(this.folder, file);
    mkdirSync(path.dirname(at), { recursive: true });
    writeFileSync(at, typeof content === "string" ? content : JSON.stringify(content));
  }

  loopx(...args) {
    const said = execFileSync(BINARY, ["--format", "json", ...args], { cwd: this.root, env: this.env, encoding: "utf8" });
    return JSON.parse(said);
  }

  /** The loops of the project's only goal. */
  loops() {
    return this.loopx("loop", "show").loops;
  }

  spawn(program, args, env = {}, more = {}) {
    const child = spawn(program, args, { ...more, cwd: this.root, env: { ...this.env, ...env }, stdio: ["pipe", "pipe", "pipe"] });
    this.children.push(child);
    return child;
  }

  /** Holds the goal's queue as another process does; answers how to let it go. */
  async hold() {
    const lock = readdirSync(this.root, { recursive: true }).find((name) => name.endsWith("goal.db.lock"));
    const holder = this.spawn("flock", ["-x", lock, "-c", "echo held; exec sleep 60"], {}, { detached: true });
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

  /**
   * Nothing of the session and of credentials is in what LoopX keeps; `inProject` is looked
   * for in the project alone, since the global registry leads to folders of this machine.
   */
  noCanary(needles, inProject = []) {
    const state = [path.join(this.root, ".loopx"), path.join(this.home, ".loopx")];
    for (const folder of state) {
      let read = 0;
      for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
        if (!entry.isFile()) continue;
        read++;
        const file = path.join(entry.parentPath ?? entry.path, entry.name);
        const bytes = readFileSync(file);
        const here = folder === state[0] ? [...needles, ...inProject] : needles;
        for (const needle of here) assert.ok(!bytes.includes(needle), `${needle} is in ${file}`);
      }
      assert.ok(read > 0, `there is state to look through in ${folder}`);
    }
  }

  async close() {
    for (const child of this.children.filter((c) => c.exitCode === null && c.signalCode === null)) {
      const gone = new Promise((resolve) => child.once("exit", resolve));
      child.kill("SIGKILL");
      await gone;
    }
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** Waits until `found` is true; says what was there when it did not become so. */
export async function until(what, found, { seconds = 30, shown = () => "" } = {}) {
  const end = Date.now() + seconds * 1000;
  for (;;) {
    const value = await found();
    if (value) return value;
    assert.ok(Date.now() < end, `${what} did not happen in ${seconds} s\n${await shown()}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

export const seconds = (n) => new Promise((resolve) => setTimeout(resolve, n * 1000));
