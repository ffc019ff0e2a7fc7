"""Quotes and conversions. A conversion is one transfer: it moves all of its amounts, or none."""

import asyncio
import os
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Protocol

from openspot.domain.fair_price.crossing import AssetPrice
from openspot.domain.fair_price.model import FairPrice
from openspot.domain.fair_price.reference import DOLLAR
from openspot.domain.ids import CONVERSIONS_ACCOUNT_ID, FEE_ACCOUNT_ID, short_id
from openspot.domain.market import MarketConfiguration
from openspot.domain.market_phase import MarketPhase
from openspot.domain.money import AMOUNT_SCALE, amount_to_text, parse_decimal, to_amount
from openspot.domain.result_code import ResultCode
from openspot.domain.transfer import Movement, TransferKind
from openspot.engine_client.errors import EngineError
from openspot.engine_client.participant_schemas import ACTIVE
from openspot.engine_client.queries import EngineQueries
from openspot.engine_transfers.model import Transfer, TransferResult
from openspot.engine_transfers.runner import UNSENT, TransferRunner
from openspot.http.errors import HttpError, service_unavailable, validation_error
from openspot.http.paging import Page, page_of, time_and_id_of, time_place
from openspot.kit.clock import Clock, iso_of, utc_datetime
from openspot.kit.database import Connection
from openspot.kit.log import get_logger
from openspot.kit.sql import numeric
from openspot.rest_edge.common.amounts import amount_of_asset
from openspot.rest_edge.products.conversions.exposure import (
    WINDOW,
    ExposureError,
    ExposureLimits,
    check_exposure,
)
from openspot.rest_edge.products.conversions.pricing import (
    Amounts,
    AmountTooSmallError,
    BookTooThinError,
    Pair,
    bounded,
    price_of_destination,
    price_of_source,
    steps_of,
    value_in_cents,
    without_own,
)
from openspot.rest_edge.products.conversions.schemas import ConversionResponse, PairResponse, QuoteBody, QuoteResponse
from openspot.rest_edge.products.conversions.standing import LEVELS, Side, StandingBooks
from openspot.rest_edge.products.conversions.store import Conversion, ConversionStore, Quote
from openspot.rest_edge.products.known_offers import require_known_offers

log = get_logger("conversions")

INVENTORY = "INVENTORY_INSUFFICIENT"
FUNDS = "RISK_NSF"
PRICE_UNCERTAIN = "PRICE_UNCERTAIN"
QUOTES_KEPT = timedelta(days=1)
_RANDOM_BYTES = 16


class ConversionRules:
    """Handles the outcome of a conversion's transfer."""

    is_owed = False

    def __init__(self, store: ConversionStore, engine: EngineQueries) -> None:
        self._store = store
        self._engine = engine

    async def before(self, transfer: Transfer) -> None:
        """Do nothing."""

    async def settle(self, connection: Connection, transfer: Transfer, result: TransferResult, now: datetime) -> None:
        """Write `completed`, or `failed` with the reason."""
        code = None if result.succeeded else result.code
        if code == FUNDS:
            code = await self._whose_funds(transfer)
        await self._store.settle(connection, transfer.subject_id, code, now)

    async def _whose_funds(self, transfer: Transfer) -> str:
        """Find out whose funds are insufficient, the user's or the inventory's, because the engine does not say."""
        paid = next(movement for movement in transfer.movements if movement.source == CONVERSIONS_ACCOUNT_ID)
        try:
            return FUNDS if await inventory_of(self._engine, paid.asset) >= to_amount(paid.amount) else INVENTORY
        except EngineError:
            return FUNDS


async def inventory_of(engine: EngineQueries, asset: str) -> int:
    """The amount of an asset that the inventory can pay, in units of 18 places. Raises EngineError."""
    return await funds_of(engine, CONVERSIONS_ACCOUNT_ID, asset)


async def funds_of(engine: EngineQueries, account: str, asset: str) -> int:
    """The amount of an asset that an account can pay, in units of 18 places. Raises EngineError."""
    for balance in await engine.balances(account):
        if balance.asset == asset:
            return to_amount(parse_decimal(balance.available)) - to_amount(parse_decimal(balance.reserved))
    return 0


class FairPriceSource(Protocol):
    """The present fair prices."""

    def of(self, symbol: str) -> FairPrice | None:
        """The fair price of a market; None if it never had one."""

    def of_assets(self, valuation_asset: str) -> Mapping[str, AssetPrice]:
        """The price of each asset in `valuation_asset`."""


class ConversionService:
    """Handles the requests to the conversion routes. Methods raise HttpError to refuse a request."""

    def __init__(
        self,
        store: ConversionStore,
        engine: EngineQueries,
        runner: TransferRunner,
        fair_prices: FairPriceSource,
        pairs: Mapping[tuple[str, str], Pair],
        markets: MarketConfiguration,
        clock: Clock,
        *,
        spread_bps: int,
        quote_life: timedelta,
        limits: ExposureLimits,
        standing_s: float,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._store = store
        self._engine = engine
        self._runner = runner
        self._fair_prices = fair_prices
        self._pairs = pairs
        self._markets = markets
        self._assets = markets.assets
        self._clock = clock
        self._spread_bps = spread_bps
        self._quote_life = quote_life
        self._limits = limits
        self._books = StandingBooks(standing_s)
        self._monotonic = monotonic

    def pairs(self) -> list[PairResponse]:
        """Every possible conversion, by assets. 503 while nobody knows what markets offer."""
        require_known_offers(self._markets)
        return [
            PairResponse(
                from_asset=pair.source_asset,
                to_asset=pair.destination_asset,
                symbol=pair.symbol,
                minimum=amount_to_text(pair.minimum),
                maximum=amount_to_text(pair.maximum),
            )
            for _, pair in sorted(self._pairs.items())
        ]

    async def quote(self, user_id: str, body: QuoteBody) -> QuoteResponse:
        """Price a conversion for the whole amount, and store the quote for the user."""
        pair = self._pairs.get((body.from_asset, body.to_asset))
        if pair is None:
            require_known_offers(self._markets)
            raise HttpError(404, f"{body.from_asset} cannot be converted into {body.to_asset}", "PAIR_NOT_FOUND")
        await self._require_active(user_id)
        await self._require_trading(pair.symbol)
        fair = self._certain_price(pair)
        amounts = await self._priced(user_id, pair, fair, body)
        if not pair.minimum <= amounts.source <= pair.maximum:
            bounds = f"{amount_to_text(pair.minimum)} and {amount_to_text(pair.maximum)} {pair.source_asset}"
            raise validation_error(
                [f"fromAmount must be between {bounds}, and would be {amount_to_text(amounts.source)}"]
            )
        value_cents = self._value(pair, amounts)
        read_at = utc_datetime(self._clock)
        try:
            inventory = await inventory_of(self._engine, pair.destination_asset)
            funds = await funds_of(self._engine, user_id, pair.source_asset)
        except EngineError as error:
            raise service_unavailable("the matching engine does not respond") from error
        if inventory < amounts.destination:
            log.warning("the inventory does not cover a conversion", asset=pair.destination_asset)
            raise _inventory_insufficient(pair.destination_asset)
        now = utc_datetime(self._clock)
        quote = Quote(
            quote_id=short_id(os.urandom(_RANDOM_BYTES)),
            user_id=user_id,
            symbol=pair.symbol,
            source_asset=pair.source_asset,
            destination_asset=pair.destination_asset,
            source_amount=amounts.source,
            destination_amount=amounts.destination,
            spread_amount=amounts.spread,
            spread_bps=self._spread_bps,
            value_cents=value_cents,
            is_funded=False,
            created_at=now,
            expires_at=now + self._quote_life,
        )
        async with self._store.pool.acquire() as connection, connection.transaction():
            await self._store.lock_exposure(connection)
            about = user_id, pair.source_asset
            # The same money funds one quote at a time, or it would reserve an asset's share for all many times over.
            promised = await self._store.promised(connection, *about, now - WINDOW, read_at, now)
            quote = replace(quote, is_funded=funds - promised >= amounts.source)
            await self._check_exposure(connection, quote, now)
            await self._store.add_quote(connection, quote)
        return _quote_response(quote)

    def _certain_price(self, pair: Pair) -> FairPrice:
        """The fair price of a pair's market. Raises HttpError (409) unless it is good enough to deal at."""
        symbol = pair.symbol
        fair = self._fair_prices.of(symbol)
        if fair is None:
            reason = f"{symbol} has no fair price yet: one comes with its first orders and trades"
        elif not fair.state.is_usable:
            reason = f"the price of {symbol} is not certain now: {fair.reason or f'it is {fair.state}'}"
        elif pair.needs_confirmed and not fair.is_confirmed:
            reason = f"the price of {symbol} is not certain now: neither a venue nor the operator confirms it"
        else:
            return fair
        details = {"symbol": symbol, "state": "none" if fair is None else fair.state.value}
        raise HttpError(409, f"{reason}; try again later", PRICE_UNCERTAIN, details=details)

    def _value(self, pair: Pair, amounts: Amounts) -> int:
        """The higher of the values of the two amounts, in US cents. Raises HttpError (409) if neither has one."""
        prices = self._fair_prices.of_assets(DOLLAR)
        both = ((pair.source_asset, amounts.source), (pair.destination_asset, amounts.destination))
        values = [value_in_cents(amount, prices[asset].high) for asset, amount in both if asset in prices]
        if not values:
            message = f"nobody knows now what {pair.source_asset} is worth in dollars; try again later"
            raise HttpError(409, message, PRICE_UNCERTAIN, details={"symbol": pair.symbol, "state": "none"})
        return max(values)

    async def _check_exposure(self, connection: Connection, quote: Quote, now: datetime) -> None:
        """Raise HttpError (409) if a limit leaves no room for the quote. The caller holds the lock of exposure."""
        before = await self._store.exposure(connection, quote, now - WINDOW, now)
        try:
            check_exposure(self._limits, before, quote)
        except ExposureError as error:
            raise HttpError(409, str(error), "CONVERSION_LIMIT") from error

    async def sample_books(self) -> None:
        """Look at the books of all markets, to know later what has stood. A book that cannot be read is left out."""
        symbols = sorted({pair.symbol for pair in self._pairs.values()})
        await asyncio.gather(*(self._sample(symbol) for symbol in symbols))

    async def _sample(self, symbol: str) -> None:
        try:
            book = await self._engine.book(symbol, LEVELS)
        except EngineError:
            return
        if book is not None:
            self._books.add(symbol, self._monotonic(), book.bids, book.asks)

    async def _priced(self, user_id: str, pair: Pair, fair: FairPrice, body: QuoteBody) -> Amounts:
        source = destination = 0
        if body.from_amount is not None:
            source = amount_of_asset("fromAmount", body.from_amount, self._assets[pair.source_asset])
        else:
            assert body.to_amount is not None, "the body has one of the two"
            destination = amount_of_asset("toAmount", body.to_amount, self._assets[pair.destination_asset])
        try:
            book = await self._engine.book(pair.symbol, LEVELS)
        except EngineError as error:
            raise service_unavailable("the matching engine does not respond") from error
        if book is None:
            raise HttpError(404, f"Market {pair.symbol} not found", "MARKET_NOT_FOUND")
        own = await self._store.own_levels(user_id, pair.symbol, bids=pair.sells_base)
        others = without_own(book.bids if pair.sells_base else book.asks, own)
        levels = self._books.standing(pair.symbol, self._monotonic(), Side(others, pair.sells_base))
        steps = bounded(pair, steps_of(pair, levels, levels), fair)
        try:
            if source:
                return price_of_source(pair, steps, self._spread_bps, source)
            return price_of_destination(pair, steps, self._spread_bps, destination)
        except BookTooThinError:
            message = (
                f"orders of others in the book of {pair.symbol} that have stood for some seconds do not cover the "
                "whole amount: take less, or try again in a moment"
            )
            raise HttpError(409, message, "INSUFFICIENT_LIQUIDITY") from None
        except AmountTooSmallError:
            raise validation_error(
                [f"fromAmount is worth less than the smallest amount of {pair.destination_asset}"]
            ) from None

    async def convert(self, user_id: str, quote_id: str) -> ConversionResponse:
        """Execute a quote once. A repeated call returns the same conversion, or raises the same refusal."""
        done = await self._store.of_quote(quote_id, user_id)
        if done is not None:
            return _outcome(done)
        await self._require_active(user_id)
        async with self._store.pool.acquire() as connection, connection.transaction():
            transfer = await self._begin(connection, user_id, quote_id)
        if transfer is not None:
            await self._runner.attempt(transfer)
        conversion = await self._store.of_quote(quote_id, user_id)
        assert conversion is not None, "it was written before"
        return _outcome(conversion)

    async def _require_active(self, user_id: str) -> None:
        """Raise HttpError (409) unless the user may trade: conversions are no orders, so the engine would move them.

        503 if the engine does not say. A user whom it does not know cannot be frozen.
        """
        try:
            state = await self._engine.participant_state(user_id)
        except EngineError as error:
            raise service_unavailable("the matching engine does not respond") from error
        if state not in (ACTIVE, None):
            message = f"your account is {state}: nothing is converted"
            raise HttpError(409, message, ResultCode.PARTICIPANT_INACTIVE.name)

    async def _require_trading(self, symbol: str) -> None:
        """Raise HttpError (409) unless a market trades continuously: else its fair price is that of before.

        503 if the engine does not say. A quote of before is good for as long as any.
        """
        try:
            market = next((each for each in await self._engine.markets() if each.symbol == symbol), None)
        except EngineError as error:
            raise service_unavailable("the matching engine does not respond") from error
        phase = market.phase if market is not None and market.active else MarketPhase.HALTED.text
        if phase != MarketPhase.CONTINUOUS.text:
            message = f"the price of {symbol} is not certain now: its market does not trade continuously"
            details = {"symbol": symbol, "state": phase}
            raise HttpError(409, f"{message}; try again later", PRICE_UNCERTAIN, details=details)

    async def _begin(self, connection: Connection, user_id: str, quote_id: str) -> Transfer | None:
        """Write the conversion and its transfer. None if another request has done so meanwhile."""
        quote = await self._store.lock_quote(connection, quote_id, user_id)
        if quote is None:
            raise HttpError(404, "quote not found", "QUOTE_NOT_FOUND")
        if await self._store.is_used(connection, quote_id):
            return None
        now = utc_datetime(self._clock)
        if now >= quote.expires_at:
            raise HttpError(409, "the quote has expired: ask for a new one", "QUOTE_EXPIRED")
        await self._store.lock_exposure(connection)
        await self._check_exposure(connection, quote, now)
        conversion = Conversion(
            conversion_id=short_id(os.urandom(_RANDOM_BYTES)),
            quote_id=quote_id,
            user_id=user_id,
            source_asset=quote.source_asset,
            destination_asset=quote.destination_asset,
            source_amount=quote.source_amount,
            destination_amount=quote.destination_amount,
            spread_amount=quote.spread_amount,
            status="pending",
            failure_code=None,
            created_at=now,
            completed_at=None,
            value_cents=quote.value_cents,
        )
        await self._store.add(connection, conversion)
        transfer = transfer_of(conversion)
        await self._runner.begin(connection, transfer)
        return transfer

    async def conversion(self, user_id: str, conversion_id: str) -> ConversionResponse:
        """One conversion of the user. 404 if this user has no such conversion."""
        conversion = await self._store.get(conversion_id, user_id)
        if conversion is None:
            raise HttpError(404, "conversion not found", "CONVERSION_NOT_FOUND")
        return _conversion_response(conversion)

    async def conversions(self, user_id: str, limit: int, cursor: str | None) -> Page[ConversionResponse]:
        """A page of the user's conversions, newest first."""
        rows = await self._store.list_of(user_id, limit + 1, time_and_id_of(cursor))
        return page_of(rows, limit, lambda row: time_place(row.created_at, row.conversion_id), _conversion_response)

    async def delete_expired(self) -> None:
        """Delete the quotes that expired long ago."""
        await self._store.delete_expired(utc_datetime(self._clock) - QUOTES_KEPT)


def transfer_of(conversion: Conversion) -> Transfer:
    """The transfer of a conversion. Its movements are the converted amount, the spread and the destination amount."""
    user, source, destination = conversion.user_id, conversion.source_asset, conversion.destination_asset
    converted = conversion.source_amount - conversion.spread_amount
    movements = [Movement(user, CONVERSIONS_ACCOUNT_ID, source, numeric(converted))]
    if conversion.spread_amount:
        movements.append(Movement(user, FEE_ACCOUNT_ID, source, numeric(conversion.spread_amount)))
    movements.append(Movement(CONVERSIONS_ACCOUNT_ID, user, destination, numeric(conversion.destination_amount)))
    return Transfer(
        f"conversion:{conversion.conversion_id}",
        TransferKind.CONVERSION,
        conversion.conversion_id,
        tuple(movement for movement in movements if movement.amount),
    )


def _outcome(conversion: Conversion) -> ConversionResponse:
    """The response to a conversion. Raises HttpError if it was refused."""
    if conversion.status != "failed":
        return _conversion_response(conversion)
    details = {"conversionId": conversion.conversion_id}
    if conversion.failure_code == INVENTORY:
        raise _inventory_insufficient(conversion.destination_asset, details)
    if conversion.failure_code == UNSENT:
        message = "the matching engine does not respond; nothing was moved: ask for a new quote"
        raise HttpError(503, message, UNSENT, details=details, headers={"Retry-After": "1"})
    raise HttpError(400, conversion.failure_code or "", "TRANSFER_REFUSED", details=details)


def _inventory_insufficient(asset: str, details: dict[str, str] | None = None) -> HttpError:
    return HttpError(409, f"the platform has too little {asset} for this conversion now", INVENTORY, details=details)


def _ratio(numerator: int, denominator: int) -> str:
    """Return numerator / denominator with 18 places, rounded half up."""
    scaled = (2 * numerator * AMOUNT_SCALE + denominator) // (2 * denominator)
    return amount_to_text(scaled)


def _quote_response(quote: Quote) -> QuoteResponse:
    return QuoteResponse(
        quote_id=quote.quote_id,
        from_asset=quote.source_asset,
        to_asset=quote.destination_asset,
        from_amount=amount_to_text(quote.source_amount),
        to_amount=amount_to_text(quote.destination_amount),
        price=_ratio(quote.destination_amount, quote.source_amount),
        inverse_price=_ratio(quote.source_amount, quote.destination_amount),
        spread_bps=quote.spread_bps,
        spread_amount=amount_to_text(quote.spread_amount),
        created_at=iso_of(quote.created_at),
        expires_at=iso_of(quote.expires_at),
    )


def _conversion_response(row: Conversion) -> ConversionResponse:
    return ConversionResponse(
        id=row.conversion_id,
        quote_id=row.quote_id,
        status=row.status,
        from_asset=row.source_asset,
        to_asset=row.destination_asset,
        from_amount=amount_to_text(row.source_amount),
        to_amount=amount_to_text(row.destination_amount),
        spread_amount=amount_to_text(row.spread_amount),
        price=_ratio(row.destination_amount, row.source_amount),
        failure_code=row.failure_code,
        created_at=iso_of(row.created_at),
        completed_at=None if row.completed_at is None else iso_of(row.completed_at),
    )
