/** A refusal. `code` is stable; `loopx errors` lists every one. */
export class LoopxError extends Error {
  readonly name: "LoopxError";
  /** Stable code, such as `goal_not_found`; `native_unavailable` when neither module nor program runs. */
  readonly code: string;
  /** What it is about. */
  readonly about: string;
  /** The command that goes on. */
  readonly nextCommand: string;
  /** The refusal as the command line prints it. */
  toJSON(): Record<string, unknown>;
}

/** How a kernel is opened. What is left out comes from the environment, as for `loopx`. */
export interface KernelOptions {
  /** Registry file; else `LOOPX_REGISTRY`, else the nearest `.loopx` upward from `cwd`. */
  registry?: string;
  /** Folder of the stores. */
  runtimeRoot?: string;
  /** Working folder, that of the process when absent. */
  cwd?: string;
  /** Home folder of the user. */
  home?: string;
  /** Who waits and holds, in lock records. */
  label?: string;
  /** The door works in a checkout of its own. Nothing to the program that is run without a native module. */
  independentWorktree?: boolean;
  /** Longest wait for a lock off this thread, in ms; 30,000 when absent, and always for the program. */
  deadlineMs?: number;
  /** A fixed clock for tests and replays, RFC 3339. */
  now?: string;
  /** Called once when there is no native module and `loopx` is run instead. */
  onNotice?: (sentence: string) => void;
}

/** The kernel on one registry. */
export class Kernel {
  private constructor();
  /** Opens the kernel. Reads nothing yet. */
  static open(options?: KernelOptions): Kernel;
  /** `native`, or `binary` where the program `loopx` is run for each call. */
  readonly via: "native" | "binary";
  /** Any operation, off this thread. Refusals reject with {@link LoopxError}. */
  call<O extends keyof Operations>(
    operation: O,
    request?: Operations[O]["request"],
  ): Promise<Operations[O]["answer"]>;
  /** A read, on this thread. Waits at most 50 ms for a lock, then throws `store_busy`. */
  callSync<O extends ReadOperation>(
    operation: O,
    request?: Operations[O]["request"],
  ): Operations[O]["answer"];
  /** Fixes the clock for tests and replays; `null` lets it go. */
  fixClock(now: string | null): void;
  /**
   * Lets go of the files that it has open. Calls that are under way end as they would have; every
   * later one is refused with `request_invalid`. Once more is nothing.
   */
  close(): void;
