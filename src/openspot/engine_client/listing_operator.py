"""The commands `openspot market list-new`, `edit`, `open`, `delist` and `changes`: they ask the running engine."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any, NamedTuple, TypeVar

import aiohttp
from pydantic import ValidationError

from openspot.contracts.listings import ListingChange, MarketTerms, differences, fields_of
from openspot.domain.listing import ENDED
from openspot.domain.money import decimal_to_text
from openspot.engine_client.administration import Behalf, ChangeRefusedError
from openspot.engine_client.errors import EngineError
from openspot.engine_client.listing_schemas import MarketListing, NewMarketBody, RuleCheck, StatusBody, TermsChange
from openspot.engine_client.listings import EngineListings
from openspot.engine_client.settings import EngineConnectionSettings
from openspot.http.validation import Body
from openspot.kit.clock import datetime_from_ms, iso_of, ms_from_datetime

TIMEOUT_S = 10.0
CHANGED_ADVICE = (
    "nothing was changed: `openspot market changes` shows by whom it was; look again with --plan, and send the version "
    "that it shows"
)
AnyBody = TypeVar("AnyBody", bound=Body)
Value = TypeVar("Value")


class Looked(NamedTuple):
    """What an operator has looked at: the `version` of the market, empty for the one that is there now.

    With `is_plan` he looks only, and nothing is changed.
    """

    version: str = ""
    is_plan: bool = False


class ListingOperatorError(Exception):
    """A command could not be carried out; nothing was changed. The message has one line for each reason."""


async def checked(settings: EngineConnectionSettings, fields: Mapping[str, Any]) -> list[str]:
    """A line for each rule of a new market: whether it is fulfilled, or what is wrong."""
    body = _body(NewMarketBody, fields)
    results = await _ask(settings, lambda engine: engine.checks(body))
    return [_check_line(result) for result in results]


async def list_market(settings: EngineConnectionSettings, fields: Mapping[str, Any], who: str) -> list[str]:
    """List a market, and its base asset if the fields have one."""
    body = _body(NewMarketBody, fields)
    return _market_lines(await _ask(settings, lambda engine: engine.list_market(body, Behalf(who))))


async def change_market(
    settings: EngineConnectionSettings, symbol: str, fields: Mapping[str, Any], looked: Looked, who: str
) -> list[str]:
    """Change bounds, fees, texts, schedule or offers of a market, and say what that changes."""
    body = _body(TermsChange, fields)

    async def send(engine: EngineListings, version: str) -> MarketListing:
        return await engine.change(symbol, body.model_copy(update={"version": version}), Behalf(who))

    return await _changed(settings, symbol, _wanted(body), looked, send)


async def set_status(
    settings: EngineConnectionSettings, symbol: str, status: str, reason: str, looked: Looked, who: str
) -> list[str]:
    """Let a market get another status, and say what that changes."""
    body = _body(StatusBody, {"status": status, "reason": reason})

    async def send(engine: EngineListings, version: str) -> MarketListing:
        return await engine.set_status(symbol, body.model_copy(update={"version": version}), Behalf(who))

    # A market that is over offers nothing.
    ended: dict[str, Any] = {"offers": []} if status in ENDED else {}
    return await _changed(settings, symbol, {"status": status, "schedule": [], **ended}, looked, send)


async def _changed(
    settings: EngineConnectionSettings,
    symbol: str,
    wanted: Mapping[str, Any],
    looked: Looked,
    send: Callable[[EngineListings, str], Awaitable[MarketListing]],
) -> list[str]:
    """Read a market, compare it with what is wanted, and send that for the version that was seen."""

    async def work(engine: EngineListings) -> list[str]:
        market = await engine.market(symbol)
        lines = changing_lines(market, wanted)
        if looked.is_plan:
            return [*lines, f"nothing is changed yet; the market has the version {market.version}"]
        changed = await send(engine, looked.version or market.version)
        return [*lines, *_market_lines(changed)]

    return await _ask(settings, work)


def changing_lines(market: MarketListing, wanted: Mapping[str, Any]) -> list[str]:
    """A line for each field that a change gives another value, with the one before."""
    if market.terms is None:
        return []
    before = fields_of(market.terms, market.taker_fee, market.maker_fee)
    old, new = differences(before, {**before, **wanted})
    names = sorted({*old, *new})
    return [f"{name}: {old.get(name, '')!r} -> {new.get(name, '')!r}" for name in names] or ["nothing changes"]


def _wanted(body: TermsChange) -> dict[str, Any]:
    """The fields that a change sets, by their names on the wire."""
    given = body.model_dump(by_alias=True, exclude_none=True, exclude={"reason", "version"})
    fields: dict[str, Any] = {}
    for name, value in given.items():
        parts = {f"{name}.{part}": inner for part, inner in value.items()} if isinstance(value, dict) else {name: value}
        fields |= parts
    if "offers" in fields:
        fields["offers"] = sorted(fields["offers"])
    return {name: decimal_to_text(value) if isinstance(value, Decimal) else value for name, value in fields.items()}


async def listed_changes(settings: EngineConnectionSettings, symbol: str) -> list[str]:
    """The changes of a market, the newest first."""
    found = await _ask(settings, lambda engine: engine.changes(symbol))
    return [line for change in found.changes for line in _change_lines(change)]


def schedule_of(texts: Sequence[str]) -> list[dict[str, Any]]:
    """The entries of a schedule, each `STATUS=TIME` with a time in ISO 8601. Raises ListingOperatorError."""
    entries = []
    for text in texts:
        status, separator, time = text.partition("=")
        try:
            moment = datetime.fromisoformat(time)
        except ValueError as error:
            raise ListingOperatorError(
                f"--at must be STATUS=TIME, for example open=2026-12-01T12:00:00Z, not {text!r}"
            ) from error
        at = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        entries.append({"status": status if separator else "", "at": ms_from_datetime(at)})
    return entries


def terms_of(name: str, text: str) -> dict[str, str]:
    """The terms of the service `name`, written as `FIELD=VALUE,FIELD=VALUE`. Raises ListingOperatorError."""
    terms: dict[str, str] = {}
    for part in text.split(","):
        field, separator, value = (piece.strip() for piece in part.partition("="))
        if not (field and separator and value) or field in terms:
            raise ListingOperatorError(f"--{name} must be FIELD=VALUE,FIELD=VALUE with each field once, not {text!r}")
        terms[field] = value
    return terms


async def _ask(settings: EngineConnectionSettings, ask: Callable[[EngineListings], Awaitable[Value]]) -> Value:
    timeout = aiohttp.ClientTimeout(total=TIMEOUT_S)
    try:
        async with aiohttp.ClientSession(headers=settings.service_headers, timeout=timeout) as session:
            return await ask(EngineListings(session, settings.engine_url))
    except ChangeRefusedError as error:
        advice = [CHANGED_ADVICE] if error.code == "MARKET_CHANGED" else []
        raise ListingOperatorError("\n".join([*error.messages, *advice])) from error
    except EngineError as error:
        raise ListingOperatorError(str(error)) from error


def _body(shape: type[AnyBody], fields: Mapping[str, Any]) -> AnyBody:
    try:
        return shape.model_validate(dict(fields))
    except ValidationError as error:
        lines = [f"{'.'.join(str(part) for part in item['loc'])} {item['msg']}" for item in error.errors()]
        raise ListingOperatorError("\n".join(lines)) from error


def _check_line(result: RuleCheck) -> str:
    return f"{'no ' if result.fault else 'yes'} {result.field}: {result.rule}" + (
        f": {result.fault}" if result.fault else ""
    )


def _market_lines(market: MarketListing) -> list[str]:
    terms = market.terms
    if terms is None:
        return [f"{market.symbol} has no terms"]
    return [
        f"{market.symbol} is {terms.status}",
        f"  fees {market.taker_fee} and {market.maker_fee} basis points, "
        f"tick {market.tick_size}, lot {market.lot_size}",
        f"  quantity {terms.quantity_min} to {terms.quantity_max} {market.base_currency}, "
        f"notional {terms.notional_min} to {terms.notional_max} {market.quote_currency}",
        f"  limit prices up to {terms.deviation_bps_max} basis points away, market orders {terms.slippage_bps_max}",
        f"  offers {', '.join(terms.offers or ()) or 'nothing beside trading'}",
        *_schedule_lines(terms),
    ]


def _schedule_lines(terms: MarketTerms) -> list[str]:
    return [f"  {entry.status} at {iso_of(datetime_from_ms(entry.at))}" for entry in terms.schedule]


def _change_lines(change: ListingChange) -> list[str]:
    time = iso_of(datetime_from_ms(change.timestamp))
    fields = sorted({*change.before, *change.after})
    return [
        f"{time} {change.action} by {change.operator}: {change.reason}",
        *(f"  {name}: {change.before.get(name, '')!r} -> {change.after.get(name, '')!r}" for name in fields),
    ]
