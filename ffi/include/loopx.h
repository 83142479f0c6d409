/*
 * LoopX decides whether a coding agent may take its next turn. This is its kernel for C.
 * Written by `cargo xtask generate` from ffi/src/lib.rs; do not edit.
 *
 * Texts are UTF-8 and end with a NUL. Requests, answers and errors are JSON objects; the
 * operations and their requests are those of the command line: `loopx schema` describes them.
 *
 * Ownership
 *   What you pass in stays yours and is not kept after the call.
 *   Every `answer` and `error` that you are given is yours: hand it to loopx_free once, and
 *   to nothing else. Until then you may write into it, up to its NUL: taking it apart in place,
 *   as strtok does, is fine. A handle is yours until loopx_close. The text of loopx_version is
 *   never freed.
 *   A call sets its out pointers to NULL first. After LOOPX_STATUS_OK there is an answer and
 *   no error; after every other status there is an error and no answer.
 *   Where you do not want the error's text, pass NULL for `error`. loopx_free and loopx_close
 *   take NULL and do nothing. Every other NULL, and every text that is not UTF-8, is refused
 *   with LOOPX_STATUS_USAGE.
 *
 * Errors
 *   The status is the error's class. Its text says the rest:
 *     {"ok":false,"error_code":"already_claimed","class":"refused","status":3,
 *      "retry":"after_change","error":"one sentence","about":"what it concerns",
 *      "next_command":"how to go on"}
 *   `error_code` is stable and is what to compare. `retry` is `never`, `after_change` or
 *   `later`. That an agent may not run is no error: `quota.should_run` and `turn.admit` answer
 *   it with LOOPX_STATUS_OK, also where the answer says `"ok":false`.
 *   A defect inside a call is LOOPX_STATUS_INTERNAL, and the process and the handle go on.
 *
 * Threads and processes
 *   A handle may be used by any number of threads at once; only loopx_close must be alone
 *   with it. After fork() the child uses the handle that it inherited as it is: the first
 *   call opens anew, and neither process disturbs what the other has open. Do not fork while
 *   another thread is inside a call, unless the child then calls exec.
 *   Nothing is printed on standard output, no thread is started, no signal handler is set.
 */


#ifndef LOOPX_H
#define LOOPX_H

/**
 * What a call came to.
 */
typedef enum {
    /**
     * It was answered.
     */
    LOOPX_STATUS_OK = 0,
    /**
     * The request is malformed, or an argument is NULL or not UTF-8.
     */
    LOOPX_STATUS_USAGE = 1,
    /**
     * Who is asking, or about which goal, is not settled.
     */
    LOOPX_STATUS_IDENTITY = 2,
    /**
     * A rule says no.
     */
    LOOPX_STATUS_REFUSED = 3,
    /**
     * Something else holds what is needed; waiting helps.
     */
    LOOPX_STATUS_BUSY = 4,
    /**
     * Stored state is missing, unreadable or of another version.
     */
    LOOPX_STATUS_STATE = 5,
    /**
     * The text may not be stored or shown.
     */
    LOOPX_STATUS_BOUNDARY = 6,
    /**
     * A defect of LoopX.
     */
    LOOPX_STATUS_INTERNAL = 7,
} loopx_status;

/**
 * An open kernel.
 */
typedef struct loopx_handle loopx_handle;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/**
 * Opens the kernel on a registry. Reads no file of it yet, and writes none.
 *
 * `options_json` is an object; every member may be left out:
 *   `registry`              path of the registry; else `LOOPX_REGISTRY`, else the nearest
 *                           `.loopx/registry.json` upward from `cwd`, else the user's global one
 *   `runtime_root`          folder of the stores; else `LOOPX_RUNTIME_ROOT`, else as the registry says
 *   `cwd`                   absolute path that relative ones count from; else the working directory
 *   `home`                  the user's home folder; else `HOME`
 *   `label`                 who waits and holds, in records of locks; else `LOOPX_AGENT_ID`
 *   `now`                   RFC 3339 instant that every call is made at, for tests; else
 *                           `LOOPX_NOW`, else the system's clock
 *   `deadline_ms`           milliseconds that a call waits for a lock; else 30000
 *   `independent_worktree`  whether the caller works in a checkout of its own; else false
 * The environment is read here and never later. `"{}"` opens as the command line does.
 *
 * `handle` is given the new handle, which you close with `loopx_close`.
 */
loopx_status loopx_open(const char *options_json,
                        loopx_handle **handle,
                        char **error);

/**
 * Calls an operation, such as `quota.should_run` or `turn.settle`.
 *
 * `request_json` is the operation's request as an object, with `goal_id` (which may be left
 * out where the registry has one goal) and, for a write, `effect_id` beside its own members: a
 * write that is repeated with its effect id answers the first receipt and does nothing twice.
 *
 * `answer` is given the answer's JSON, which you free with `loopx_free`. It must not be NULL:
 * then nothing is done.
 */
loopx_status loopx_call(const loopx_handle *handle,
                        const char *operation,
                        const char *request_json,
                        char **answer,
                        char **error);

/**
 * Frees an `answer` or an `error`. NULL is nothing to free.
 */
void loopx_free(char *text);

/**
 * Closes a handle and frees it. No thread may be inside a call with it. NULL is nothing to
 * close. In a forked child it leaves alone what the parent has open.
 */
void loopx_close(loopx_handle *handle);

/**
 * The version of the library, such as `0.1.0`. Never freed.
 */
const char *loopx_version(void);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* LOOPX_H */
