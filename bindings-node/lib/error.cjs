"use strict";

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
