"""Random order flow of several users through the REST edge, and deposits beside it, with a record of every answer.

The flow goes on whatever happens to the platform. It keeps every reply: what it was told must hold afterwards.
"""

import asyncio
import random
import secrets
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from decimal import Decimal

from openspot.client import ApiError, OpenSpotClient, Order, UnreachableError
from openspot.client.transport import RetryPolicy
from openspot.contracts import subjects
from openspot.contracts.messages import DepositConfirmed
from openspot.kit.bus import Bus, CircuitOpenError, PublishError
from openspot.kit.settings import Settings
from tests.support.waiting import eventually

PUBLISHED_S_MAX = 600.0
"""The bus may be away for as long as a fault test keeps it down."""
SYMBOLS = ("BTC-BRL", "ETH-BRL")
"""Markets on which no other test of a shared platform trades: its prices would be too far from these."""
FIRST_DEPOSITS = {"BRL": "1000000", "BTC": "1000", "ETH": "1000.000000000000000001"}
MIDDLE_PRICE = Decimal(100)
REQUEST_TIMEOUT_S = 12.0
OPEN_KEPT_MAX = 50


@dataclass(slots=True)
class Replies:
    """What clients were told. `accepted` holds the order of each 201; the others are order ids."""

    accepted: dict[str, Order] = field(default_factory=dict)
    cancelled: set[str] = field(default_factory=set)
    rejected: set[str] = field(default_factory=set)
    unknown: set[str] = field(default_factory=set)
    answers: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True, slots=True)
class Deposit:
    """A confirmed deposit that the bus has taken, `copies` times."""

    tx_hash: str
    user_id: str
    asset: str
    amount: Decimal
    copies: int


class OrderFlow:
    """The users and what they do. Made with `OrderFlow.begin`, ended with `close`."""

    def __init__(self, settings: Settings, seed: int) -> None:
        self._settings = settings
        self._random = random.Random(seed)
        self._run_id = secrets.token_hex(4)
        self._clients: list[OpenSpotClient] = []
        self._bus: Bus | None = None
        self.users: list[str] = []
        self.replies = Replies()
        self.deposits: list[Deposit] = []

    @classmethod
    async def begin(cls, settings: Settings, seed: int, users: int, edges: Sequence[str] = ()) -> "OrderFlow":
        """Register, log in and fund the users of a healthy platform, in turn at the REST edges at `edges` if given."""
        flow = cls(settings, seed)
        # This bus belongs to no service of the platform: it tries again at once.
        flow._bus = await Bus.connect(settings.model_copy(update={"breaker_failures": 1_000_000}), "order-flow")
        for number in range(users):
            address = edges[number % len(edges)] if edges else settings.rest_url
            client = OpenSpotClient(
                address, settings.ws_url, timeout_s=REQUEST_TIMEOUT_S, retry=RetryPolicy(attempts_max=1)
            )
            email, password = f"{flow._run_id}-{number}@flow.invalid", secrets.token_urlsafe(16)
            user = await client.register(email, password)
            await client.login(email, password)
            flow._clients.append(client)
            flow.users.append(user.user_id)
            for asset, amount in FIRST_DEPOSITS.items():
                await flow._deposit(user.user_id, asset, Decimal(amount), 1)
        return flow

    async def close(self) -> None:
        """End every connection."""
        for client in self._clients:
            await client.close()
        if self._bus is not None:
            await self._bus.close()

    async def run(self, stop: asyncio.Event, pause_s: float = 0.02) -> None:
        """Place, cancel and deposit until `stop` is set. Fails on a reply that the platform must never give."""
        seeds = [self._random.randrange(1 << 30) for _ in self._clients]
        await asyncio.gather(
            self._deposit_on(stop, random.Random(self._random.randrange(1 << 30))),
            *(
                self._trade_on(client, random.Random(seed), stop, pause_s)
                for client, seed in zip(self._clients, seeds, strict=True)
            ),
        )

    # Orders

    async def _trade_on(
        self, client: OpenSpotClient, chance: random.Random, stop: asyncio.Event, pause_s: float
    ) -> None:
        own: list[str] = []
        while not stop.is_set():
            if own and (len(own) > OPEN_KEPT_MAX or chance.random() < 0.3):
                await self._cancel(client, own.pop(chance.randrange(len(own))))
            else:
                placed = await self._place(client, chance)
                if placed is not None:
                    own.append(placed)
            await _pause(stop, pause_s * chance.random() * 2)

    async def _place(self, client: OpenSpotClient, chance: random.Random) -> str | None:
        """Place one order. Returns its id if it may be cancelled later."""
        market = chance.random() < 0.2
        price = None if market else MIDDLE_PRICE + Decimal(chance.randint(-20, 20)).scaleb(-2)
        try:
            order = await client.place_order(
                chance.choice(SYMBOLS),
                chance.choice(("buy", "sell")),
                order_type="market" if market else "limit",
                quantity=Decimal(chance.randint(1, 400)).scaleb(-3),
                price=price,
                time_in_force=chance.choice((None, "gtc", "ioc", "fok")),
                client_order_id=f"c-{chance.randrange(1 << 40)}" if chance.random() < 0.5 else None,
            )
        except UnreachableError:
            self.replies.answers["place: no answer"] += 1
            return None
        except ApiError as error:
            self.replies.answers[f"place: {error.status} {error.code}"] += 1
            order_id = error.details.get("orderId")
            if error.status == 400:
                assert order_id is not None, f"a well-formed order is refused as malformed: {error}"
                self.replies.rejected.add(order_id)
            elif error.code == "ORDER_STATUS_UNKNOWN":
                assert order_id is not None, f"nobody could ask what became of the order: {error}"
                self.replies.unknown.add(order_id)
                return order_id
            else:
                assert error.status in (502, 503, 504), f"placing answers {error}"
            return None
        self.replies.answers["place: 201"] += 1
        self.replies.accepted[order.order_id] = order
        return order.order_id

    async def _cancel(self, client: OpenSpotClient, order_id: str) -> None:
        try:
            await client.cancel_order(order_id)
        except UnreachableError:
            self.replies.answers["cancel: no answer"] += 1
        except ApiError as error:
            self.replies.answers[f"cancel: {error.status} {error.code}"] += 1
            if error.status == 404:
                assert order_id not in self.replies.accepted, f"an accepted order is not found: {order_id}"
            else:
                assert error.status in (409, 502, 503, 504), f"cancelling answers {error}"
        else:
            self.replies.answers["cancel: 200"] += 1
            self.replies.cancelled.add(order_id)

    # Deposits

    async def _deposit_on(self, stop: asyncio.Event, chance: random.Random) -> None:
        while not stop.is_set():
            asset = chance.choice(("BRL", "BTC", "ETH"))
            places = {"BRL": 2, "BTC": 8, "ETH": 18}[asset]
            amount = Decimal(chance.randint(1, 10 ** (places + 1))).scaleb(-places)
            # Publish every third deposit twice.
            await self._deposit(chance.choice(self.users), asset, amount, 1 + (len(self.deposits) % 3 == 0))
            await _pause(stop, 0.4 * chance.random())

    async def _deposit(self, user_id: str, asset: str, amount: Decimal, copies: int) -> None:
        tx_hash = f"{self._run_id}-{len(self.deposits)}"
        self.deposits.append(Deposit(tx_hash, user_id, asset, amount, copies))
        event = DepositConfirmed(tx_hash, user_id, asset, format(amount, "f"))
        for copy in range(copies):
            # Each copy has its own message id, so that the stream keeps them all.
            await self._publish(event, f"{tx_hash}-{copy}")

    async def _publish(self, event: DepositConfirmed, message_id: str) -> None:
        bus = self._bus
        assert bus is not None, "made with begin"

        async def is_published() -> bool:
            try:
                await bus.publish(subjects.CUSTODY_DEPOSIT_CONFIRMED, event, message_id)
            except (PublishError, CircuitOpenError):
                return False
            return True

        await eventually(is_published, PUBLISHED_S_MAX, 0.1)


async def _pause(stop: asyncio.Event, seconds: float) -> None:
    """Let a user think, but not beyond `stop`."""
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await stop.wait()
