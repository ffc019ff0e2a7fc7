"""Charging by volume tier (facts A2.7-12 to A2.7-18), switched on by `OPENSPOT_CHARGE_BY_VOLUME_TIER=true`.

At each interval, new trades are added to the volumes. The tier is that of an owner: the volumes of a user's spot and
margin accounts, and of linked users, are added up. Every account whose tier changed gets the fees of its new tier for
future orders, by a durable command. In tier Base, the fees of the symbol apply. If charging is off, the
engine removes, at its start, tier fees that were set earlier.
"""

import asyncio
import struct
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from functools import partial
from typing import NamedTuple

from openspot.domain.accounts import user_of_account
from openspot.domain.money import scaled_to_text
from openspot.engine.admin.volume_store import VolumeStore
from openspot.engine.admin.volumes import (
    WINDOW_DAYS,
    VolumeBook,
    VolumeKey,
    tier_above_base,
    usd_rates,
    weighted_median,
)
from openspot.engine.core.protocol import AccountSettings
from openspot.engine.core.records import EVENT_SIZE, FLAG_ACTIVE, Command, CommandKind, EventType
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
        self._links: dict[int, int] = {}
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
                except EngineStoppedError as error:
                    # Without space on the disk, commands are refused for a while only.
                    if self._engine.sequencer.has_ended:
                        return
                    log.warning("fees by volume wait", reason=str(error))
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
        self._links = {link.account: link.owner for link in self._machine.core.owner_links()}
        oldest_day = self._engine.sequencer.now() // _NANOSECONDS_PER_DAY - WINDOW_DAYS + 1
        await self._follow(oldest_day)
        if oldest_day != self._oldest_day:
            self._book.forget_before(oldest_day)
            self._oldest_day = oldest_day
        rates = usd_rates(self._usual_prices())
        wanted: dict[int, AccountFees | None] = {}
        volumes: defaultdict[int, Decimal] = defaultdict(Decimal)
        for count, account in enumerate(self._book.accounts(), 1):
            if count % _ACCOUNTS_A_TURN == 0:
                await asyncio.sleep(0)
            volumes[self._owner_of(account)] += self._book.value(account, rates)
        for count, account in enumerate(self._accounts(), 1):
            if count % _ACCOUNTS_A_TURN == 0:
                await asyncio.sleep(0)
            settings = self._machine.core.account(account)
            # The directory names an account before its first deposit counts.
            if settings is None:
                continue
            tier = tier_above_base(volumes.get(self._owner_of(account), Decimal(0)))
            fees = None if tier is None else AccountFees(tier.taker_bps, tier.maker_bps)
            if fees != _own_fees(settings):
                wanted[account] = fees
        await self._set_fees(wanted)

    # Owners

    def _owner_of(self, account: int) -> int:
        """The account whose user owns an account, as of the beginning of this update."""
        directory = self._machine.directory
        spot_account = directory.accounts.get(user_of_account(directory.participant(account)), account)
        return self._links.get(spot_account, spot_account)

    def _accounts(self) -> set[int]:
        """The accounts whose fees differ from those of the symbols, or may have to."""
        related = (*self._machine.directory.margin_accounts, *self._links, *self._links.values())
        return {*self._book.accounts(), *self._machine.participants.own_fees, *related}

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
            # A trade of an owner with itself adds no volume, whichever of its accounts met.
            if kind != _TRADE or day < oldest_day or self._owner_of(taker) == self._owner_of(maker):
                continue
            spec = self._machine.directory.symbol(symbol)
            assert spec is not None, "a symbol number keeps its name forever"
            notional = price * quantity * spec.quote_unit
            for account in (taker, maker):
                key = VolumeKey(account, day, spec.quote)
                self._unsaved[key] = self._book.add(key, notional)

    def _usual_prices(self) -> dict[str, Decimal]:
        """The median, by quantity, of each symbol's newest trades between different owners."""
        prices: dict[str, Decimal] = {}
        for spec in self._machine.directory.symbols.values():
            trades = _HEAD.iter_unpack(b"".join(self._machine.trades.get(spec.symbol_id, ())))
            median = weighted_median(
                (price, quantity)
                for _, _, taker, maker, price, quantity in trades
                if self._owner_of(taker) != self._owner_of(maker)
            )
            if median is not None:
                prices[spec.symbol] = Decimal(scaled_to_text(median, spec.quote_scale_k))
        return prices

    # Fees

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


def _own_fees(settings: AccountSettings) -> AccountFees | None:
    """The fees of an account, None if it pays those of the symbols."""
    taker_bps, maker_bps = settings.taker_fee_bps, settings.maker_fee_bps
    return None if taker_bps is None or maker_bps is None else AccountFees(taker_bps, maker_bps)
