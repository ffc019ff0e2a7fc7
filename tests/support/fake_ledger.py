"""A small ledger in this process: provides ledger.balances.get, ledger.credit and ledger.debit on the real bus.

Postings are idempotent by transactionId, as the real ledger's are. A test can make it fail, stay silent or disappear.
"""

import asyncio
import time
from decimal import Decimal

from openspot.contracts import subjects
from openspot.contracts.messages import (
    BalanceUpdated,
    LedgerBalance,
    LedgerBalancesReply,
    LedgerBalancesRequest,
    LedgerPosting,
    LedgerPostingReply,
)
from openspot.contracts.refusals import Refusal, RefusalCode
from openspot.kit.bus import Bus
from openspot.kit.settings import Settings


class FakeLedger:
    """Keeps balances in memory. `asked` and `postings` are what it was sent, in order."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._bus: Bus | None = None
        self.balances: dict[tuple[str, str], Decimal] = {}
        self.posted: dict[str, LedgerPosting] = {}
        self.asked: list[LedgerBalancesRequest] = []
        self.postings: list[LedgerPosting] = []
        self.fails_with: str | None = None
        self.answers = asyncio.Event()
        self.answers.set()

    async def start(self) -> None:
        """Provide the subjects."""
        self._bus = await Bus.connect(self._settings, "fake-ledger")
        queue = subjects.LEDGER_QUEUE
        await self._bus.serve(
            subjects.LEDGER_BALANCES_GET,
            queue,
            LedgerBalancesRequest,
            self._get,
            LedgerBalancesReply.refused,
        )
        for subject, sign in ((subjects.LEDGER_CREDIT, 1), (subjects.LEDGER_DEBIT, -1)):
            await self._bus.serve(
                subject,
                queue,
                LedgerPosting,
                lambda posting, sign=sign: self._post(posting, sign),
                LedgerPostingReply.refused,
            )
        await self._bus.check()

    async def stop(self) -> None:
        """Disappear: nobody provides the subjects any more."""
        if self._bus is not None:
            await self._bus.close()
            self._bus = None

    def fund(self, user_id: str, **amounts: str) -> None:
        """Set balances, by asset."""
        for asset, amount in amounts.items():
            self.balances[user_id, asset] = Decimal(amount)

    async def change(self, user_id: str, asset: str, amount: str) -> None:
        """Set a balance and say so, as the real ledger does."""
        assert self._bus is not None
        self.fund(user_id, **{asset: amount})
        event = BalanceUpdated(user_id, asset, amount, "0", "fake", time.time_ns() // 1_000_000)
        subject = subjects.of_user(subjects.BALANCES_UPDATED, user_id)
        await self._bus.publish(subject, event, f"{user_id}-{asset}-{amount}")

    async def _get(self, request: LedgerBalancesRequest) -> LedgerBalancesReply:
        self.asked.append(request)
        await self.answers.wait()
        if self.fails_with is not None:
            return LedgerBalancesReply.refused(Refusal(RefusalCode.UNAVAILABLE, self.fails_with))
        return LedgerBalancesReply(
            [
                LedgerBalance(asset, f"{amount:f}", "0")
                for (user_id, asset), amount in self.balances.items()
                if user_id == request.user_id and request.asset in (None, asset)
            ]
        )

    async def _post(self, posting: LedgerPosting, sign: int) -> LedgerPostingReply:
        self.postings.append(posting)
        await self.answers.wait()
        if self.fails_with is not None:
            return LedgerPostingReply.refused(Refusal(RefusalCode.UNAVAILABLE, self.fails_with))
        account = (posting.user_id, posting.asset)
        if posting.transaction_id not in self.posted:
            self.posted[posting.transaction_id] = posting
            self.balances[account] = self.balances.get(account, Decimal(0)) + sign * Decimal(posting.amount)
        return LedgerPostingReply(True, f"{self.balances[account]:f}")
