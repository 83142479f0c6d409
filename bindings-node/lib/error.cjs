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

module.exports = { LoopxError };
