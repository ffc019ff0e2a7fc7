"""The plans of the subscription service, held as configuration (plans.toml)."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from itertools import pairwise
from typing import Any, TypeVar

from openspot.domain.money import AMOUNT_PLACES, MoneyError, parse_decimal, to_amount, to_scaled
from openspot.domain.symbol import CURRENCY_TEXT


class PlanError(ValueError):
    """The configuration breaks a rule; the message names the place and the reason."""


@dataclass(frozen=True, slots=True)
class PlanAccess:
    """The features and the limits of a user, by name."""

    features: frozenset[str]
    limits: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Plan:
    """A plan. `prices` are for one period of `interval_months`, by asset, at 18 places; `rank` orders upgrades.

    A plan that is not active takes no new subscribers; present subscribers keep it.
    """

    plan_id: str
    name: str
    rank: int
    interval_months: int
    active: bool
    prices: Mapping[str, int]
    access: PlanAccess


@dataclass(frozen=True, slots=True)
class PlanConfiguration:
    """The whole configuration file, plans by id in the order of their ranks."""

    plans: Mapping[str, Plan]
    free: PlanAccess
    payment_token: str
    places: Mapping[str, int]
    retry_days: tuple[int, ...]

    def offered(self) -> list[Plan]:
        """The plans that can be subscribed to."""
        return [plan for plan in self.plans.values() if plan.active]


def load_plans(text: str | None = None) -> PlanConfiguration:
    """Parse `text` (TOML), or by default the file of the package. Raises PlanError if it breaks a rule."""
    try:
        document = tomllib.loads(text or files("openspot.subscriptions").joinpath("plans.toml").read_text("utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise PlanError(f"plans are not valid TOML: {error}") from error
    places = _value("", document, "places", dict)
    for asset in places:
        if not CURRENCY_TEXT.fullmatch(asset):
            raise PlanError(f"places names {asset}, which is no asset")
        if not 0 <= _value("places.", places, asset, int) <= AMOUNT_PLACES:
            raise PlanError(f"places.{asset} must lie between 0 and {AMOUNT_PLACES}")
    rows = _value("", document, "plans", dict)
    plans = [_plan(plan_id, _value("plans.", rows, plan_id, dict), places) for plan_id in rows]
    retry_days = _value("", document, "retry_days", list)
    if any(type(day) is not int for day in retry_days):
        raise PlanError("retry_days must hold whole numbers")
    configuration = PlanConfiguration(
        {plan.plan_id: plan for plan in sorted(plans, key=lambda plan: plan.rank)},
        _access("free.", _value("", document, "free", dict)),
        _value("", document, "payment_token", str),
        places,
        tuple(retry_days),
    )
    _check(configuration)
    return configuration


_KINDS = {dict: "a table", list: "a list", str: "a text", int: "a whole number", bool: "true or false"}

Value = TypeVar("Value")


def _value(where: str, row: Mapping[str, Any], name: str, kind: type[Value]) -> Value:
    """The value `name` of a table. Raises PlanError if it is missing or of another kind."""
    if name not in row:
        raise PlanError(f"{where}{name} is missing")
    value = row[name]
    # Not isinstance: Python counts true as a whole number.
    if type(value) is not kind:
        raise PlanError(f"{where}{name} must be {_KINDS[kind]}")
    return value


def _plan(plan_id: str, row: Mapping[str, Any], places: Mapping[str, int]) -> Plan:
    where = f"plans.{plan_id}."
    texts = _value(where, row, "prices", dict)
    prices = {asset: _price(f"{where}prices.", texts, asset, places) for asset in texts}
    if not prices:
        raise PlanError(f"{where}prices is empty")
    interval = _value(where, row, "interval_months", int)
    if not 1 <= interval <= 12:
        raise PlanError(f"{where}interval_months must lie between 1 and 12")
    return Plan(
        plan_id,
        _value(where, row, "name", str),
        _value(where, row, "rank", int),
        interval,
        _value(where, row, "active", bool),
        prices,
        _access(where, row),
    )


def _price(where: str, texts: Mapping[str, Any], asset: str, places: Mapping[str, int]) -> int:
    if asset not in places:
        raise PlanError(f"{where}{asset} has no entry in places")
    try:
        price = parse_decimal(_value(where, texts, asset, str))
        to_scaled(price, 10 ** places[asset])
        amount = to_amount(price)
    except MoneyError as error:
        raise PlanError(f"{where}{asset} {error}") from error
    if amount <= 0:
        raise PlanError(f"{where}{asset} must be positive")
    return amount


def _access(where: str, row: Mapping[str, Any]) -> PlanAccess:
    features = _value(where, row, "features", list)
    if any(type(feature) is not str for feature in features):
        raise PlanError(f"{where}features must hold texts")
    limits = _value(where, row, "limits", dict)
    for name in limits:
        if _value(f"{where}limits.", limits, name, int) < 0:
            raise PlanError(f"{where}limits.{name} must not be negative")
    return PlanAccess(frozenset(features), limits)


def _check(configuration: PlanConfiguration) -> None:
    if not configuration.plans:
        raise PlanError("plans is empty")
    if configuration.payment_token not in configuration.places:
        raise PlanError("payment_token has no entry in places")
    days = configuration.retry_days
    if not days or days[0] < 1 or any(later <= earlier for earlier, later in pairwise(days)):
        raise PlanError("retry_days must be positive and grow")
    plans = list(configuration.plans.values())
    if len({plan.rank for plan in plans}) != len(plans):
        raise PlanError("two plans have the same rank")
    for plan in plans:
        if plan.access.limits.keys() != configuration.free.limits.keys():
            raise PlanError(f"plans.{plan.plan_id}.limits must name the same limits as free.limits")
