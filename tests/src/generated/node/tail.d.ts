}

/** Who loops where, for a {@link LoopSession}. */
export interface LoopSessionOptions
  extends Omit<LoopStepRequest, "event" | "generation" | "effect_id" | "goal_id"> {
  /** The goal that the session follows. */
  goal_id: string;
}

/**
 * A host's loop in its process. What matters is in the store; this holds the generation
 * that it saw, the failures in a row, and what a person did while the store could not be
 * reached. Steps of one session happen one after the other.
 */
export class LoopSession {
  constructor(kernel: Kernel, options: LoopSessionOptions);
  readonly goalId: string;
  /** Tells the loop what happened. A step that fails is an answer with `ok: false`. */
  step(event: LoopEvent | LoopEvent["kind"]): Promise<LoopAnswer>;
  /** What a person did that is not stored yet. */
  owed(): LoopEvent[];
}

/** The version of this package. */
export const version: string;
/** Where the native module was looked for, and what became of it. */
export function nativeReport(): {
  found: string | null;
  triple: string;
  tried: { path: string; why: string }[];
};
