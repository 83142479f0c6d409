"use strict";

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
