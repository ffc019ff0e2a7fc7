"""Repairs the ledger: entries become what the engine's events post, accounts the sums of their entries.

1. The entries that the events make are loaded beside the real ones. One snapshot shows which entries differ and which
   accounts are not the sum of their entries.
2. The engine's newest position is read after the snapshot. So an entry that no event up to there explains is wrong, and
   not just new.
3. The accounts are locked in the order in which settlement locks them. Then the entries are changed, and each account
   is computed from the entries that it has at that moment. What is settled meanwhile waits, or is seen.

An entry is one row with one right content, so a change is right whenever it happens.
"""

import secrets
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from typing import Any, NamedTuple

from openspot.contracts.engine_events import BalanceEvent, EngineEvent
from openspot.contracts.messages import ExecutedTrade, ExecutedTransfer
from openspot.contracts.refusals import InvalidRequestError
from openspot.domain.accounts import AccountKey
from openspot.domain.ids import EXTERNAL_ACCOUNT_ID
from openspot.domain.money import amount_to_text, decimal_to_text
from openspot.kit.database import Connection
from openspot.ledger.changes import CONTRA_SUFFIX
from openspot.ledger.postings import (
    POSTING_NAMES,
    TRADE_REFERENCE,
    Posting,
    PostingError,
    is_house,
    lock_order,
    trade_entry,
    transfer_entry,
)
from openspot.ledger.rebuild import booking_of, credit_or_debit_of
from openspot.reconcile import rebuild_ledger_queries as sql
from openspot.reconcile.outcome import CHANGES_MAX, PROBLEMS_MAX, NotRebuiltError, Rebuilt
from openspot.router.translation.order_state_machine import OrderStateMachine

ENTRY = "ledger entry"
BALANCE = "running balance"
ACCOUNT = "ledger account"
LOCK = "ledger lock"
REPAIR_REFERENCE = "repair:"
"""Begins the reference of a lock that stands for one that is lost."""
TOGETHER_MAX = 5000
"""Up to this many entries are changed in one transaction with their accounts."""
ACCOUNTS_AT_A_TIME = 100
_PLACED_MAX = 200
_OWN_MAX = 1000
_STATEMENT_TIMEOUT_S = 3600.0
_USERS_POSTINGS = 6
_HOUSE_PLACE = 1000


class _Gap(NamedTuple):
    """A place in the ledger: after the entry `before`, and before the entry `after`."""

    before: int
    after: int


class LedgerRepair:
    """Takes the engine's events, and repairs the ledger where it differs from them. It uses one connection."""

    def __init__(self, connection: Connection, epoch: str, rebuilt: Rebuilt) -> None:
        self._connection = connection
        self._rebuilt = rebuilt
        self._epoch = epoch
        self._machine = OrderStateMachine(epoch, [])
        self._made: set[AccountKey] = set()

    # What the events post

    async def take(self, events: Iterable[EngineEvent]) -> None:
        """Take the next events."""
        await self._connection.copy_records_to_table(
            "rebuild_entries",
            records=[_values(*placed) for event in events for placed in self._postings(event)],
            columns=("sequence", "place", *sql.ENTRY_COLUMNS),
        )

    async def find(self) -> None:
        """Find what differs from the events that were taken."""
        await self._connection.execute(sql.INDEX_ENTRIES, timeout=_STATEMENT_TIMEOUT_S)
        async with self._connection.transaction(isolation="repeatable_read"):
            await self._connection.execute(sql.FORGET_UNBOOKED, timeout=_STATEMENT_TIMEOUT_S)
            await self._connection.execute(sql.FIND_CHANGES, timeout=_STATEMENT_TIMEOUT_S)
            await self._connection.execute(sql.FIND_ACCOUNTS, timeout=_STATEMENT_TIMEOUT_S)

    async def take_late(self, events: Iterable[EngineEvent]) -> None:
        """Take events that came after those with which the ledger was compared."""
        rows = [_values(*placed) for event in events for placed in self._postings(event)]
        if rows:
            await self._connection.execute(sql.ADD_LATE_ENTRIES, *map(list, zip(*rows, strict=True)))

    def _postings(self, event: EngineEvent) -> Iterator[tuple[int, int, Posting]]:
        """The postings that an event makes, with its sequence and their order when they are written."""
        if isinstance(event, BalanceEvent):
            try:
                change = credit_or_debit_of(event) or booking_of(event, self._epoch)
            except InvalidRequestError as error:
                self._rebuilt.problem(f"event {event.seq}, {event.kind} {event.reference!r}: {error}")
                return
            if change is not None:
                own = Posting(
                    change.transaction_id, change.account, change.amount, change.entry_type, change.reference_type,
                    change.reference_id,
                )  # fmt: skip
                yield event.seq, 0, own
                other = own._replace(account=change.contra_account, amount=-change.amount)
                yield event.seq, 1, other._replace(transaction_id=own.transaction_id + CONTRA_SUFFIX)
            return
        for publication in self._machine.apply(event).publications:
            message = publication.message
            if not isinstance(message, ExecutedTrade | ExecutedTransfer):
                continue
            try:
                entry = trade_entry(message) if isinstance(message, ExecutedTrade) else transfer_entry(message)
            except PostingError as error:
                self._rebuilt.problem(f"event {event.seq}, {message.id}: {error}")
                continue
            for place, posting in enumerate(entry.postings):
                yield event.seq, place, posting
            for place, posting in enumerate(entry.house_postings, start=_HOUSE_PLACE):
                yield event.seq, place, posting

    # Deciding

    async def decide(self) -> bool:
        """Decide what to change, after all events were taken. Returns whether there is anything."""
        async with self._connection.transaction():
            await self._connection.execute(sql.EXPLAIN_LATE_ENTRIES)
            await self._decide_ledgers_own()
            await self._place_missing()
            await self._connection.execute(sql.ACCOUNTS_OF_CHANGES)
        return bool(await self._connection.fetchval("SELECT EXISTS (SELECT FROM rebuild_accounts)"))

    async def _decide_ledgers_own(self) -> None:
        """Keep the credits and debits that only the ledger knows, and mend them by their other side.

        The ledger writes such an entry together with that of the outside world, so one proves the other. Where one is
        missing or another amount, the accounts show which of the two is right.
        """
        for row in await self._connection.fetch(sql.WHOLE_PAIRS, PROBLEMS_MAX):
            opposite = "ledger.debit" if row["amount"] > 0 else "ledger.credit"
            self._rebuilt.problem(
                f"{ENTRY} {row['name']}: posted in the ledger alone; if it is wrong, post the opposite with {opposite}"
            )
        await self._connection.execute(sql.KEEP_WHOLE_PAIRS)
        rows = await self._connection.fetch(sql.LEDGERS_OWN, _OWN_MAX + 1)
        if len(rows) > _OWN_MAX:
            raise NotRebuiltError(
                f"more than {_OWN_MAX:,} entries are without their other side, and no event explains them: that is no "
                "single damage. Restore the ledger from a backup"
            )
        pairs: defaultdict[str, dict[bool, Any]] = defaultdict(dict)
        for row in rows:
            pairs[row["name"]][row["is_contra"]] = row
        for name, pair in pairs.items():
            own, contra = pair.get(False), pair.get(True)
            if own is not None and contra is not None:
                await self._keep_pair(name, own, contra)
            elif own is not None and own["fits"]:
                await self._keep(own)
                await self._write(name + CONTRA_SUFFIX, EXTERNAL_ACCOUNT_ID, own, -own["amount"])
            elif contra is not None and contra["fits"]:
                found = await self._connection.fetch(sql.ACCOUNTS_WITH_EXCESS, contra["asset"], -contra["amount"])
                await self._keep(contra)
                if len(found) == 1:
                    await self._write(name, found[0]["user_id"], contra, -contra["amount"])
                else:
                    self._rebuilt.problem(f"{ENTRY} {name} is missing, and nothing shows whose it was")

    async def _keep_pair(self, name: str, own: Any, contra: Any) -> None:
        """Mend the wrong half of a pair whose amounts are not opposite."""
        if own["fits"] == contra["fits"]:
            await self._keep(own)
            await self._keep(contra)
            self._rebuilt.problem(f"{ENTRY} {name} and its other side differ, and nothing shows which is right")
            return
        right, wrong = (own, contra) if own["fits"] else (contra, own)
        await self._keep(right)
        await self._connection.execute(sql.SET_INSTEAD, wrong["transaction_id"], -right["amount"])

    async def _keep(self, row: Any) -> None:
        await self._connection.execute(sql.KEEP_ENTRY, row["transaction_id"])

    async def _write(self, transaction_id: str, user_id: str, other: Any, amount: Decimal) -> None:
        await self._connection.execute(
            sql.WRITE_ALSO, transaction_id, user_id, other["asset"], amount, other["entry_type"],
            other["reference_type"], other["reference_id"],
        )  # fmt: skip

    async def _place_missing(self) -> None:
        """Give missing entries the place that they had, as far as the running balances of their accounts show it."""
        rows = await self._connection.fetch(sql.MISSING, _PLACED_MAX + 1)
        if len(rows) > _PLACED_MAX:
            return
        by_account: defaultdict[AccountKey, list[Any]] = defaultdict(list)
        for row in rows:
            by_account[AccountKey(row["user_id"], row["asset"])].append(row)
        given: set[int] = set()
        for account, missing in by_account.items():
            jumps = await self._connection.fetch(sql.JUMPS, *account)
            for jump in jumps:
                for row in _explaining(missing, jump["jump"]):
                    missing.remove(row)
                    await self._place(row, _Gap(jump["before"], jump["after"]), given)
            for row in missing:
                gap = await self._gap_between_siblings(row)
                if gap is not None:
                    await self._place(row, gap, given)

    async def _gap_between_siblings(self, row: Any) -> _Gap | None:
        """The place between the other entries of the same trade, which are written one after the other."""
        if row["reference_type"] != TRADE_REFERENCE:
            return None
        trade_id, own = row["reference_id"], row["transaction_id"]
        names = POSTING_NAMES[:_USERS_POSTINGS], POSTING_NAMES[_USERS_POSTINGS:]
        groups = ([f"{trade_id}:{name}" for name in part] for part in names)
        group = next((each for each in groups if own in each), None)
        if group is None:
            return None
        ids: dict[str, int] = {row[0]: row[1] for row in await self._connection.fetch(sql.PLACES, group)}
        place = group.index(own)
        before = max((ids[each] for each in group[:place] if each in ids), default=None)
        after = min((ids[each] for each in group[place + 1 :] if each in ids), default=None)
        if before is None:
            return None if after is None else _Gap(after - 2, after)
        return _Gap(before, before + 2 if after is None else after)

    async def _place(self, row: Any, gap: _Gap, given: set[int]) -> None:
        taken = given | {each[0] for each in await self._connection.fetch(sql.TAKEN_IDS, *gap)}
        upper = min(gap.after, gap.before + len(taken) + 2)
        free = next((place for place in range(gap.before + 1, upper) if place not in taken), None)
        if free is not None:
            given.add(free)
            await self._connection.execute(sql.SET_PLACE, row["transaction_id"], free)

    # Changing

    async def plan(self) -> None:
        """Name every change, and change nothing."""
        await self._name_entries()
        async with self._connection.transaction(isolation="repeatable_read", readonly=True):
            for part in await self._account_parts():
                await self._mend_accounts(part, sql.PLANNED_ENTRIES, is_plan=True)

    async def repair(self) -> None:
        """Make every change."""
        await self._name_entries()
        parts = await self._account_parts()
        number = await self._connection.fetchval("SELECT count(*) FROM rebuild_changes")
        if number <= TOGETHER_MAX:
            async with self._connection.transaction():
                for part in parts:
                    await self._lock(part)
                await self._change_entries()
                for part in parts:
                    await self._mend_accounts(part, sql.PRESENT_ENTRIES, is_plan=False)
            return
        async with self._connection.transaction():
            await self._change_entries()
        for part in parts:
            async with self._connection.transaction():
                await self._lock(part)
                await self._mend_accounts(part, sql.PRESENT_ENTRIES, is_plan=False)

    async def _account_parts(self) -> list[list[AccountKey]]:
        """The accounts that may be wrong, in the order in which settlement locks them."""
        accounts = sorted((AccountKey(*row) for row in await self._connection.fetch(sql.ACCOUNTS)), key=lock_order)
        return [accounts[at : at + ACCOUNTS_AT_A_TIME] for at in range(0, len(accounts), ACCOUNTS_AT_A_TIME)]

    async def _lock(self, accounts: Sequence[AccountKey]) -> None:
        columns = _columns(accounts)
        made = await self._connection.fetch(sql.MAKE_ACCOUNTS, *columns)
        self._made |= {AccountKey(*row) for row in made}
        await self._connection.execute(sql.LOCK_ACCOUNTS, *columns)

    async def _name_entries(self) -> None:
        async with self._connection.transaction():
            named = 0
            async for row in self._connection.cursor(sql.CHANGES):
                self._rebuilt.change(ENTRY, row["transaction_id"], _entry_change(row))
                named += 1
                if named == CHANGES_MAX:
                    break
            number = await self._connection.fetchval("SELECT count(*) FROM rebuild_changes")
            self._rebuilt.count(ENTRY, number - named)

    async def _change_entries(self) -> None:
        for statement in (sql.REMOVE, sql.SET, sql.WRITE_IN_PLACE, sql.WRITE_AT_THE_END):
            await self._connection.execute(statement, timeout=_STATEMENT_TIMEOUT_S)

    async def _mend_accounts(self, accounts: Sequence[AccountKey], entries: str, *, is_plan: bool) -> None:
        rows = await self._connection.fetch(
            sql.FIGURES.format(entries=entries), *_columns(accounts), timeout=_STATEMENT_TIMEOUT_S
        )
        for row in rows:
            account = AccountKey(row["user_id"], row["asset"])
            if row["off"]:
                name = f"{row['user_id']} {row['asset']}"
                self._rebuilt.change(BALANCE, name, f"of {row['off']:,} entries follows from those before", row["off"])
                if not is_plan:
                    await self._connection.execute(sql.SET_BALANCES, *account, timeout=_STATEMENT_TIMEOUT_S)
            await self._mend_account(account, row, is_plan=is_plan)

    async def _mend_account(self, account: AccountKey, row: Any, *, is_plan: bool) -> None:
        """Make an account the sum of its entries, of which its locks hold a part."""
        available, locked = row["available"] or Decimal(0), row["locked"] or Decimal(0)
        total, by_locks = row["total"], row["by_locks"]
        name = f"{account.user_id} {account.asset}"
        is_missing = row["available"] is None or account in self._made
        if available + locked == total and locked == by_locks and not is_missing:
            return
        if not row["changes"]:
            self._rebuilt.change(ACCOUNT, name, "remove it, it has no entries")
            if not is_plan:
                await self._connection.execute(sql.REMOVE_ACCOUNT, *account)
                await self._connection.execute(sql.FORGET_ANNOUNCEMENTS, *account)
            return
        if available + locked == total and not is_missing:
            # The account is right as a whole, so its locks are not.
            await self._mend_locks(account, locked - by_locks, is_plan=is_plan)
            return
        if by_locks < 0:
            self._rebuilt.problem(f"{ACCOUNT} {name}: its unlocks exceed its locks by {decimal_to_text(-by_locks)}")
            return
        figures = (("available", available, total - by_locks), ("locked", locked, by_locks))
        if is_missing:
            words = ["write it, it is missing", *(f"{field} {decimal_to_text(to)}" for field, _, to in figures)]
        else:
            words = [
                f"{field} {decimal_to_text(has)} becomes {decimal_to_text(to)}"
                for field, has, to in figures
                if has != to
            ]
        self._rebuilt.change(ACCOUNT, name, ", ".join(words))
        if not is_plan:
            await self._connection.execute(sql.SET_ACCOUNT, *account, total - by_locks, by_locks, row["changes"])
            if not is_house(account.user_id):
                await self._connection.execute(sql.ANNOUNCE, *account, f"{REPAIR_REFERENCE}{secrets.token_hex(8)}")

    async def _mend_locks(self, account: AccountKey, lacking: Decimal, *, is_plan: bool) -> None:
        """Remove a copied lock or unlock, or write one that stands for what is lost."""
        name = f"{account.user_id} {account.asset}"
        # A copy of a lock makes the locks exceed what the account holds; one of an unlock does the opposite.
        copied = "lock" if lacking < 0 else "unlock"
        copies = await self._connection.fetch(sql.COPIED_LOCKS, *account, copied, abs(lacking))
        if len(copies) == 1:
            reference = copies[0]["reference_id"]
            self._rebuilt.change(LOCK, f"{name} {reference}", "remove it, it is a copy")
            if not is_plan:
                await self._connection.execute(sql.REMOVE_LOCK, *account, copied, reference)
            return
        direction = "lock" if lacking > 0 else "unlock"
        self._rebuilt.change(
            LOCK,
            name,
            f"write a {direction} of {decimal_to_text(abs(lacking))} that the account shows; its own reference is lost",
        )
        if not is_plan:
            reference = f"{REPAIR_REFERENCE}{secrets.token_hex(8)}"
            await self._connection.execute(sql.WRITE_LOCK, *account, reference, direction, abs(lacking))


def _explaining(missing: Sequence[Any], jump: Decimal) -> list[Any]:
    """The first run of missing entries whose amounts add up to a jump of the running balance."""
    for start in range(len(missing)):
        total = Decimal(0)
        for end in range(start, len(missing)):
            total += missing[end]["amount"]
            if total == jump:
                return list(missing[start : end + 1])
    return []


def _entry_change(row: Any) -> str:
    if row["action"] == "write":
        return f"write it, it is missing: {row['made']}"
    if row["action"] == "remove":
        return f"remove it, the engine has moved nothing like it: {row['kept']}"
    return f"{row['kept']} becomes {row['made']}"


def _values(sequence: int, place: int, posting: Posting) -> tuple[object, ...]:
    amount = Decimal(amount_to_text(posting.amount))
    return (
        sequence, place, posting.transaction_id, *posting.account, amount, posting.entry_type, posting.reference_type,
        posting.reference_id,
    )  # fmt: skip


def _columns(accounts: Sequence[AccountKey]) -> tuple[list[str], list[str]]:
    return [account.user_id for account in accounts], [account.asset for account in accounts]
