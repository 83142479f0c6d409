// Made by `cargo xtask generate` from the table of operations and the JSON Schemas of the
// kernel. Do not edit: a test compares it with what the sources say.

/** Any answer. `ok` is false only where a refusal is an answer (`shouldRun`, `turnAdmit`). */
export interface Answer {
  ok: boolean;
  [field: string]: unknown;
}

/** What `loop.step` and a {@link LoopSession} answer. */
export interface LoopAnswer extends Answer {
  /** What the host does next. */
  action: LoopAction;
  /** What a person is told, when it is something new. */
  notice?: LoopNotice;
  /** How the loop stands. */
  loop?: Record<string, unknown>;
  /** What of the decision a host shows. */
  decision?: Record<string, unknown>;
  /** Number of the last commit; see `goalChangedSince`. */
  commit?: number;
}

/** What `goal.changed_since` answers. */
export interface ChangedSince extends Answer {
  /** The last commit. */
  commit: number;
  /** Something that decisions go by changed. */
  changed: boolean;
  /** The state file has hand edits that the next write takes in. */
  edited: boolean;
  /** Differs whenever the answer would tell something new. */
  mark: string;
}

