"""The figures of the balance check (Document A 1.3, design section 10).

The ledger is asked first, and its silence lets the order proceed. Where its figure does not cover the order,
the engine is asked before anything is refused: it knows of funds that never reach the ledger. Identical
questions that are under way at the same time share one answer, and an answer of the ledger holds for a moment, less
what orders have asked of it since: the engine decides in any case, and only a figure that covers an order is used
again.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Hashable
from decimal import Decimal, InvalidOperation
from typing import Generic, TypeVar

from openspot.contracts import subjects
from openspot.contracts.messages import LedgerBalancesReply, LedgerBalancesRequest
from openspot.domain.money import MoneyError, parse_decimal
from openspot.kit.bus import Bus
from openspot.kit.bus_connection import BusUnavailableError
from openspot.kit.log import get_logger
from openspot.router.engine_client import EngineClient, EngineError
from openspot.router.metrics import BALANCE_CHECKS

log = get_logger("balances")

ANSWER_LIFE_S = 0.1
ANSWERS_MAX = 10_000

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


class SharedQuestions(Generic[Key, Value]):
    """Asks each question once at a time, whoever wants to know meanwhile gets the same answer."""

    def __init__(self, ask: Callable[[Key], Awaitable[Value]]) -> None:
        self._ask = ask
        self._under_way: dict[Key, asyncio.Task[Value]] = {}

    async def answer(self, key: Key) -> Value:
        """The answer to `key`; raises what asking raises."""
        task = self._under_way.get(key)
        if task is None:
            task = self._under_way[key] = asyncio.ensure_future(self._asked(key))
        # One caller that is cancelled does not cancel the others' answer.
        return await asyncio.shield(task)

    async def _asked(self, key: Key) -> Value:
        try:
            return await self._ask(key)
        finally:
            del self._under_way[key]


class RecentAnswers:
    """What the ledger answered a moment ago, of which orders have asked some since."""

    def __init__(self, life_s: float, answers_max: int, monotonic: Callable[[], float]) -> None:
        self._life_s = life_s
        self._answers_max = answers_max
        self._monotonic = monotonic
        self._answers: dict[tuple[str, str], tuple[float, Decimal]] = {}

    def put(self, key: tuple[str, str], available: Decimal) -> None:
        """Keep an answer for its life."""
        self._answers.pop(key, None)
        if len(self._answers) >= self._answers_max:
            # The oldest was put first.
            del self._answers[next(iter(self._answers))]
        self._answers[key] = (self._monotonic() + self._life_s, available)

    def take(self, key: tuple[str, str], needed: Decimal) -> Decimal | None:
        """The answer, if it is recent and covers `needed`, which it is then less."""
        answer = self._answers.get(key)
        if answer is None or answer[0] < self._monotonic() or answer[1] < needed:
            return None
        self._answers[key] = (answer[0], answer[1] - needed)
        return answer[1]


class AvailableFunds:
    """What a user can spend of an asset, as far as anybody says."""

    def __init__(
        self, bus: Bus, engine: EngineClient, timeout_s: float, monotonic: Callable[[], float] = time.monotonic
    ) -> None:
        self._bus = bus
        self._engine = engine
        self._timeout_s = timeout_s
        self._recent = RecentAnswers(ANSWER_LIFE_S, ANSWERS_MAX, monotonic)
        self._ledger_questions = SharedQuestions(self._ask_ledger)
        self._engine_questions = SharedQuestions(self._ask_engine)

    async def available(self, user_id: str, asset: str, needed: Decimal) -> Decimal | None:
        """A figure that covers `needed` if one of the two has it, else the lower one; None lets the order proceed."""
        key = (user_id, asset)
        recent = self._recent.take(key, needed)
        if recent is not None:
            BALANCE_CHECKS.labels("recent").inc()
            return recent
        ledger = await self._ledger_questions.answer(key)
        if ledger is None:
            BALANCE_CHECKS.labels("nobody").inc()
            return None
        if ledger >= needed:
            BALANCE_CHECKS.labels("ledger").inc()
            self._recent.put(key, ledger - needed)
            return ledger
        BALANCE_CHECKS.labels("engine").inc()
        engine = await self._engine_questions.answer(key)
        return ledger if engine is None else engine

    async def _ask_ledger(self, key: tuple[str, str]) -> Decimal | None:
        user_id, asset = key
        try:
            reply = await self._bus.request(
                subjects.LEDGER_BALANCES_GET,
                LedgerBalancesRequest(user_id, asset),
                LedgerBalancesReply,
                timeout_s=self._timeout_s,
            )
        except BusUnavailableError as error:
            log.warning("balance check without the ledger", error=str(error))
            return None
        if reply.error is not None:
            log.warning("balance check without the ledger", error=reply.error)
            return None
        try:
            return next((parse_decimal(row.available) for row in reply.balances if row.asset == asset), Decimal(0))
        except MoneyError as error:
            log.warning("balance check without the ledger", error=f"available {error}")
            return None

    async def _ask_engine(self, key: tuple[str, str]) -> Decimal | None:
        user_id, asset = key
        try:
            return await self._engine.free_balance(user_id, asset, self._timeout_s)
        except (EngineError, InvalidOperation) as error:
            log.warning("balance check without the engine", error=repr(error))
            return None
