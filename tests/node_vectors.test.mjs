// The vectors that all doors agree on, through the native module, and through the program that is run
// where there is none. tests/vectors/README.md has the format.

import assert from "node:assert/strict";
import { copyFileSync, cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, realpathSync, rmSync, unlinkSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import path from "node:path";
import test from "node:test";
import { fileURLToPath } from "node:url";

import { PACKAGE, loopx } from "./node/world.mjs";

const require = createRequire(import.meta.url);
const FOLDER = path.join(path.dirname(fileURLToPath(import.meta.url)), "vectors");
const BEGIN = "2026-11-29T12:00:00Z";
const read = (name) => JSON.parse(readFileSync(path.join(FOLDER, name), "utf8"));

const at = (value, pointer) => pointer.split("/").slice(1).reduce((found, key) => found[key], value);

class World {
  constructor(door) {
    this.door = door;
    const parent = existsSync("/dev/shm") ? "/dev/shm" : tmpdir();
    this.root = realpathSync(mkdtempSync(path.join(parent, "loopx-")));
    for (const name of ["project/rt", "home", "tmp"]) mkdirSync(path.join(this.root, name), { recursive: true });
    this.now = BEGIN;
    this.options = { cwd: "{root}/project", home: "{root}/home" };
    this.names = new Map([["root", this.root]]);
  }

  filled(value) {
    if (typeof value === "string") {
      for (const [name, text] of this.names) value = value.replaceAll(`{${name}}`, text);
      return value;
    }
    if (Array.isArray(value)) return value.map((item) => this.filled(item));
    if (value === null || typeof value !== "object") return value;
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [this.filled(key), this.filled(item)]));
  }

  path(relative) {
    return path.join(this.root, this.filled(relative));
  }

  write(files = {}) {
    for (const [relative, body] of Object.entries(files)) {
      const file = this.path(relative);
      mkdirSync(path.dirname(file), { recursive: true });
      if (body.base64 !== undefined) writeFileSync(file, Buffer.from(body.base64, "base64"));
      else writeFileSync(file, typeof body === "string" ? this.filled(body) : JSON.stringify(this.filled(body)));
    }
  }

  async build(says) {
    Object.assign(this.options, says.open);
    this.write(says.files);
    for (const step of says.steps ?? []) {
      if (step.write) this.write(step.write);
      else if (step.remove) unlinkSync(this.path(step.remove));
      else if (step.copy) copyFileSync(...step.copy.map((name) => this.path(name)));
      else if (step.patch) {
        const bytes = readFileSync(this.path(step.patch));
        Buffer.from(step.base64, "base64").copy(bytes, step.at);
        writeFileSync(this.path(step.patch), bytes);
      } else this.take(step, await this.ask(step));
    }
  }

  kernel() {
    const given = Object.entries(this.options).filter(([, value]) => value !== null);
    const options = this.filled(Object.fromEntries(given));
    const key = JSON.stringify(options);
    if (this.opened !== key) {
      const { runtime_root: runtimeRoot, ...rest } = options;
      this.open = this.door.Kernel.open({ ...rest, runtimeRoot, now: this.now, onNotice() {} });
      assert.equal(this.open.via, this.door === loopx ? "native" : "binary");
      this.opened = key;
    }
    this.open.fixClock(this.now);
    return this.open;
  }

  async ask(says) {
    this.now = says.now ?? this.now;
    return this.kernel().call(says.operation, this.filled(says.request === undefined ? {} : says.request));
  }

  take(says, answer) {
    for (const [name, pointer] of Object.entries(says.take ?? {})) this.names.set(name, at(answer, pointer));
    for (const [name, { at: pointer, begins }] of Object.entries(says.varies ?? {})) {
      const value = at(answer, pointer);
      assert.ok(value.startsWith(begins) && /^[0-9a-f]{32}$/.test(value.slice(begins.length)), value);
      this.names.set(name, value);
    }
  }
}

async function one(door, states, vector) {
  const world = new World(door);
  try {
    if (vector.state) await world.build(states[vector.state]);
    await world.build(vector);
    let answer;
    try {
      answer = await world.ask(vector);
    } catch (error) {
      if (!(error instanceof door.LoopxError)) throw error;
      const { error_code, error: sentence, about, next_command } = world.filled(vector.error ?? {});
      assert.deepEqual(error.toJSON(), { ok: false, error_code, error: sentence, about, next_command });
      return error.code;
    }
    assert.ok(vector.answer, `it is to be refused: ${JSON.stringify(answer)}`);
    world.take(vector, answer);
    for (const pointer of vector.aside ?? []) {
      const cut = pointer.lastIndexOf("/");
      at(answer, pointer.slice(0, cut))[pointer.slice(cut + 1)] = null;
    }
    assert.deepEqual(answer, world.filled(vector.answer));
    return "answer";
  } finally {
    rmSync(world.root, { recursive: true, force: true });
  }
}

/** Where cargo xtask test compares the doors; tests/src/vectors/tally.rs writes the same. */
function tell(file, tally) {
  const folder = process.env.LOOPX_VECTORS_TALLY;
  if (!folder) return;
  mkdirSync(folder, { recursive: true });
  writeFileSync(path.join(folder, file), JSON.stringify(tally));
}

async function all(door, name, told) {
  const names = readdirSync(FOLDER).filter((file) => file.endsWith(".json")).sort();
  const { states } = read("states.json");
  const failed = [];
  const vectors = {};
  const classes = {};
  let total = 0;
  for (const file of names) {
    for (const vector of read(file).vectors ?? []) {
      total += 1;
      const whole = `${path.basename(file, ".json")}: ${vector.name}`;
      try {
        vectors[whole] = await one(door, states, vector);
        if (vectors[whole] !== "answer") {
          // The class that the catalogue has for the code that the door answered: errors of the package name none.
          const program = process.env.LOOPX_BIN_UNDER_TEST ?? path.join(FOLDER, "../../target/debug/loopx");
          const { errors } = JSON.parse(require("node:child_process").execFileSync(program, ["errors", "--format", "json"]));
          const refused = errors.find((row) => row.error_code === vectors[whole])?.class ?? "none";
          classes[refused] = (classes[refused] ?? 0) + 1;
        }
      } catch (error) {
        failed.push(`${whole}: ${error.message}`);
      }
    }
  }
  const passed = Object.keys(vectors).length;
  console.log(`vectors through ${name}: ${passed} of ${total}`);
  tell(`${told.toLowerCase().replaceAll(" ", "-")}.json`, { door: told, count: total, passed, classes, vectors });
  assert.deepEqual(failed, []);
  assert.deepEqual({ count: passed, classes }, read("index.json"));
}

test("vectors through Node", () => all(loopx, "Node", "Node"));

test("vectors through the program in Node's place", async (t) => {
  const bare = mkdtempSync(path.join(tmpdir(), "loopx-node-"));
  t.after(() => rmSync(bare, { recursive: true, force: true }));
  cpSync(PACKAGE, bare, { recursive: true, filter: (from) => path.basename(from) !== "native" });
  const given = { LOOPX_BIN: process.env.LOOPX_BIN_UNDER_TEST ?? path.join(FOLDER, "../../target/debug/loopx") };
  const before = { LOOPX_BIN: process.env.LOOPX_BIN, LOOPX_NATIVE: process.env.LOOPX_NATIVE };
  t.after(() => {
    for (const [name, value] of Object.entries(before)) value === undefined ? delete process.env[name] : (process.env[name] = value);
  });
  delete process.env.LOOPX_NATIVE;
  Object.assign(process.env, given);
  await all(require(bare), "the program in Node's place", "Node by the program");
});
