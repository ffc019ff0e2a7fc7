"""An exact stand-in for the engine as far as transfers, balances and books go, with faults on demand."""

from collections import defaultdict
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from openspot.domain.market import load_markets
from openspot.domain.money import amount_to_text, to_amount
from openspot.domain.transfer import Movement, TransferKind
from openspot.engine_client.errors import EngineAmbiguousError, EngineUnreachableError
from openspot.engine_client.queries import EngineBalance, EngineBook, EngineMarket
from openspot.engine_transfers.model import TransferResult


class FakeTransfers:
    """Carries transfers out as the engine does: all movements in their order or none, once for each reference.

    `faults` holds what happens to the next calls: `unsent` (nothing arrives), `lost` (it is carried out, its reply is
    lost), `late` (nothing arrives, and the caller cannot know).
    """

    def __init__(self) -> None:
        self.balances: defaultdict[tuple[str, str], int] = defaultdict(int)
        self.done: dict[str, tuple[Movement, ...]] = {}
        self.calls: list[str] = []
        self.faults: list[str] = []

    def fund(self, account: str, asset: str, amount: str) -> None:
        """Put an amount into an account from outside."""
        self.balances[account, asset] += to_amount(Decimal(amount))

    def held(self, account: str, asset: str) -> str:
        """What an account has."""
        return amount_to_text(self.balances[account, asset])

    async def transfer(self, reference: str, movements: Sequence[Movement], kind: TransferKind) -> TransferResult:
        """Move everything or nothing."""
        self.calls.append(reference)
        fault = self.faults.pop(0) if self.faults else ""
        if fault == "unsent":
            raise EngineUnreachableError("the matching engine is not reachable")
        if fault == "late":
            raise EngineAmbiguousError("no reply")
        result = self._carry_out(reference, tuple(movements))
        if fault == "lost":
            raise EngineAmbiguousError("no reply")
        return result

    def _carry_out(self, reference: str, movements: tuple[Movement, ...]) -> TransferResult:
        if reference in self.done:
            same = self.done[reference] == movements
            return TransferResult(same, "SUCCESS" if same else "REFERENCE_CONFLICT")
        after = dict(self.balances)
        for movement in movements:
            amount = to_amount(movement.amount)
            assert amount > 0
            left = after.get((movement.source, movement.asset), 0) - amount
            if left < 0:
                return TransferResult(False, "RISK_NSF")
            after[movement.source, movement.asset] = left
            place = movement.destination, movement.asset
            after[place] = after.get(place, 0) + amount
        self.balances.update(after)
        self.done[reference] = movements
        return TransferResult(True, "SUCCESS")


class FakeQueries:
    """Books and balances of the same engine."""

    def __init__(self, transfers: FakeTransfers) -> None:
        self._transfers = transfers
        self.books: dict[str, tuple[list[tuple[str, str]], list[tuple[str, str]]]] = {}
        self.states: dict[str, str] = {}
        """Of participants that are not active."""
        self.fault: Exception | None = None

    async def participant_state(self, participant_id: str) -> str:
        """Whether a participant may place orders."""
        if self.fault is not None:
            raise self.fault
        return self.states.get(participant_id, "active")

    async def markets(self) -> list[EngineMarket]:
        """The platform's markets, all in continuous trading."""
        if self.fault is not None:
            raise self.fault
        return [
            EngineMarket(symbol, number, *symbol.split("-"), 1000, 100, "0.01", "0.001", 25, 15)
            for number, symbol in enumerate(sorted(load_markets().limits), 1)
        ]

    async def book(self, symbol: str, depth: int) -> EngineBook | None:
        """The book that a test has put there."""
        if self.fault is not None:
            raise self.fault
        if symbol not in self.books:
            return None
        bids, asks = self.books[symbol]
        return EngineBook(symbol, bids[:depth], asks[:depth], 1, 1)

    async def balances(self, user_id: str) -> list[EngineBalance]:
        """Everything that an account has is available."""
        if self.fault is not None:
            raise self.fault
        rows: Any = self._transfers.balances.items()
        return [
            EngineBalance(asset, amount_to_text(amount), amount_to_text(amount), "0", "0")
            for (account, asset), amount in rows
            if account == user_id
        ]
