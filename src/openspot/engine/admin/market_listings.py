"""Lists markets and changes their listing: bounds, fees, texts, status and schedule, each change with its reason.

A change is one entry of the journal: all of its commands are stored, or none. So nothing that ends the engine leaves a
market half listed. The rules are in domain/listing.py.
"""

from collections.abc import Sequence
from decimal import Decimal
from typing import NamedTuple

import msgspec

from openspot.contracts.listings import (
    ListingChange,
    MarketTerms,
    PaymentOffer,
    StakingOffer,
    StatusAt,
    fields_of,
    version_of,
)
from openspot.domain.listing import (
    ENDED,
    LOGO_TEXT,
    PHASED,
    TRADING,
    ListingCheck,
    MarketStatus,
    ProposedBounds,
    ProposedMarket,
    ScheduledStatus,
    Surroundings,
    asset_checks,
    bound_checks,
    faults,
    fee_checks,
    market_checks,
    schedule_checks,
    status_fault,
    text_checks,
)
from openspot.domain.market_phase import MarketPhase
from openspot.domain.money import decimal_to_text, parse_decimal, scaled_to_text
from openspot.domain.offer_checks import offer_checks, rate_check
from openspot.domain.result_code import ResultCode
from openspot.domain.symbol import SymbolSpec
from openspot.engine.admin.acting import Acting
from openspot.engine.admin.listing_commands import PHASES, change_of, described, noted, phase_command, update
from openspot.engine.admin.listings import ListingError, Listings, changed_fields, created_symbol, symbol_fields
from openspot.engine.admin.margin_markets import delisting_refusal, due_by_itself
from openspot.engine.core.protocol import SymbolPhase
from openspot.engine.core.records import Command, CommandKind, CreateSymbol, decode_results
from openspot.engine.engine import Engine
from openspot.engine.intake.refusal import IntakeRefusal
from openspot.engine.intake.sequencer import EngineBusyError
from openspot.engine.state.directory import DESCRIBING_KINDS, NOTE_ACTION, Currency, Note
from openspot.engine.transport.schemas import SymbolBody, SymbolChange
from openspot.engine_client.listing_schemas import BoundsBody, NewMarketBody, StatusAtBody, StatusBody, TermsChange
from openspot.http.errors import HttpError, validation_error
from openspot.kit.clock import NANOSECONDS_PER_MS

CANCELS_MAX = 500
"""Orders of a market that is delisted are cancelled so many at a time, so that commands of others come between."""
ENGINE = "engine"
"""Who makes the changes that a schedule or a delisting leads to."""
NO_REASON = "no reason given, on the page of symbols"
"""The reason of a change that asks for none."""


class MarketView(NamedTuple):
    """A market with its terms, which are None for a symbol that was created without any, and its version.

    `phase` is None in continuous trading; `phase_cause` says why the engine itself began the phase.
    """

    spec: SymbolSpec
    terms: MarketTerms | None
    version: str
    phase: SymbolPhase | None
    phase_cause: str


class MarketListings:
    """The listing of one engine's markets.

    Methods raise HttpError (400, every field at fault; 409), ListingError, IntakeRefusal, EngineStoppedError.
    """

    def __init__(self, engine: Engine, listings: Listings) -> None:
        self._engine = engine
        self._directory = engine.machine.directory
        self._listings = listings
        self._has_phases = engine.settings.has_complete_rules

    def view(self, symbol: str) -> MarketView:
        """A market as it is now."""
        return self._view(self._listings.symbol(symbol))

    def all(self) -> list[MarketView]:
        """Every market, in the order of their numbers."""
        specs = sorted(self._directory.symbols.values(), key=lambda spec: spec.symbol_id)
        return [self._view(spec) for spec in specs]

    def _view(self, spec: SymbolSpec) -> MarketView:
        terms = self._engine.board.terms(spec)
        changes = self._directory.changes.get(spec.symbol_id)
        changed_at = changes[-1].timestamp if changes else 0
        version = version_of(terms, spec.taker_fee_bps, spec.maker_fee_bps, changed_at)
        return MarketView(spec, terms, version, self._listings.phase(spec), self._listings.phase_cause(spec))

    def changes(self, symbol: str) -> list[ListingChange]:
        """The changes of a market, the newest first."""
        return list(reversed(self._directory.changes.get(self._listings.symbol(symbol).symbol_id, [])))

    def checks(self, body: NewMarketBody) -> list[ListingCheck]:
        """Every rule for a new market, each with what is wrong."""
        known = self._directory.currencies
        base, _, quote = body.symbol.partition("-")
        asset = body.asset
        found: list[ListingCheck] = []
        base_places = known[base].places if base in known else None
        if asset is not None:
            found = asset_checks(asset.currency, asset.places, asset.name, asset.logo, frozenset(known))
            own = "" if asset.currency == base else f"must be {base}, the base asset of the symbol"
            found.append(ListingCheck("asset.currency", "the base asset of the symbol", own))
            # A name that is none is a fault already.
            missing = self._engine.settings.coin_pictures.fault(asset.logo) if LOGO_TEXT.fullmatch(asset.logo) else ""
            found.append(ListingCheck("asset.logo", "a picture in the folder of the brand, or empty", missing))
            base_places = asset.places if asset.currency == base else base_places
        market = ProposedMarket(
            symbol=body.symbol,
            base_places=base_places,
            quote_places=known[quote].places if quote in known else None,
            tick=body.tick_size,
            lot=body.lot_size,
            taker_fee_bps=body.taker_fee,
            maker_fee_bps=body.maker_fee,
            bounds=bounds_of(body),
            name=body.name,
            announcement=body.announcement,
            status=MarketStatus(body.status),
            schedule=_schedule_of(body.schedule),
            steps=_steps_of(self._unlisted(body.symbol)),
        )
        return [*found, *market_checks(market, self._surroundings())]

    async def list_market(self, body: NewMarketBody, acting: Acting) -> MarketView:
        """List a market, with its base asset if the body has one. Both are there afterwards, or neither.

        A symbol that was created alone becomes a market in this way: it keeps its number, steps and orders.
        """
        self._check_followed()
        async with self._engine.listing_turn:
            await self._engine.sequencer.settle()
            _refuse(faults(self.checks(body)))
            status = MarketStatus(body.status)
            bounds = bounds_of(body)
            terms = MarketTerms(
                quantity_min=decimal_to_text(bounds.quantity_min),
                quantity_max=decimal_to_text(bounds.quantity_max),
                notional_min=decimal_to_text(bounds.notional_min),
                notional_max=decimal_to_text(bounds.notional_max),
                deviation_bps_max=bounds.deviation_bps_max,
                slippage_bps_max=bounds.slippage_bps_max,
                status=status.value,
                name=body.name,
                announcement=body.announcement,
                schedule=[StatusAt(entry.status, entry.at) for entry in body.schedule],
                offers=[],
            )
            known = self._unlisted(body.symbol)
            spec = known or self._specification(body)
            work: list[tuple[Command | CreateSymbol, Note]] = []
            numbers = {name: currency.currency_id for name, currency in self._directory.currencies.items()}
            if body.asset is not None:
                asset = body.asset
                numbers[asset.currency] = self._directory.next_currency_id()
                created = Currency(asset.currency, numbers[asset.currency], asset.name, asset.places, asset.logo)
                work.append((Command(CommandKind.CREATE_CURRENCY, symbol=created.currency_id), created.note))
            is_active = status in TRADING
            if known is None:
                work.append((created_symbol(spec, numbers[spec.base], numbers[spec.quote]), (spec.symbol,)))
            if known is not None or not is_active:
                work.append((update(spec, active=is_active, taker=body.taker_fee, maker=body.maker_fee), ()))
            if status in PHASED:
                work.append((phase_command(spec, status), ()))
            after = fields_of(terms, body.taker_fee, body.maker_fee)
            change = change_of(acting.operator, "list", body.reason, {}, after)
            work.append(described(spec, terms, change))
            steps = {name: str(symbol_fields(spec)[name]) for name in ("tickSize", "lotSize")}
            change = msgspec.structs.replace(change, after=change.after | steps)
            await self._carry_out(work, body.symbol, noted(acting, spec, change))
            return self.view(body.symbol)

    async def change(self, symbol: str, body: TermsChange, acting: Acting) -> MarketView:
        """Change bounds, fees, texts, schedule or offers of a market. What is not given stays as it is.

        409 `MARKET_CHANGED` if the body names another version of the market.
        """
        self._check_followed()
        async with self._engine.listing_turn:
            await self._engine.sequencer.settle()
            spec, known = self._listed(symbol)
            self._refuse_outdated(symbol, body.version)
            given = body.model_dump(exclude_unset=True, exclude_none=True)
            terms = msgspec.structs.replace(
                known,
                **{name: value for name, value in given.items() if name in _TEXTS_AND_BANDS},
                **{name: decimal_to_text(value) for name, value in given.items() if name in _BOUNDS},
            )
            if body.schedule is not None:
                terms = msgspec.structs.replace(
                    terms, schedule=[StatusAt(entry.status, entry.at) for entry in body.schedule]
                )
            terms = _with_offers(terms, body)
            taker = spec.taker_fee_bps if body.taker_fee is None else body.taker_fee
            maker = spec.maker_fee_bps if body.maker_fee is None else body.maker_fee
            lot = parse_decimal(scaled_to_text(spec.lot, spec.base_scale_k))
            checks = [
                *fee_checks(taker, maker),
                *bound_checks(terms.bounds, lot),
                *text_checks(terms.name, terms.announcement),
            ]
            if body.schedule is not None:
                checks += schedule_checks(_schedule_of(body.schedule), known.market_status, self._surroundings())
            if not (body.offers is None and body.payments is None and body.staking is None):
                checks += self._offer_checks(spec, terms, body)
            _refuse(faults(checks))
            before = fields_of(known, spec.taker_fee_bps, spec.maker_fee_bps)
            after = fields_of(terms, taker, maker)
            if before == after:
                return self.view(symbol)
            work: list[tuple[Command | CreateSymbol, Note]] = []
            if (taker, maker) != (spec.taker_fee_bps, spec.maker_fee_bps):
                work.append((update(spec, active=spec.active, taker=taker, maker=maker), ()))
            change = change_of(acting.operator, "change", body.reason, before, after)
            work.append(described(spec, terms, change))
            await self._carry_out(work, symbol, noted(acting, spec, change))
            return self.view(symbol)

    async def change_symbol(self, name: str, change: SymbolChange, acting: Acting) -> SymbolSpec:
        """Change fees or activity of a symbol, as the page of symbols does; such a change may have no reason.

        Fees of a listed market are in its history, too, which is one entry of the journal with the change.
        """
        follows, terms = self._engine.settings.follows_listings, self.view(name).terms
        if terms is None or not follows or (change.taker_fee is None and change.maker_fee is None):
            return await self._listings.change_symbol(name, change, acting)
        async with self._engine.listing_turn:
            await self._engine.sequencer.settle()
            spec, known = self._listed(name)
            changed = self._listings.changed(spec, change)
            taker, maker = changed.taker_fee_bps, changed.maker_fee_bps
            before, after = fields_of(known, spec.taker_fee_bps, spec.maker_fee_bps), fields_of(known, taker, maker)
            work: list[tuple[Command | CreateSymbol, Note]] = [
                (update(spec, active=changed.active, taker=taker, maker=maker), ())
            ]
            if before != after:
                reason = acting.reason or NO_REASON
                work.append(described(spec, known, change_of(acting.operator, "change", reason, before, after)))
            old, new = changed_fields(symbol_fields(spec), symbol_fields(changed))
            await self._carry_out(work, name, acting.note("symbols.change", ("symbol", name), old, new))
            return changed

    async def set_status(self, symbol: str, body: StatusBody, acting: Acting) -> MarketView:
        """Let a market get another status. Its schedule ends with that.

        409 `MARKET_CHANGED` if the body names another version of the market; `DELISTING_NOT_SCHEDULED` or
        `MARGIN_NOT_ASKED` for a delisting where margin offers the market.
        """
        self._check_followed()
        async with self._engine.listing_turn:
            await self._engine.sequencer.settle()
            spec, known = self._listed(symbol)
            self._refuse_outdated(symbol, body.version)
            status = MarketStatus(body.status)
            fault = status_fault(known.market_status, status, has_phases=self._has_phases)
            _refuse([f"status {fault}"] if fault else [])
            if status is MarketStatus.DELISTING:
                # Without the version, nobody knows of which market margin was asked.
                was_asked = body.margin_asked and body.version is not None
                if refusal := delisting_refusal(symbol, known, was_asked=was_asked):
                    code, message = refusal
                    raise HttpError(409, message, code)
            await self._enter(spec, known, status, [], body.reason, acting)
            return self.view(symbol)

    # What the engine does by itself

    def due(self, now_ms: int) -> list[str]:
        """The markets for which `advance` has something to do."""
        return [
            spec.symbol
            for spec in self._directory.symbols.values()
            if (terms := self._directory.terms.get(spec.symbol_id)) is not None
            and (terms.status == MarketStatus.DELISTING.value or _is_due(spec.symbol, terms, now_ms))
        ]

    def next_time_ms(self) -> int | None:
        """When the next scheduled status is due, in milliseconds since 1970; None if there is none."""
        terms = self._directory.terms
        known = ((spec.symbol, terms.get(spec.symbol_id)) for spec in self._directory.symbols.values())
        entries = (due_by_itself(symbol, each.schedule) for symbol, each in known if each is not None)
        return min((entry.at for entry in entries if entry is not None), default=None)

    async def advance(self, symbol: str) -> None:
        """Give a market the status that is due, or end its delisting. Does nothing if nothing is due."""
        async with self._engine.listing_turn:
            await self._engine.sequencer.settle()
            spec, known = self._listed(symbol)
            if _is_due(symbol, known, self._engine.sequencer.now() // NANOSECONDS_PER_MS):
                entry, *rest = known.schedule
                status = MarketStatus(entry.status)
                fault = status_fault(known.market_status, status, has_phases=self._has_phases)
                reason = f"scheduled for {entry.at}" + (f", but {fault}" if fault else "")
                status = known.market_status if fault else status
                await self._enter(spec, known, status, rest, reason)
            elif known.market_status is MarketStatus.DELISTING:
                await self._end_orders(spec, known)

    async def _end_orders(self, spec: SymbolSpec, known: MarketTerms) -> None:
        """Cancel some open orders of a market, or say that it has none."""
        open_orders = self._engine.machine.orders.open_orders
        found: list[int] = []
        for (_, symbol), sides in open_orders.items():
            if symbol == spec.symbol_id:
                found += [order_id for side in sides for order_id in side]
            if len(found) >= CANCELS_MAX:
                break
        if found:
            work = [(Command(CommandKind.CANCEL, order_id=order_id), ()) for order_id in found[:CANCELS_MAX]]
            await self._submit(work)
        else:
            await self._enter(spec, known, MarketStatus.DELISTED, [], "no order is open any more")

    # Commands

    async def _enter(
        self,
        spec: SymbolSpec,
        known: MarketTerms,
        status: MarketStatus,
        schedule: list[StatusAt],
        reason: str,
        acting: Acting | None = None,
    ) -> None:
        """Let a market get a status, by itself if nobody is `acting`."""
        work: list[tuple[Command | CreateSymbol, Note]] = []
        active = status in TRADING
        if spec.active != active:
            work.append((update(spec, active=active), ()))
        phase = self._listings.phase(spec)
        present = MarketPhase.CONTINUOUS if phase is None else MarketPhase(phase.phase)
        if active and present is not PHASES[status] and status is not known.market_status:
            if present is MarketPhase.UNCROSSING:
                raise ListingError(ResultCode.PHASE_UNCROSSING, f"{spec.symbol}: an auction is being traded")
            work.append((phase_command(spec, status), ()))
        terms = msgspec.structs.replace(known, status=status.value, schedule=schedule)
        if status in ENDED:
            # It offers nothing when it is announced again, either.
            terms = msgspec.structs.replace(terms, offers=[])
        fees = spec.taker_fee_bps, spec.maker_fee_bps
        operator = acting.operator if acting else ENGINE
        change = change_of(operator, "status", reason, fields_of(known, *fees), fields_of(terms, *fees))
        work.append(described(spec, terms, change))
        await self._carry_out(work, spec.symbol, noted(acting, spec, change) if acting else ())

    async def _carry_out(self, work: list[tuple[Command | CreateSymbol, Note]], subject: str, action: Note) -> None:
        """Carry out `work`, with the note of who does it, unless that is the engine itself."""
        if action:
            work.append((Command(NOTE_ACTION, order_id=len(work)), action))
        results = await self._submit(work)
        for (command, _), code in zip(work, results, strict=True):
            is_described = isinstance(command, Command) and command.kind in _DESCRIBING
            if code != ResultCode.SUCCESS and not is_described:
                refused = ResultCode(code)
                raise ListingError(refused, f"{subject}: {refused.name}")

    async def _submit(self, work: Sequence[tuple[Command | CreateSymbol, Note]]) -> list[int]:
        """Submit commands to be stored together. Returns their result codes."""
        sequencer = self._engine.sequencer
        try:
            sequencer.admit(len(work))
        except EngineBusyError as error:
            raise IntakeRefusal(ResultCode.ENGINE_BUSY) from error
        now = sequencer.now()
        records = b"".join(command._replace(timestamp=now).encode() for command, _ in work)
        outcome = await sequencer.submit(records, [note for _, note in work])
        return [result.code for result in decode_results(outcome.results)]

    def _check_followed(self) -> None:
        """Refuse a change that no service would follow."""
        if not self._engine.settings.follows_listings:
            raise ListingError(
                ResultCode.UNSUPPORTED_COMMAND,
                "the markets are fixed: OPENSPOT_MARKETS=live lets operators list others",
            )

    def _listed(self, symbol: str) -> tuple[SymbolSpec, MarketTerms]:
        spec = self._listings.symbol(symbol)
        terms = self._engine.board.terms(spec)
        if terms is None:
            raise ListingError(
                ResultCode.INVALID_SYMBOL, f"symbol: {symbol} was created without bounds and is no market yet: list it"
            )
        return spec, terms

    def _refuse_outdated(self, symbol: str, version: str | None) -> None:
        if version is not None and version != self.view(symbol).version:
            message = f"version: {symbol} was changed after you read it: look at it as it is now"
            raise HttpError(409, message, "MARKET_CHANGED")

    def _unlisted(self, symbol: str) -> SymbolSpec | None:
        """A symbol that exists and is no market; None for any other name."""
        spec = self._directory.symbols.get(symbol)
        return spec if spec is not None and self._engine.board.terms(spec) is None else None

    def _specification(self, body: NewMarketBody) -> SymbolSpec:
        return self._listings.specification(
            SymbolBody.model_validate(
                {
                    "symbol": body.symbol,
                    "lotSize": f"{body.lot_size:f}",
                    "tickSize": f"{body.tick_size:f}",
                    "takerFee": body.taker_fee,
                    "makerFee": body.maker_fee,
                }
            )
        )

    def _offer_checks(self, spec: SymbolSpec, terms: MarketTerms, body: TermsChange) -> list[ListingCheck]:
        offers = terms.market_offers
        checks = offer_checks(
            offers,
            body.offers or (),
            self._directory.currencies[spec.base].places,
            terms.market_status,
            has_file=spec.base in self._engine.board.seed_assets,
        )
        # Only what the change sets: what a market offers can be taken back, whatever its rate is.
        if body.staking is not None and offers.staking is not None:
            checks.append(rate_check(offers.staking, self._engine.settings.engine_staking_apr_max))
        return checks

    def _surroundings(self) -> Surroundings:
        return Surroundings(
            symbols=frozenset(name for name in self._directory.symbols if self._unlisted(name) is None),
            now_ms=self._engine.sequencer.now() // NANOSECONDS_PER_MS,
            has_phases=self._has_phases,
        )


_DESCRIBING = DESCRIBING_KINDS | {NOTE_ACTION}
_BOUNDS = frozenset({"quantity_min", "quantity_max", "notional_min", "notional_max"})
_TEXTS_AND_BANDS = frozenset({"deviation_bps_max", "slippage_bps_max", "name", "announcement"})


def bounds_of(body: BoundsBody) -> ProposedBounds:
    """The bounds of a body."""
    return ProposedBounds(
        quantity_min=body.quantity_min,
        quantity_max=body.quantity_max,
        notional_min=body.notional_min,
        notional_max=body.notional_max,
        deviation_bps_max=body.deviation_bps_max,
        slippage_bps_max=body.slippage_bps_max,
    )


def _with_offers(terms: MarketTerms, body: TermsChange) -> MarketTerms:
    """The terms with what a change says of the market's offers."""
    if body.offers is not None:
        terms = msgspec.structs.replace(terms, offers=sorted(body.offers))
    if body.payments is not None:
        terms = msgspec.structs.replace(terms, payments=PaymentOffer(**body.payments.model_dump()))
    if body.staking is not None:
        terms = msgspec.structs.replace(terms, staking=StakingOffer(**body.staking.model_dump()))
    return terms


def _schedule_of(entries: Sequence[StatusAtBody]) -> list[ScheduledStatus]:
    return [ScheduledStatus(MarketStatus(entry.status), entry.at) for entry in entries]


def _refuse(messages: list[str]) -> None:
    if messages:
        raise validation_error(messages)


def _is_due(symbol: str, terms: MarketTerms, now_ms: int) -> bool:
    entry = due_by_itself(symbol, terms.schedule)
    return entry is not None and entry.at <= now_ms


def _steps_of(spec: SymbolSpec | None) -> tuple[Decimal, Decimal] | None:
    """Tick and lot of a symbol."""
    if spec is None:
        return None
    tick, lot = scaled_to_text(spec.tick, spec.quote_scale_k), scaled_to_text(spec.lot, spec.base_scale_k)
    return parse_decimal(tick), parse_decimal(lot)
