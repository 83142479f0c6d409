"""A process between a check and whoever asked for it. On Linux it adopts what the check starts, so
that also what has left the check's session ends with it; the caller's own process could not, since
its other children are none of the check's. When the caller is gone it ends the check, too, and takes
away what the check kept for itself.

It is run as a script: a line of JSON on standard input, the report as JSON on standard output. The
end of standard input stops the check.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
import threading
from dataclasses import asdict


def main() -> None:
    line = b""
    while not line.endswith(b"\n"):
        block = os.read(0, 64 * 1024)
        if not block:
            return
        line += block
    given = json.loads(line)
    # The caller's, which need not be that of a new interpreter; and this folder, which a new one
    # may be told not to look in.
    sys.path[:] = [os.path.dirname(os.path.abspath(__file__)), *given["path"]]
    from shelter import remove

    from loopx.worker.posix import Process

    process = Process()
    process.listen()

    gone = threading.Event()

    def watch() -> None:
        with contextlib.suppress(OSError):
            while os.read(0, 4096):
                pass
        gone.set()
        process.stops.append(signal.SIGTERM)
        process.ring()

    threading.Thread(target=watch, daemon=True).start()
    report = process.run(**given["asked"], everything=True, inherit=False)
    if gone.is_set():
        remove(given["shelter"])
    with contextlib.suppress(OSError):
        os.write(1, json.dumps(asdict(report)).encode())


if __name__ == "__main__":
    main()
