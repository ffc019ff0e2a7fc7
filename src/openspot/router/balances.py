"""The figures of the balance check (Document A 1.3, design section 10).

The ledger is asked first, and its silence lets the order proceed. Where its figure does not cover the order,
the engine is asked before anything is refused: it knows of funds that never reach the ledger. Identical
questions that are under way at the same time share one answer.
"""

import asyncio
from collections.abc import Awaitable, Callable, Hashable
from decimal import Decimal, InvalidOperation
from typing import Generic, TypeVar

from openspot.contracts import subjects
from openspot.contracts.messages import LedgerBalancesReply, LedgerBalancesRequest
from openspot.domain.money import MoneyError, parse_decimal
from openspot.kit.bus import Bus, BusUnavailableError
from openspot.kit.log import get_logger
from openspot.router.engine_client import EngineClient, EngineError
from openspot.router.metrics import BALANCE_CHECKS

log = get_logger("balances")

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


class AvailableFunds:
    """What a user can spend of an asset, as far as anybody says."""

    def __init__(self, bus: Bus, engine: EngineClient, timeout_s: float) -> None:
        self._bus = bus
        self._engine = engine
        self._timeout_s = timeout_s
        self._ledger_questions = SharedQuestions(self._ask_ledger)
        self._engine_questions = SharedQuestions(self._ask_engine)

    async def available(self, user_id: str, asset: str, needed: Decimal) -> Decimal | None:
        """A figure that covers `needed` if one of the two has it, else the lower one; None lets the order proceed."""
        ledger = await self._ledger_questions.answer((user_id, asset))
        if ledger is None:
            BALANCE_CHECKS.labels("nobody").inc()
            return None
        if ledger >= needed:
            BALANCE_CHECKS.labels("ledger").inc()
            return ledger
        BALANCE_CHECKS.labels("engine").inc()
        engine = await self._engine_questions.answer((user_id, asset))
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
