"""Which model does what, and what it costs. Nothing is guessed: a route that is not given is not
there, and a price that is not given makes the cost incomplete."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Context, Decimal, localcontext
from typing import Literal

from .contract import ContractError

ROLES = ("planner", "cheap_worker", "strong_worker")
MOST = 10**15
"""The largest price and the largest count of tokens: more is a mistake."""
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
    if not isinstance(routes, Mapping):
        raise ContractError("model routes are a mapping of roles")
    for role, route in routes.items():
        if role not in ROLES:
            raise ContractError(f"there is no role {role!r}; there are {', '.join(ROLES)}")
        if not isinstance(route, ModelRoute) or not _is_word(route.model) or not _is_word(route.effort):
            raise ContractError(f"the route of {role} names a model and an effort")
    if "planner" not in routes:
        raise ContractError("the model route of the planner is not given")
    return dict(routes)


def priced(pricing: Mapping[str, Price] | None) -> dict[str, Price]:
    """The prices that were given, each a finite amount from 0 up, in a currency."""
    if pricing is None:
        return {}
    if not isinstance(pricing, Mapping):
        raise ContractError("prices are a mapping of models")
    for model, price in pricing.items():
        if not _is_word(model) or not isinstance(price, Price) or not _is_word(price.currency):
            raise ContractError("a price is one of a model, in a currency")
        for amount in (price.input_per_million, price.output_per_million):
            if not isinstance(amount, Decimal) or not amount.is_finite() or not 0 <= amount <= MOST:
                raise ContractError(f"a price of {model} is not a Decimal from 0 to {MOST}")
    return dict(pricing)


def is_usage(usage: object) -> bool:
    """Whether this is what a turn may report: whole numbers from 0 up, or nothing."""
    if usage is None:
        return True
    return isinstance(usage, Usage) and all(
        count is None or (type(count) is int and 0 <= count <= MOST)
        for count in (usage.input_tokens, usage.output_tokens)
    )


def _is_word(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip())


def total(spent: Spent) -> TotalUsage:
    reported = [usage for _, usage in spent if usage is not None and usage.is_complete]
    if len(reported) != len(spent):
        return TotalUsage(False, None, None, None)
    given = sum(usage.input_tokens or 0 for usage in reported)
    made = sum(usage.output_tokens or 0 for usage in reported)
    return TotalUsage(True, given, made, given + made)


def cost(spent: Spent, pricing: Mapping[str, Price] | None) -> Cost:
    """What the turns cost by the prices that were given, one for each model."""
    # Not in the caller's context, which may round or raise.
    with localcontext(Context(prec=100)):
        return _cost(spent, pricing)


def _cost(spent: Spent, pricing: Mapping[str, Price] | None) -> Cost:
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
