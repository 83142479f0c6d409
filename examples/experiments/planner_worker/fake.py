"""A runtime without a provider: it answers what it was given, writes what it was told to, and
remembers what it was asked. For checks of the contract, and as the shape of a real one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from .contract import PLAN_SCHEMA, STEP_SCHEMA
from .routes import Usage
from .turn import TurnRequest, TurnResult


class FakeRuntime:
    """Answers each turn with the next of its results; a turn beyond them is a mistake."""

    def __init__(
        self,
        *results: TurnResult | Exception,
        writes: Mapping[str, str] | None = None,
        also: Callable[[TurnRequest], object] | None = None,
    ) -> None:
        self.results = list(results)
        self.writes = dict(writes or {})
        self.also = also
        self.requests: list[TurnRequest] = []

    def __call__(self, request: TurnRequest) -> TurnResult:
        self.requests.append(request)
        if not self.results:
            raise AssertionError("it was asked once more than it has answers")
        for path, text in self.writes.items():
            file = request.cwd / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
        if self.also is not None:
            self.also(request)
        result = self.results.pop(0)
        if isinstance(result, Exception):
            raise result
        return result


def completed(text: str = "", tokens: tuple[int, int] | None = (100, 50)) -> TurnResult:
    """A turn that ended well, with its tokens where it reports them."""
    return TurnResult("completed", text, None if tokens is None else Usage(*tokens))


def step(step_id: str = "one", order: int = 1, **changed: Any) -> dict[str, Any]:
    """A whole step that a cheap worker can do, with what is changed of it."""
    return {
        "schema_version": STEP_SCHEMA,
        "step_id": step_id,
        "planner_order": order,
        "role": "worker",
        "target_files": ["answer.txt"],
        "action_kind": "create",
        "recommended_executor": "cheap_worker",
        "worker_model_tier": "cheap",
        "worker_autonomy": "narrow",
        "worker_ready": True,
        "worker_blockers": [],
        "context_budget": {
            "max_files": 1,
            "max_bytes_per_file": 1000,
            "allow_extra_files": False,
        },
        "research_summary": "",
        "implementation_notes": [],
        "instruction": "Write the answer into answer.txt.",
        "depends_on": [],
        "validation_commands": ["python3 check.py"],
        "done_criteria": ["check.py passes"],
        "escalation_policy": "Say what is missing, and stop.",
        "verification": "check.py reads the answer.",
        **changed,
    }


def plan(steps: Sequence[Mapping[str, Any]], **changed: Any) -> dict[str, Any]:
    """A whole plan of these steps."""
    return {
        "schema_version": PLAN_SCHEMA,
        "plan_id": "plan-1",
        "objective": "The answer is written down",
        "steps": [dict(one) for one in steps],
        **changed,
    }
