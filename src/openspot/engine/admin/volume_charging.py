"""Charging by volume tier (facts A2.7-12 to A2.7-18), switched on by `OPENSPOT_CHARGE_BY_VOLUME_TIER=true`.

At each interval, new trades are added to the volumes. Every participant whose tier changed gets the fees of its new
tier for future orders, by a durable command. In tier Base, the fees of the symbol apply. If charging is off, the
engine removes, at its start, tier fees that were set earlier.
"""

import asyncio
import struct
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from functools import partial
from typing import NamedTuple

from openspot.domain.money import scaled_to_text
from openspot.engine.admin.volume_store import VolumeStore
from openspot.engine.admin.volumes import WINDOW_DAYS, VolumeBook, VolumeKey, tier_above_base, usd_rates
from openspot.engine.core.records import EVENT_SIZE, FLAG_ACTIVE, Command, CommandKind, EventType, decode_events
from openspot.engine.engine import Engine
from openspot.engine.intake.refusal import IntakeRefusal
from openspot.engine.intake.sequencer import EngineStoppedError
from openspot.engine.state.event_batch import EventBatch
from openspot.engine.stream.event_reader import EventReader
from openspot.kit.log import get_logger

log = get_logger("volume_charging")

VOLUMES = "volumes.sqlite"
_TRADE = int(EventType.TRADE)
_HEAD = struct.Struct("<8xI12xQ24xQQqq56x")
"""Fields of an event: symbol, timestamp, taker's account, maker's account, price, quantity."""
assert _HEAD.size == EVENT_SIZE
_NANOSECONDS_PER_DAY = 86_400_000_000_000
_CHANGES_AT_ONCE = 256
_ACCOUNTS_A_TURN = 200
_UNSIGNED = 2**64


class AccountFees(NamedTuple):
    """An account's own fees in basis points."""

    taker_bps: int
    maker_bps: int


class VolumeCharging:
    """Keeps the fees of participants in line with their volume tiers."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._machine = engine.machine
        self._book = VolumeBook()
        self._reader = EventReader(engine.events)
        self._store: VolumeStore | None = None
        self._unsaved: dict[VolumeKey, int] = {}
        self._oldest_day = 0
        self._thread = ThreadPoolExecutor(1, "volumes")

    async def run(self) -> None:
        """Update fees until cancelled. A failure is logged, and the next update tries again."""
        if not self._engine.settings.charge_by_volume_tier:
            await self._set_fees(dict.fromkeys(self._machine.participants.own_fees))
            return
        try:
            while True:
                try:
                    await self.turn()
                except EngineStoppedError:
                    return
                except Exception:
                    log.exception("failed to update fees by volume")
                await asyncio.sleep(self._engine.settings.volume_tier_interval_s)
        finally:
            self.close()

    def close(self) -> None:
        """Wait for a running write and close the file."""
        self._thread.shutdown()
        if self._store is not None:
            self._store.close()

    async def turn(self) -> None:
        """Update volumes and fees. Raises EventStoreError, sqlite3.Error, EngineStoppedError."""
        oldest_day = self._engine.sequencer.now() // _NANOSECONDS_PER_DAY - WINDOW_DAYS + 1
        await self._follow(oldest_day)
        if oldest_day != self._oldest_day:
            self._book.forget_before(oldest_day)
            self._oldest_day = oldest_day
        rates = usd_rates(self._last_prices())
        wanted: dict[int, AccountFees | None] = {}
        for count, account in enumerate({*self._book.accounts(), *self._machine.participants.own_fees}, 1):
            if count % _ACCOUNTS_A_TURN == 0:
                await asyncio.sleep(0)
            tier = tier_above_base(self._book.value(account, rates))
            fees = None if tier is None else AccountFees(tier.taker_bps, tier.maker_bps)
            if fees != self._fees(account):
                wanted[account] = fees
        await self._set_fees(wanted)

    # Volumes

    async def _follow(self, oldest_day: int) -> None:
        """Add the trades since the last update, in memory and on disk."""
        in_thread = partial(asyncio.get_running_loop().run_in_executor, self._thread)
        if self._store is None:
            path = self._engine.journal_path.with_name(VOLUMES)
            store = await in_thread(VolumeStore, path, self._engine.epoch)
            for key, amount in await in_thread(store.rows):
                self._book.add(key, amount)
            self._reader.next_sequence = store.next_sequence
            self._store = store
        async for batch in self._reader.new_batches():
            self._add(batch, oldest_day)
        if self._reader.next_sequence != self._store.next_sequence:
            await in_thread(self._store.write, self._unsaved, self._reader.next_sequence, oldest_day)
            self._unsaved = {}

    def _add(self, batch: EventBatch, oldest_day: int) -> None:
        kinds = batch.records[::EVENT_SIZE]
        if _TRADE not in kinds:
            return
        for kind, (symbol, time_ns, taker, maker, price, quantity) in zip(
            kinds, _HEAD.iter_unpack(batch.records), strict=True
        ):
            day = time_ns // _NANOSECONDS_PER_DAY
            # A trade with oneself adds no volume.
            if kind != _TRADE or day < oldest_day or taker == maker:
                continue
            spec = self._machine.directory.symbol(symbol)
            assert spec is not None, "a symbol number keeps its name forever"
            notional = price * quantity * spec.quote_unit
            for account in (taker, maker):
                key = VolumeKey(account, day, spec.quote)
                self._unsaved[key] = self._book.add(key, notional)

    def _last_prices(self) -> dict[str, Decimal]:
        prices: dict[str, Decimal] = {}
        for spec in self._machine.directory.symbols.values():
            trades = self._machine.trades.get(spec.symbol_id)
            if trades:
                (event,) = decode_events(trades[-1])
                prices[spec.symbol] = Decimal(scaled_to_text(event.price, spec.quote_scale_k))
        return prices

    # Fees

    def _fees(self, account: int) -> AccountFees | None:
        """The current fees of an account, None if it pays those of the symbols."""
        state = self._machine.core.account(account)
        if state is None or state.taker_fee_bps is None or state.maker_fee_bps is None:
            return None
        return AccountFees(state.taker_fee_bps, state.maker_fee_bps)

    async def _set_fees(self, wanted: dict[int, AccountFees | None]) -> None:
        """Set the fees of accounts; None removes them. Raises EngineStoppedError.

        Changes that a busy engine refuses are made by the next update, or after the next start.
        """
        rows = list(wanted.items())
        submitted = 0
        for start in range(0, len(rows), _CHANGES_AT_ONCE):
            futures = []
            for account, fees in rows[start : start + _CHANGES_AT_ONCE]:
                taker, maker = fees or AccountFees(0, 0)
                command = Command(
                    CommandKind.SET_ACCOUNT_FEES,
                    flags=0 if fees is None else FLAG_ACTIVE,
                    account=account,
                    order_id=taker % _UNSIGNED,
                    price=maker,
                )
                try:
                    futures.append(self._engine.intake.submit(command, (self._machine.directory.participant(account),)))
                except IntakeRefusal:
                    break
            await asyncio.gather(*futures)
            submitted += len(futures)
        if rows:
            log.info("set fees by volume", wanted=len(rows), submitted=submitted)
