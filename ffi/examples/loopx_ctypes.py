"""The kernel from any Python with ctypes, without a package to install.

    python3 loopx_ctypes.py ada

The library is looked for where LOOPX_LIBRARY says, then beside this file, then where the
system looks. Programs that stay use the `loopx` package; this is for where it cannot go.
"""

import ctypes
import ctypes.util
import json
import os
import sys

STATUSES = ("ok", "usage", "identity", "refused", "busy", "state", "boundary", "internal")


class LoopxError(Exception):
    """A refusal. `error` is its JSON: error_code, class, retry, about, next_command."""

    def __init__(self, error):
        super().__init__("{error} ({error_code}); {next_command}".format(**error))
        self.error = error
        self.code = error["error_code"]


def load():
    """The library, or an ImportError that says what was tried."""
    name = {"darwin": "libloopx.dylib", "win32": "loopx.dll"}.get(sys.platform, "libloopx.so")
    beside = os.path.join(os.path.dirname(os.path.abspath(__file__)), name)
    tried = []
    for path in (os.environ.get("LOOPX_LIBRARY"), beside, ctypes.util.find_library("loopx"), name):
        if not path:
            continue
        try:
            library = ctypes.CDLL(path)
            break
        except OSError as failure:
            tried.append("  {}: {}".format(path, failure))
    else:
        raise ImportError(
            "no LoopX library for {} could be loaded:\n{}\nset LOOPX_LIBRARY to its path".format(
                sys.platform, "\n".join(tried)
            )
        )
    text = ctypes.POINTER(ctypes.c_char)
    out = ctypes.POINTER(text)
    library.loopx_open.argtypes = [ctypes.c_char_p, ctypes.POINTER(ctypes.c_void_p), out]
    library.loopx_call.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_char_p, out, out]
    library.loopx_free.argtypes = [text]
    library.loopx_close.argtypes = [ctypes.c_void_p]
    library.loopx_free.restype = library.loopx_close.restype = None
    library.loopx_version.restype = ctypes.c_char_p
    return library


class Kernel:
    """A handle. Threads may share it; a forked child may go on with it."""

    def __init__(self, **options):
        self._handle = ctypes.c_void_p()
        self._library = load()
        error = ctypes.POINTER(ctypes.c_char)()
        given = json.dumps(options).encode()
        status = self._library.loopx_open(given, ctypes.byref(self._handle), ctypes.byref(error))
        self._settle(status, error)

    def call(self, operation, **request):
        """The answer of an operation; LoopxError where it is refused."""
        answer = ctypes.POINTER(ctypes.c_char)()
        error = ctypes.POINTER(ctypes.c_char)()
        given = json.dumps(request).encode()
        status = self._library.loopx_call(
            self._handle, operation.encode(), given, ctypes.byref(answer), ctypes.byref(error)
        )
        self._settle(status, error)
        return self._taken(answer)

    def version(self):
        return self._library.loopx_version().decode()

    def close(self):
        handle, self._handle = self._handle, ctypes.c_void_p()
        self._library.loopx_close(handle)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def _taken(self, text):
        try:
            return json.loads(ctypes.string_at(text))
        finally:
            self._library.loopx_free(text)

    def _settle(self, status, error):
        if status != 0:
            refusal = self._taken(error)
            assert STATUSES[status] == refusal["class"], refusal
            raise LoopxError(refusal)


def main():
    if len(sys.argv) != 2:
        print("usage: loopx_ctypes.py AGENT", file=sys.stderr)
        return 2
    try:
        with Kernel() as kernel:
            answer = kernel.call("quota.should_run", agent_id=sys.argv[1])
    except (LoopxError, ImportError) as failure:
        print(failure, file=sys.stderr)
        return 1
    print(json.dumps(answer))
    return 0 if answer["should_run"] else 3


if __name__ == "__main__":
    sys.exit(main())
