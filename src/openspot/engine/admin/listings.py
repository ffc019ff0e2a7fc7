"""Creates, changes and deletes symbols and currencies, one at a time. Each change is a durable command.

This file checks names, and the core checks numbers.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace

from openspot.domain.market_phase import MarketPhase
from openspot.domain.money import MoneyError, scaled_to_text, to_scaled
from openspot.domain.result_code import ResultCode
from openspot.domain.symbol import SymbolSpec, specification_error
from openspot.engine.admin.acting import Acting
from openspot.engine.admin.margin_markets import deletion_fault
from openspot.engine.core.protocol import SymbolPhase
from openspot.engine.core.records import FLAG_ACTIVE, Command, CommandKind, CreateSymbol, decode_results
from openspot.engine.intake.command_intake import CommandIntake
from openspot.engine.intake.refusal import IntakeRefusal
from openspot.engine.state.directory import DESCRIBE_CURRENCY, Currency, NameTakenError, Note
from openspot.engine.state.state_machine import StateMachine
from openspot.engine.transport.schemas import CurrencyBody, CurrencyChange, SymbolBody, SymbolChange
from openspot.http.coin_pictures import CoinPictures
from openspot.http.errors import HttpError

_UNSIGNED = 2**64


class ListingError(IntakeRefusal):
    """The change was refused; the message says why."""


class Listings:
    """The symbols and currencies of one engine. All methods raise ListingError, IntakeRefusal, EngineStoppedError."""

    def __init__(
        self,
        machine: StateMachine,
        intake: CommandIntake,
        *,
        has_phases: bool,
        follows_listings: bool,
        pictures: CoinPictures,
        settle: Callable[[], Awaitable[None]],
        turn: asyncio.Lock | None = None,
    ) -> None:
        """Without `has_phases`, markets stay in continuous trading. With `follows_listings`, a market of margin is
        delisted before it is deleted. A logo must be one of `pictures`. `settle` waits until all that was submitted is
        applied. Whoever else changes the same markets holds the same `turn`.
        """
        self._core = machine.core
        self._directory = machine.directory
        self._machine = machine
        self._intake = intake
        self._has_phases = has_phases
        self._follows_listings = follows_listings
        self._pictures = pictures
        self._settle = settle
        self._turn = turn or asyncio.Lock()

    # Currencies

    def currency(self, name: str) -> Currency:
        """The currency with this name."""
        currency = self._directory.currencies.get(name)
        if currency is None:
            raise ListingError(ResultCode.INVALID_CURRENCY, f"currency: there is no {name!r}")
        return currency

    async def create_currency(self, body: CurrencyBody, acting: Acting) -> Currency:
        """Add a currency."""
        async with self._turn:
            number = body.currency_id or self._directory.next_currency_id()
            currency = Currency(body.currency, number, body.name or body.currency, body.places, body.logo)
            self._check_logo(body.logo)
            try:
                self._directory.check_new_currency(currency)
            except NameTakenError as error:
                raise ListingError(ResultCode.CURRENCY_ALREADY_EXISTS, str(error)) from error
            await self._carry_out(
                Command(CommandKind.CREATE_CURRENCY, symbol=number),
                currency.note,
                f"currencyId {number}",
                acting.note("currencies.create", ("currency", currency.currency), {}, _currency_fields(currency)),
            )
            return self.currency(body.currency)

    async def change_currency(self, name: str, change: CurrencyChange, acting: Acting) -> Currency:
        """Change a currency's name, decimal places or logo."""
        async with self._turn:
            known = self.currency(name)
            title = known.name if change.name is None else change.name
            places = known.places if change.places is None else change.places
            logo = known.logo if change.logo is None else change.logo
            if logo != known.logo:
                self._check_logo(logo)
            described = Currency(known.currency, known.currency_id, title, places, logo)
            before, after = changed_fields(_currency_fields(known), _currency_fields(described))
            action = acting.note("currencies.change", ("currency", name), before, after)
            await self._intake.submit(Command(DESCRIBE_CURRENCY, symbol=known.currency_id), described.note, action)
            return self.currency(name)

    async def delete_currency(self, name: str, acting: Acting) -> Currency:
        """Delete a currency that no symbol and no balance uses."""
        async with self._turn:
            known = self.currency(name)
            action = acting.note("currencies.delete", ("currency", name), _currency_fields(known), {})
            await self._carry_out(Command(CommandKind.DELETE_CURRENCY, symbol=known.currency_id), (), name, action)
            return known

    def _check_logo(self, logo: str) -> None:
        if fault := self._pictures.fault(logo):
            raise ListingError(ResultCode.INVALID_CURRENCY, f"logo {fault}")

    # Symbols

    def symbol(self, name: str) -> SymbolSpec:
        """The symbol with this name."""
        spec = self._directory.symbols.get(name)
        if spec is None:
            raise ListingError(ResultCode.INVALID_SYMBOL, f"symbol: there is no {name!r}")
        return spec

    async def create_symbol(self, body: SymbolBody, acting: Acting) -> SymbolSpec:
        """Add a symbol (fact A2.5-03)."""
        async with self._turn:
            spec = self.specification(body)
            base, quote = self.currency(spec.base).currency_id, self.currency(spec.quote).currency_id
            try:
                self._directory.check_new_symbol(spec)
            except NameTakenError as error:
                raise ListingError(ResultCode.SYMBOL_ALREADY_EXISTS, str(error)) from error
            action = acting.note("symbols.create", ("symbol", spec.symbol), {}, symbol_fields(spec))
            created = created_symbol(spec, base, quote)
            await self._carry_out(created, (spec.symbol,), f"symbolId {spec.symbol_id}", action)
            return self.symbol(spec.symbol)

    def specification(self, body: SymbolBody) -> SymbolSpec:
        """The specification of a new symbol. A scale that is not given becomes the smallest that lot and tick need."""
        base_scale, quote_scale = body.base_scale_k, body.quote_scale_k
        base_scale = _scale(body.lot_size.as_tuple().exponent) if base_scale is None else base_scale
        quote_scale = _scale(body.tick_size.as_tuple().exponent) if quote_scale is None else quote_scale
        steps = []
        for name, value, scale in (("lotSize", body.lot_size, base_scale), ("tickSize", body.tick_size, quote_scale)):
            try:
                # `specification_error` below reports a scale that is not a power of ten.
                steps.append(to_scaled(value, scale) if scale == _scale(1 - len(str(scale))) else 0)
            except MoneyError as error:
                raise ListingError(ResultCode.INVALID_SYMBOL_SPECIFICATION, f"{name} {error}") from error
        lot, tick = steps
        fault = specification_error(base_scale, quote_scale, tick, lot, body.taker_fee, body.maker_fee)
        if fault:
            raise ListingError(ResultCode.INVALID_SYMBOL_SPECIFICATION, fault)
        base, quote = body.symbol.split("-")
        number = body.symbol_id or self._directory.next_symbol_id()
        return SymbolSpec(
            symbol=body.symbol,
            symbol_id=number,
            base=base,
            quote=quote,
            base_scale_k=base_scale,
            quote_scale_k=quote_scale,
            tick=tick,
            lot=lot,
            taker_fee_bps=body.taker_fee,
            maker_fee_bps=body.maker_fee,
        )

    async def change_symbol(self, name: str, change: SymbolChange, acting: Acting) -> SymbolSpec:
        """Change the fees of a symbol for future orders, or whether it accepts orders."""
        async with self._turn:
            known = self.symbol(name)
            changed = self.changed(known, change)
            command = Command(
                CommandKind.UPDATE_SYMBOL,
                flags=FLAG_ACTIVE if changed.active else 0,
                symbol=changed.symbol_id,
                order_id=changed.taker_fee_bps % _UNSIGNED,
                account=changed.maker_fee_bps % _UNSIGNED,
            )
            before, after = changed_fields(symbol_fields(known), symbol_fields(changed))
            await self._carry_out(command, (), name, acting.note("symbols.change", ("symbol", name), before, after))
            return changed

    @staticmethod
    def changed(known: SymbolSpec, change: SymbolChange) -> SymbolSpec:
        """The specification after a change. Raises ListingError if the fees break a rule."""
        taker = known.taker_fee_bps if change.taker_fee is None else change.taker_fee
        maker = known.maker_fee_bps if change.maker_fee is None else change.maker_fee
        active = known.active if change.active is None else change.active
        fault = specification_error(known.base_scale_k, known.quote_scale_k, known.tick, known.lot, taker, maker)
        if fault:
            raise ListingError(ResultCode.INVALID_SYMBOL_SPECIFICATION, fault)
        return replace(known, taker_fee_bps=taker, maker_fee_bps=maker, active=active)

    async def delete_symbol(self, name: str, acting: Acting) -> SymbolSpec:
        """Delete a symbol that has no open orders (facts B4.4-10, B4.4-15).

        Where markets are listed and delisted while the platform runs, one of margin must have been delisted.
        """
        async with self._turn:
            known = self.symbol(name)
            terms = self._directory.terms.get(known.symbol_id)
            if self._follows_listings and (fault := deletion_fault(name, terms)):
                raise ListingError(ResultCode.UNSUPPORTED_COMMAND, fault)
            action = acting.note("symbols.delete", ("symbol", name), symbol_fields(known), {})
            await self._carry_out(Command(CommandKind.DELETE_SYMBOL, symbol=known.symbol_id), (), name, action)
            return known

    # Phases

    def phase(self, spec: SymbolSpec) -> SymbolPhase | None:
        """The phase of a symbol; None in continuous trading."""
        return next((row for row in self._core.phases() if row.symbol == spec.symbol_id), None)

    def phase_cause(self, spec: SymbolSpec) -> str:
        """Why the engine itself began the phase; empty if it did not."""
        return self._machine.interruptions.cause(spec.symbol_id)

    async def set_phase(
        self,
        name: str,
        phase: MarketPhase,
        seconds: int,
        acting: Acting,
        reason: str,
        expected: MarketPhase | None = None,
    ) -> SymbolPhase | None:
        """Let a market enter a phase, for `seconds`, or until the next change if they are 0.

        Raises HttpError (409 `PHASE_CHANGED`) if it is in another phase than the `expected` one.
        """
        if not self._has_phases:
            raise ListingError(
                ResultCode.UNSUPPORTED_COMMAND, "phase: it can be set under OPENSPOT_RULES=complete only"
            )
        async with self._turn:
            if expected is not None:
                # A phase that was submitted a moment ago counts.
                await self._settle()
            known = self.symbol(name)
            present = self.phase(known)
            phase_before = MarketPhase(present.phase if present else MarketPhase.CONTINUOUS)
            before = phase_before.text
            if expected is not None and expected is not phase_before:
                message = f"expected: {name} is {before} by now, not {expected.text}: look at it as it is"
                raise HttpError(409, message, "PHASE_CHANGED")
            after = {"phase": phase.text, "seconds": seconds or None}
            action = acting.note("markets.phase", ("market", name), {"phase": before}, after, reason)
            outcome = await self._intake.set_phase(name, phase, seconds, action)
            result = next(decode_results(outcome.results))
            if result.code == ResultCode.INVALID_PHASE:
                raise ListingError(ResultCode.INVALID_PHASE, "seconds: continuous trading has no end")
            if result.code != ResultCode.SUCCESS:
                code = ResultCode(result.code)
                raise ListingError(code, f"{name}: {code.name}")
            return self.phase(known)

    async def _carry_out(self, command: Command | CreateSymbol, note: Note, subject: str, action: Note) -> None:
        outcome = await self._intake.submit(command, note, action)
        result = next(decode_results(outcome.results))
        if result.code != ResultCode.SUCCESS:
            code = ResultCode(result.code)
            raise ListingError(code, f"{subject}: {code.name}")


def created_symbol(spec: SymbolSpec, base: int, quote: int) -> CreateSymbol:
    """The command that creates a symbol; `base` and `quote` are the numbers of its currencies."""
    return CreateSymbol(
        symbol=spec.symbol_id,
        timestamp=0,
        base=base,
        quote=quote,
        base_scale_k=spec.base_scale_k,
        quote_scale_k=spec.quote_scale_k,
        tick=spec.tick,
        lot=spec.lot,
        taker_fee_bps=spec.taker_fee_bps,
        maker_fee_bps=spec.maker_fee_bps,
    )


def symbol_fields(spec: SymbolSpec) -> dict[str, object]:
    """What the note of an action says of a symbol."""
    return {
        "tickSize": scaled_to_text(spec.tick, spec.quote_scale_k),
        "lotSize": scaled_to_text(spec.lot, spec.base_scale_k),
        "takerFee": spec.taker_fee_bps,
        "makerFee": spec.maker_fee_bps,
        "active": spec.active,
    }


def _currency_fields(currency: Currency) -> dict[str, object]:
    return {"name": currency.name, "places": currency.places, "logo": currency.logo}


def changed_fields(
    before: Mapping[str, object], after: Mapping[str, object]
) -> tuple[dict[str, object], dict[str, object]]:
    """The fields that differ, before and after."""
    names = [name for name in before if before[name] != after[name]]
    return {name: before[name] for name in names}, {name: after[name] for name in names}


def _scale(exponent: int | str) -> int:
    """The power of ten that turns a decimal with this exponent into an integer.

    At most 10^40: a later check refuses finer decimals.
    """
    assert isinstance(exponent, int), "a body's decimals are finite"
    places: int = min(max(-exponent, 0), 40)
    return int(10**places)
