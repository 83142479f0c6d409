"""Which model does what, and what it costs. Nothing is guessed: a route that is not given is not
there, and a price that is not given makes the cost incomplete."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

from .contract import ContractError

ROLES = ("planner", "cheap_worker", "strong_worker")
_MILLION = Decimal(1_000_000)


@dataclass(frozen=True)
class ModelRoute:
    """The model of a role, and how hard it is to think."""

    model: str
    effort: str


@dataclass(frozen=True)
class Price:
    """What a model costs: amounts for a million tokens, in one currency."""

    input_per_million: Decimal
    output_per_million: Decimal
    currency: str


@dataclass(frozen=True)
class Usage:
    """Tokens of one turn; None for a count that the provider did not report."""

    input_tokens: int | None
    output_tokens: int | None

    @property
    def is_complete(self) -> bool:
        return self.input_tokens is not None and self.output_tokens is not None


@dataclass(frozen=True)
class TotalUsage:
    """Tokens of the whole call. Complete only when every turn reported both counts at its end."""

    complete: bool
    input_tokens: int | None
    output_tokens: int | None
    total_tokens: int | None


@dataclass(frozen=True)
class Cost:
    """What the call cost, or why nobody can say."""

    complete: bool
    amount: Decimal | None
    currency: str | None
    reason: Literal["usage_incomplete", "pricing_missing", "currencies_differ"] | None


Spent = Sequence[tuple[ModelRoute, "Usage | None"]]
"""Each turn that was made, with what it reported."""


def checked(routes: Mapping[str, ModelRoute]) -> dict[str, ModelRoute]:
    """The routes that were given, each by a role that there is, and one for the planner."""
    for role, route in routes.items():
        if role not in ROLES:
            raise ContractError(f"there is no role {role!r}; there are {', '.join(ROLES)}")
        if not isinstance(route, ModelRoute) or not route.model.strip() or not route.effort.strip():
            raise ContractError(f"the route of {role} names a model and an effort")
    if "planner" not in routes:
        raise ContractError("the model route of the planner is not given")
    return dict(routes)


def total(spent: Spent) -> TotalUsage:
    reported = [usage for _, usage in spent if usage is not None and usage.is_complete]
    if len(reported) != len(spent):
        return TotalUsage(False, None, None, None)
    given = sum(usage.input_tokens or 0 for usage in reported)
    made = sum(usage.output_tokens or 0 for usage in reported)
    return TotalUsage(True, given, made, given + made)


def cost(spent: Spent, pricing: Mapping[str, Price] | None) -> Cost:
    """What the turns cost by the prices that were given, one for each model."""
    if not total(spent).complete:
        return Cost(False, None, None, "usage_incomplete")
    amount = Decimal(0)
    currencies = set()
    for route, usage in spent:
        price = (pricing or {}).get(route.model)
        if price is None or usage is None:
            return Cost(False, None, None, "pricing_missing")
        currencies.add(price.currency)
        amount += price.input_per_million * (usage.input_tokens or 0) / _MILLION
        amount += price.output_per_million * (usage.output_tokens or 0) / _MILLION
    if len(currencies) != 1:
        return Cost(False, None, None, "currencies_differ")
    return Cost(True, amount, currencies.pop(), None)
