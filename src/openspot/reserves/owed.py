"""What the exchange owes each user right after one event of the engine.

The ledger has no such moment: it posts trades, transfers, deposits and withdrawals from four queues, each at its own
speed. So the moment is made:

1. S is the engine's newest event. The mirrors get a limited time until the ledger has everything up to S.
2. One snapshot of the database gives all balances. It has everything up to S, and some of what came after it.
3. The engine's events after S are read. Those whose entries are in the snapshot are taken out of the balances again.

4. Adjustments up to S that the engine alone has, because nobody has booked them, are added where they made an account
   richer: its user can spend what the ledger does not know. What they took is left, so the greater of both is owed.

What remains are the balances after event S, to the last digit. Nothing stops meanwhile, and the engine does no work
for it but to send a few events.

A user is owed what the user's account and margin accounts hold, reserved funds included, and what the user has staked.
Loans are not subtracted: they are owed to the house, and the borrowed funds are in the margin accounts.
"""

from collections.abc import Sequence
from decimal import Decimal
from typing import NamedTuple

import asyncpg

from openspot.contracts.engine_events import BalanceEvent, EngineEvent, Hello, TradeEvent, TransferEvent
from openspot.domain.accounts import USER_OF_ACCOUNT_SQL, AccountKey, user_of_account
from openspot.domain.ids import HOUSE_PREFIX, STAKING_ACCOUNT_ID
from openspot.domain.money import EXACT, parse_decimal
from openspot.domain.transfer import Movement, TransferKind
from openspot.engine_transfers.model import decode_movements
from openspot.ledger.postings import settlement_marker
from openspot.ledger.rebuild import booking_id
from openspot.reconcile.projection import movements
from openspot.reconcile.store import EngineReader

_STAKED_KINDS = (TransferKind.STAKING, TransferKind.UNSTAKING)

_FIND_ENTRIES = "SELECT transaction_id FROM ledger_entries WHERE transaction_id = ANY ($1::text[])"
_FIND_SETTLED = "SELECT reference FROM edge_transfers WHERE reference = ANY ($1::text[]) AND status = 'done'"
# Transfers of stakes that the ledger has, and whose rows do not know it yet.
_UNSETTLED = """
    SELECT reference, movements::text AS movements FROM edge_transfers AS transfer
    WHERE status = 'pending' AND kind = ANY ($1::text[])
        AND EXISTS (SELECT FROM ledger_entries WHERE transaction_id = transfer.reference || ':1:transfer-debit')
"""
_MAKE_CORRECTIONS = """
    CREATE TEMPORARY TABLE reserve_corrections (user_id text, asset text, amount numeric) ON COMMIT DROP
"""
_MAKE_OWED = f"""
    CREATE TEMPORARY TABLE reserve_owed ON COMMIT DROP AS
    SELECT owner, asset, sum(amount) AS amount FROM (
        SELECT {USER_OF_ACCOUNT_SQL} AS owner, asset, available + locked AS amount FROM ledger_accounts
        WHERE NOT starts_with(user_id, '{HOUSE_PREFIX}')
        UNION ALL
        SELECT user_id, asset, amount FROM staking_balances WHERE status = 'active'
        UNION ALL
        SELECT user_id, asset, amount FROM staking_unstakes WHERE NOT principal_paid
        UNION ALL
        SELECT user_id, asset, amount FROM reserve_corrections
    ) AS part
    GROUP BY owner, asset HAVING sum(amount) <> 0
"""  # noqa: S608  (constant text)
_NEGATIVE = "SELECT owner, asset, amount FROM reserve_owed WHERE amount < 0 ORDER BY owner, asset LIMIT 1"
_TOTALS = 'SELECT asset, sum(amount) AS amount FROM reserve_owed GROUP BY asset ORDER BY asset COLLATE "C"'
USERS = """
    SELECT owner, array_agg(asset) AS assets, array_agg(trunc(amount * 1000000000000000000)::text) AS amounts
    FROM reserve_owed GROUP BY owner ORDER BY owner
"""


class Owed(NamedTuple):
    """What is owed: the sum of each asset, in the order of their names. The users are in the table `reserve_owed`."""

    totals: dict[str, Decimal]
    negative: tuple[str, str, Decimal] | None
    """An account below zero: user, asset and amount. There must be none."""
    unbooked: int
    """Adjustments of the engine that the ledger lacks, and that were counted all the same."""


async def gather(connection: asyncpg.Connection, engine: EngineReader, sequence: int) -> Owed:
    """Write what every user is owed after event `sequence` into the temporary table `reserve_owed`.

    `connection` is in a transaction whose snapshot has everything up to that event. Raises EngineUnavailableError.
    """
    corrections = _Corrections()
    now = await engine.position()
    unbooked = await _add_unbooked(connection, engine, corrections, now, sequence)
    async for batch in engine.events(sequence + 1, now.last_seq):
        await _take_out(connection, batch, corrections, now.epoch)
    for row in await connection.fetch(_UNSETTLED, _STAKED_KINDS):
        if row["reference"] not in corrections.later_stakes:
            for movement in decode_movements(row["movements"]):
                corrections.stake(movement, 1)
    await connection.execute(_MAKE_CORRECTIONS)
    await connection.copy_records_to_table(
        "reserve_corrections", records=[(*account, amount) for account, amount in corrections.amounts.items() if amount]
    )
    await connection.execute(_MAKE_OWED)
    rows = await connection.fetch(_TOTALS)
    negative = await connection.fetchrow(_NEGATIVE)
    return Owed(
        {row["asset"]: row["amount"] for row in rows},
        None if negative is None else (negative["owner"], negative["asset"], negative["amount"]),
        unbooked,
    )


class _Corrections:
    """What is added to the balances of the snapshot, by user and asset."""

    def __init__(self) -> None:
        self.amounts: dict[AccountKey, Decimal] = {}
        self.later_stakes: set[str] = set()
        """References of the transfers of stakes that are events after the moment."""

    def add(self, account: AccountKey, amount: Decimal) -> None:
        """Add an amount to what the owner of an account is owed. The house is owed nothing."""
        if account.user_id.startswith(HOUSE_PREFIX):
            return
        owner = AccountKey(user_of_account(account.user_id), account.asset)
        self.amounts[owner] = EXACT.add(self.amounts.get(owner, Decimal(0)), amount)

    def stake(self, movement: Movement, sign: int) -> None:
        """Count a movement to or from the account of stakes for what its user has staked, or with -1 take it out."""
        amount = movement.amount * sign
        if movement.destination == STAKING_ACCOUNT_ID:
            self.add(AccountKey(movement.source, movement.asset), amount)
        elif movement.source == STAKING_ACCOUNT_ID:
            self.add(AccountKey(movement.destination, movement.asset), -amount)


async def _add_unbooked(
    connection: asyncpg.Connection, engine: EngineReader, corrections: _Corrections, now: Hello, sequence: int
) -> int:
    """Add what adjustments up to the event have given to accounts, and the ledger lacks. Returns how many it lacks."""
    sums: dict[AccountKey, Decimal] = {}
    count = 0
    async for batch in engine.events(now.first_seq, sequence):
        adjusted = {
            booking_id(now.epoch, event.seq): event
            for event in batch
            if isinstance(event, BalanceEvent) and event.kind == "ADJUST"
        }
        rows = await connection.fetch(_FIND_ENTRIES, list(adjusted)) if adjusted else []
        for name in adjusted.keys() - {row["transaction_id"] for row in rows}:
            count += 1
            for account, amount in movements(adjusted[name]):
                sums[account] = EXACT.add(sums.get(account, Decimal(0)), amount)
    for account, amount in sums.items():
        corrections.add(account, max(amount, Decimal(0)))
    return count


async def _take_out(
    connection: asyncpg.Connection, events: Sequence[EngineEvent], corrections: _Corrections, epoch: str
) -> None:
    """Take those of the events out that the snapshot has."""
    entries = {event.seq: entry for event in events if (entry := _entry_of(event, epoch))}
    written = {row["transaction_id"] for row in await connection.fetch(_FIND_ENTRIES, list(entries.values()))}
    stakes = [event for event in events if isinstance(event, TransferEvent) and event.kind in _STAKED_KINDS]
    references = list({event.reference for event in stakes})
    corrections.later_stakes.update(references)
    settled = {row["reference"] for row in await connection.fetch(_FIND_SETTLED, references)} if references else set()
    for event in events:
        if entries.get(event.seq) in written:
            for account, amount in movements(event):
                corrections.add(account, -amount)
    for event in stakes:
        if event.reference in settled:
            movement = Movement(event.source, event.destination, event.asset, parse_decimal(event.amount))
            corrections.stake(movement, -1)


def _entry_of(event: EngineEvent, epoch: str) -> str:
    """The id of an entry that the ledger has if it has posted the event; empty if it never posts it."""
    if isinstance(event, TradeEvent):
        return settlement_marker(event.trade_id)
    if isinstance(event, TransferEvent):
        return f"{event.reference}:1:transfer-debit"
    if not isinstance(event, BalanceEvent):
        return ""
    if event.kind == "ADJUST":
        return booking_id(epoch, event.seq)
    return event.reference if event.kind in ("DEPOSIT", "COMMIT") else ""
