import type { Kernel, LoopAnswer, LoopEvent, LoopSession } from "../index";

/** What the person is told. */
export type Notice = NonNullable<LoopAnswer["notice"]>;
/** A prompt as the kernel hands it out. */
export type Prompt = Extract<LoopAnswer["action"], { kind: "prompt" }>;

/** The host of a loop. */
export interface Host {
  /** Sends a prompt to the session. */
  prompt(text: string, action: Prompt): unknown;
  /** Tells the person something. */
  say?(notice: Notice, answer: LoopAnswer): void;
  /** Whether the agent is at rest; it is when absent. */
  idle?(): boolean;
  /** Called after every step. */
  shown?(answer: LoopAnswer): void;
}

/** Timers and the time of day; the system's when absent. */
export interface HostClock<Timer = unknown> {
  /** Milliseconds since the epoch. */
  now(): number;
  setTimeout(work: () => unknown, ms: number): Timer;
  clearTimeout(timer: Timer): void;
}

export interface HostLoopOptions {
  clock?: HostClock<any>;
  /** How often the goal is looked at for commits of others, in ms. */
  watchMs?: number;
}

/**
 * A loop with its timers: tells the kernel what happened, does what it answers, and looks for
 * commits of others. A prompt that a person has overtaken meanwhile is not sent.
 */
export class HostLoop {
  constructor(kernel: Kernel, session: LoopSession, host: Host, options?: HostLoopOptions);
  readonly goalId: string;
  readonly disposed: boolean;
  /** The last answer. */
  readonly last: LoopAnswer | null;
  readonly watchMs: number;
  /**
   * Tells the kernel what happened, and does what it answers. `send` gets the prompt that
   * this very event leads to, where it is not the host's `prompt`.
   */
  tell(event: LoopEvent | LoopEvent["kind"], send?: Host["prompt"]): Promise<LoopAnswer>;
  /** Looks whether others have committed, and tells the loop when they have. */
  look(): Promise<void>;
  /** Ends timers and watch; `event` is told first when there is one. */
  dispose(event?: LoopEvent | LoopEvent["kind"]): Promise<void>;
}

/** Longest sleep of one timer, in ms. */
export const SLICE_MS: number;
/** How often the goal is looked at when nothing else is said, by door, in ms. */
export const WATCH_MS: { readonly native: number; readonly binary: number };
