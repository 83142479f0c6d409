"""The vectors that all doors agree on, and the recorded scenarios, through the wheel.

``tests/vectors/README.md`` has the format.
"""

from __future__ import annotations

import base64
import json
import os
import re
import shutil
import sys
import tempfile
import unittest
from collections import Counter
from pathlib import Path
from typing import Any

import loopx
from world import CLASSES

TESTS = Path(__file__).resolve().parent.parent
BEGIN = "2026-11-29T12:00:00Z"


def read(name: str) -> Any:
    return json.loads((TESTS / name).read_text(encoding="utf-8"))


def at(value: Any, pointer: str) -> Any:
    for key in pointer.split("/")[1:]:
        value = value[int(key) if isinstance(value, list) else key]
    return value


def put_aside(value: Any, pointer: str) -> None:
    above, _, key = pointer.rpartition("/")
    holder = at(value, above)
    holder[int(key) if isinstance(holder, list) else key] = None


def tell(tally: dict[str, Any]) -> None:
    """Where ``cargo xtask test`` compares the doors; ``tests/src/vectors/tally.rs`` writes the same.
    Each interpreter has a file of its own."""
    folder = os.environ.get("LOOPX_VECTORS_TALLY")
    if folder:
        version = ".".join(map(str, sys.version_info[:2]))
        Path(folder).mkdir(parents=True, exist_ok=True)
        text = json.dumps({"door": f"Python {version}", **tally})
        (Path(folder) / f"python-{version}.json").write_text(text, encoding="utf-8")


class World:
    """The project of one vector, in a folder that is gone with it."""

    def __init__(self) -> None:
        memory = Path("/dev/shm")
        made = tempfile.mkdtemp(prefix="loopx-", dir=memory if memory.is_dir() else None)
        self.root = Path(made).resolve()
        for name in ("project/rt", "home", "tmp"):
            (self.root / name).mkdir(parents=True)
        self.now = BEGIN
        self.open: dict[str, Any] = {"cwd": "{root}/project", "home": "{root}/home"}
        self.names = {"root": str(self.root)}
        self.opened: tuple[Any, loopx.Kernel] | None = None

    def filled(self, value: Any) -> Any:
        if isinstance(value, str):
            for name, text in self.names.items():
                value = value.replace("{" + name + "}", text)
            return value
        if isinstance(value, list):
            return [self.filled(item) for item in value]
        if isinstance(value, dict):
            return {self.filled(key): self.filled(item) for key, item in value.items()}
        return value

    def path(self, relative: str) -> Path:
        return self.root / self.filled(relative)

    def write(self, files: dict[str, Any]) -> None:
        for relative, body in files.items():
            path = self.path(relative)
            path.parent.mkdir(parents=True, exist_ok=True)
            if isinstance(body, dict) and "base64" in body:
                path.write_bytes(base64.b64decode(body["base64"]))
            else:
                text = self.filled(body)
                text = text if isinstance(text, str) else json.dumps(text, ensure_ascii=False)
                path.write_bytes(text.encode())

    def build(self, says: dict[str, Any]) -> None:
        self.open.update(says.get("open", {}))
        self.write(says.get("files", {}))
        for step in says.get("steps", []):
            if "write" in step:
                self.write(step["write"])
            elif "remove" in step:
                self.path(step["remove"]).unlink()
            elif "copy" in step:
                shutil.copyfile(*map(self.path, step["copy"]))
            elif "patch" in step:
                path = self.path(step["patch"])
                data, new = bytearray(path.read_bytes()), base64.b64decode(step["base64"])
                data[step["at"] : step["at"] + len(new)] = new
                path.write_bytes(data)
            else:
                self.take(step, self.ask(step))

    def kernel(self) -> loopx.Kernel:
        options = {k: v for k, v in self.open.items() if v is not None}
        options = self.filled({**options, "now": self.now})
        options["project"] = options.pop("cwd")
        if self.opened is None or self.opened[0] != options:
            self.opened = (options, loopx.Kernel.open(**options))
        return self.opened[1]

    def ask(self, says: dict[str, Any]) -> Any:
        self.now = says.get("now", self.now)
        request = self.filled(says.get("request", {}))
        kernel = self.kernel()
        if isinstance(request, dict):
            return kernel.call(says["operation"], request)
        return json.loads(kernel.call_json(says["operation"], json.dumps(request)))

    def take(self, says: dict[str, Any], answer: Any) -> None:
        for name, pointer in says.get("take", {}).items():
            self.names[name] = at(answer, pointer)
        for name, row in says.get("varies", {}).items():
            value = at(answer, row["at"])
            if not re.fullmatch(re.escape(row["begins"]) + "[0-9a-f]{32}", value):
                raise AssertionError(f"{value} is not {row['begins']} and 32 hex digits")
            self.names[name] = value


class Vectors(unittest.TestCase):
    maxDiff = None

    def test_every_vector(self) -> None:
        files = {path.stem: read(f"vectors/{path.name}") for path in (TESTS / "vectors").glob("*.json")}
        states = files["states"]["states"]
        total = 0
        vectors: dict[str, str] = {}
        classes: Counter[str] = Counter()
        for file, content in sorted(files.items()):
            for vector in content.get("vectors", []):
                total += 1
                name = f"{file}: {vector['name']}"
                with self.subTest(name):
                    vectors[name], refused = self.one(states, vector)
                    if refused is not None:
                        classes[refused] += 1
        print(f"vectors through Python: {len(vectors)} of {total}", flush=True)
        tell({"count": total, "passed": len(vectors), "classes": classes, "vectors": vectors})
        self.assertEqual({"count": total, "classes": classes}, read("vectors/index.json"))

    def one(self, states: dict[str, Any], vector: dict[str, Any]) -> tuple[str, str | None]:
        """``answer``, or code and class of the refusal, as the wheel said them."""
        world = World()
        try:
            if "state" in vector:
                world.build(states[vector["state"]])
            world.build(vector)
            try:
                answer = world.ask(vector)
            except loopx.LoopxError as error:
                return error.code, self.refused(world.filled(vector.get("error", {})), error)
            self.assertIn("answer", vector, answer)
            world.take(vector, answer)
            for pointer in vector.get("aside", []):
                put_aside(answer, pointer)
            self.assertEqual(answer, world.filled(vector["answer"]))
            return "answer", None
        finally:
            shutil.rmtree(world.root)

    def refused(self, whole: dict[str, Any], error: loopx.LoopxError) -> str:
        self.assertTrue(whole, f"it is to be answered: {error!r}")
        passed_on = ("error_code", "error", "about", "next_command")
        self.assertEqual(error.to_dict(), {"ok": False, **{key: whole[key] for key in passed_on}})
        self.assertEqual((error.retry, str(error)), (whole["retry"], whole["error"]))
        # Of this class and of no other: only subclasses of it may come in its place.
        said = [word for word, kind in CLASSES.items() if isinstance(error, kind)]
        self.assertEqual(said, [whole["class"]])
        return said[0]


class Scenarios(unittest.TestCase):
    """``tests/conformance/scenarios.json``, each command line as the request that it means."""

    def test_every_scenario(self) -> None:
        scenarios = read("conformance/scenarios.json")
        passed = 0
        for scenario in scenarios:
            with self.subTest(scenario["name"]):
                self.one(scenario)
                passed += 1
        print(f"scenarios through Python: {passed} of {len(scenarios)}", flush=True)
        self.assertEqual(passed, len(scenarios))

    def one(self, scenario: dict[str, Any]) -> None:
        made = Path(tempfile.mkdtemp(prefix="loopx-")).resolve()
        try:
            root = made / "project"
            for folder in (root / "rt", made / "home"):
                folder.mkdir(parents=True)
            for relative, body in scenario["files"].items():
                path = root / relative
                path.parent.mkdir(parents=True, exist_ok=True)
                if isinstance(body, dict):
                    path.write_bytes(base64.b64decode(body["base64"]))
                else:
                    path.write_bytes(body.replace("{root}", str(root)).encode())
            kernel = loopx.Kernel.open(
                root,
                registry=root / ".loopx/registry.json",
                home=made / "home",
                now=scenario["now"],
                runtime_root=root / "rt",
            )
            packet = kernel.call("quota.should_run", request_of(scenario["argv"]))
            if "exit_code" in scenario:
                self.assertEqual(packet["ok"], scenario["exit_code"] == 0)
            expect = dict(scenario["expect"])
            if scenario.get("exit_code") == 0:
                expect["rule"] = scenario["rule"]
            self.assertEqual({path: pick(packet, path) for path in expect}, expect)
        finally:
            shutil.rmtree(made)


# The words of the profiles that the scenarios name.
PROFILES = {
    "codex_app_heartbeat": ("codex_app", "host_automation", "hosted_automation"),
    "codex_cli": ("codex_cli", "agent_cli_loop", "interactive"),
    "claude_code": ("claude_code", "agent_cli_loop", "interactive"),
    "generic_cli": ("generic_cli", "agent_cli_loop", "interactive"),
    "outer_controller": ("generic_cli", "outer_controller", "isolated_headless"),
}


def request_of(argv: list[str]) -> dict[str, Any]:
    if argv[:2] != ["quota", "should-run"]:
        raise AssertionError(argv)
    request: dict[str, Any] = {}
    words = iter(argv[2:])
    for word in words:
        if word == "--codex-app":
            request["execution_context"] = profile("codex_app_heartbeat")
        elif word == "--runtime-profile":
            request["execution_context"] = profile(next(words))
        elif word == "--available-capability":
            request.setdefault("available_capabilities", []).append(next(words))
        elif word in ("--goal-id", "--agent-id", "--turn-instance-id"):
            request[word[2:].replace("-", "_")] = next(words)
        else:
            raise AssertionError(f"no request is known for {word}")
    return request


def profile(name: str) -> dict[str, str]:
    words = dict(zip(("host_surface", "scheduler_owner", "execution_mode"), PROFILES[name]))
    return {**words, "source": f"runtime_profile:{name}"}


def pick(value: Any, dotted: str) -> Any:
    for key in dotted.split("."):
        if not isinstance(value, dict) or key not in value:
            return "<absent>"
        value = value[key]
    return value


if __name__ == "__main__":
    unittest.main()
