"""The balances of the pre-trade check (facts A1.3-16 to A1.3-17).

The router asks the ledger first. If the ledger does not reply, the order goes to the engine. If the ledger's balance
does not cover the order, the router asks the engine before it refuses: the engine has funds that the ledger never sees.

Callers that need the same balance at the same time share one request. A balance that covers an order is reused, less
what orders have needed since, and never more than the ledger has said since (docs/adr/0136). The engine decides in any
case.
"""

import time
from collections.abc import Callable
from decimal import Decimal, InvalidOperation

from openspot.contracts import subjects
from openspot.contracts.messages import LedgerBalancesReply, LedgerBalancesRequest, Message
from openspot.domain.money import MoneyError, parse_decimal
from openspot.engine_client.commands import EngineCommands
from openspot.engine_client.errors import EngineError
from openspot.kit.bus import Bus, BusError
from openspot.kit.log import get_logger
from openspot.kit.metrics import BUS_MALFORMED
from openspot.kit.single_flight import SingleFlight
from openspot.router.metrics import balance_checks_of

log = get_logger("balances")

FIGURE_LIFE_S = 60.0
"""A balance event that is lost is believed to be in a figure for so long."""
FIGURES_MAX = 10_000
BALANCES = f"{subjects.BALANCES_UPDATED}.*"

_Account = tuple[str, str]
"""(user id, asset)."""


class _Balance(Message, frozen=True):
    """The fields of `balances.updated.<userId>` that say what an account has."""

    user_id: str
    asset: str
    available: str


class RecentFigures:
    """The available balances of recent replies of the ledger, less what orders have needed since."""

    def __init__(self, life_s: float, figures_max: int, monotonic: Callable[[], float]) -> None:
        self._life_s = life_s
        self._figures_max = figures_max
        self._monotonic = monotonic
        self._figures: dict[_Account, tuple[float, Decimal]] = {}

    def put(self, account: _Account, available: Decimal) -> None:
        """Remember a balance for `life_s` seconds."""
        self._figures.pop(account, None)
        if len(self._figures) >= self._figures_max:
            # A dict keeps the order of insertion, so the first key is the oldest.
            del self._figures[next(iter(self._figures))]
        self._figures[account] = (self._monotonic() + self._life_s, available)

    def limit(self, account: _Account, available: Decimal) -> None:
        """Lower a balance to `available`, which the ledger says that it is now. A lower one stays."""
        until, known = self._figures.get(account, (0.0, Decimal(0)))
        if available < known:
            self._figures[account] = (until, available)

    def forget(self) -> None:
        """Forget all balances."""
        self._figures.clear()

    def take(self, account: _Account, needed: Decimal) -> Decimal | None:
        """Deduct `needed` from the balance, and return the balance before. None if it is old or too small."""
        until, available = self._figures.get(account, (0.0, Decimal(0)))
        if until < self._monotonic() or available < needed:
            return None
        self._figures[account] = (until, available - needed)
        return available


class AvailableFunds:
    """The amount of an asset that a user can spend, according to the ledger or the engine."""

    def __init__(
        self, bus: Bus, engine: EngineCommands, timeout_s: float, monotonic: Callable[[], float] = time.monotonic
    ) -> None:
        self._bus = bus
        self._engine = engine
        self._timeout_s = timeout_s
        self._recent = RecentFigures(FIGURE_LIFE_S, FIGURES_MAX, monotonic)
        self._of_ledger = SingleFlight(self._ask_ledger)
        self._of_engine = SingleFlight(self._ask_engine)

    async def follow(self) -> None:
        """Follow what the ledger says of balances, from now on. Events are missed while the bus is away."""

        async def note(subject: str, balance: _Balance) -> None:
            try:
                self._recent.limit((balance.user_id, balance.asset), parse_decimal(balance.available))
            except MoneyError as error:
                BUS_MALFORMED.labels(BALANCES).inc()
                log.warning("balance event without an amount", subject=subject, error=f"available {error}")

        await self._bus.subscribe(BALANCES, _Balance, note)
        self._bus.on_reconnect(self._recent.forget)

    async def available(self, user_id: str, asset: str, needed: Decimal) -> Decimal | None:
        """The ledger's balance if it covers `needed`, else the engine's. None if the ledger does not reply."""
        account = (user_id, asset)
        recent = self._recent.take(account, needed)
        if recent is not None:
            balance_checks_of("recent").inc()
            return recent
        ledger = await self._of_ledger.get(account)
        if ledger is None:
            balance_checks_of("nobody").inc()
            return None
        if ledger >= needed:
            balance_checks_of("ledger").inc()
            self._recent.put(account, ledger - needed)
            return ledger
        balance_checks_of("engine").inc()
        engine = await self._of_engine.get(account)
        return ledger if engine is None else engine

    async def _ask_ledger(self, account: _Account) -> Decimal | None:
        user_id, asset = account
        try:
            reply = await self._bus.request(
                subjects.LEDGER_BALANCES_GET,
                LedgerBalancesRequest(user_id, asset),
                LedgerBalancesReply,
                timeout_s=self._timeout_s,
            )
        except BusError as error:
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

    async def _ask_engine(self, account: _Account) -> Decimal | None:
        user_id, asset = account
        try:
            return await self._engine.available_balance(user_id, asset, self._timeout_s)
        except (EngineError, InvalidOperation) as error:
            log.warning("balance check without the engine", error=repr(error))
            return None
