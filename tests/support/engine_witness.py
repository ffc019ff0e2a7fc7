"""Puts load on an engine, remembers every response, and checks after a kill that all of them still hold.

`check` runs after a restart and before any new command. It proves that every acknowledged command is found at the
sequence of its response, that no order, trade or reference exists twice, that the sum of each asset equals deposits
less withdrawals, and that the state equals a replay of the journal from the beginning.
"""

import asyncio
import random
from collections import Counter, defaultdict
from contextlib import suppress
from decimal import Decimal
from typing import Any, NamedTuple

import grpc

from openspot.contracts.gen.exchange.v1 import accounts_pb2
from openspot.contracts.gen.exchange.v1 import orders_pb2 as pb
from openspot.engine.engine import journal_path
from openspot.engine.journal.inspection import verify
from tests.support.engine_client import SCALE, EngineClient, EngineProcess, order

WORKERS = 8
FIRST_FUNDS = {"USD": "1000000", "BTC": "1000"}
TRADERS = ("alice", "bob")
_TOLD_AGAIN = 300
"""How many earlier events are read again after each kill. The last check reads the whole history."""


class Transfer(NamedTuple):
    """A deposit, or a withdrawal if negative, requested under a reference."""

    currency: str
    amount: Decimal


class Witness:
    """The requests to one engine and its responses."""

    def __init__(self, seed: int) -> None:
        self.events: list[dict[str, Any]] = []
        self.answered = 0
        """How many commands were acknowledged."""
        self._random = random.Random(seed)
        self._owners: dict[int, str] = {}
        self._asked: dict[str, Transfer] = {}
        self._transferred: dict[str, int] = {}
        # Responses since the last check.
        self._unchecked: list[pb.PlaceOrderResponse | pb.CancelOrderResponse] = []

    # Load

    async def fund(self, engine: EngineClient) -> None:
        """Fund the traders."""
        for trader in TRADERS:
            for currency, amount in FIRST_FUNDS.items():
                assert await self.transfer(engine, trader, currency, Decimal(amount))

    async def load(self, engine: EngineClient) -> None:
        """Send orders, cancels, deposits and withdrawals concurrently until the engine is gone."""
        with suppress(grpc.aio.AioRpcError):
            await asyncio.gather(*(self._work(engine) for _ in range(WORKERS)))

    async def _work(self, engine: EngineClient) -> None:
        while True:
            choice = self._random.random()
            if choice < 0.15:
                trader = self._random.choice((*TRADERS, f"user-{self._random.randrange(50)}"))
                await self.transfer(engine, trader, "USD", Decimal(self._random.choice((3, 2, -1))))
            elif choice < 0.35 and self._owners:
                order_id = self._random.choice(list(self._owners))
                await self.cancel(engine, order_id)
            else:
                await self.place(engine, [self._order() for _ in range(self._random.choice((1, 1, 1, 20)))])

    def _order(self) -> pb.PlaceOrderRequest:
        side, trader = self._random.choice(("buy", "sell")), self._random.choice(TRADERS)
        price = str(100 + self._random.randint(-5, 5))
        return order(side, price, "0.01", trader, order_id=self._random.getrandbits(60))

    async def place(self, engine: EngineClient, requests: list[pb.PlaceOrderRequest]) -> None:
        """Place orders in one call and remember the responses."""
        answers = (await engine.orders.PlaceOrders(pb.PlaceOrdersRequest(orders=requests))).orders
        for request, answer in zip(requests, answers, strict=True):
            assert answer.sequence, answer
            self._owners[answer.order_id] = request.participant_id
            self._unchecked.append(answer)
        self.answered += len(answers)

    async def cancel(self, engine: EngineClient, order_id: int) -> None:
        """Cancel an order for its owner and remember the response."""
        answer = await engine.cancel(order_id, self._owners[order_id])
        self.answered += 1
        if answer.result_code == "SUCCESS":
            self._unchecked.append(answer)

    async def transfer(
        self, engine: EngineClient, participant: str, currency: str, amount: Decimal, *, reference: str = ""
    ) -> bool:
        """Deposit, or withdraw if negative, under `reference` or a new one. Returns whether it succeeded."""
        reference = reference or f"transfer-{self._random.getrandbits(64)}"
        self._asked[reference] = Transfer(currency, amount)
        fields = {"participant_id": participant, "currency": currency, "reference": reference}
        answer: accounts_pb2.DepositResponse | accounts_pb2.WithdrawResponse
        if amount > 0:
            answer = await engine.accounts.Deposit(accounts_pb2.DepositRequest(amount=str(amount), **fields))
        else:
            answer = await engine.accounts.Withdraw(accounts_pb2.WithdrawRequest(amount=str(-amount), **fields))
        self.answered += 1
        if answer.success:
            # A repeated transfer emits no event, so its sequence is 0.
            self._transferred[reference] = answer.sequence
        return answer.success

    # After a restart

    async def check(self, engine: EngineClient, child: EngineProcess, core: str) -> None:
        """Run all checks that this file's docstring lists; `core` names the core for the replay."""
        await self._read_events(engine, max(1, len(self.events) - _TOLD_AGAIN + 1))
        self._check_answers()
        self._check_nothing_is_twice()
        await self._check_sums(engine)
        self._check_replay(child, core)

    async def check_history(self, engine: EngineClient) -> None:
        """Check that the engine still sends the whole history unchanged."""
        await self._read_events(engine, 1)

    async def _read_events(self, engine: EngineClient, first: int) -> None:
        last = await engine.last_sequence()
        assert last >= len(self.events), "events that were told are gone"
        events = await engine.events(first, last)
        assert [event["seq"] for event in events] == list(range(first, last + 1))
        replies = self.events[first - 1 :]
        assert events[: len(replies)] == replies
        self.events[first - 1 :] = events

    def _check_answers(self) -> None:
        for answer in self._unchecked:
            event = self.events[answer.sequence - 1]
            order_id = str(answer.order_id)
            if isinstance(answer, pb.CancelOrderResponse):
                assert (event["type"], event["orderId"], event["reason"]) == ("reduce", order_id, "CANCELLED_BY_USER")
                assert Decimal(event["quantity"]) * SCALE == answer.cancelled_quantity
            elif answer.status == pb.REJECTED:
                assert (event["type"], event["orderId"], event["reason"]) == ("reject", order_id, answer.result_code)
            else:
                self._check_taken(answer, order_id)
        self._unchecked.clear()
        credited = {event["reference"]: event for event in self.events if event["type"] == "balance"}
        for reference, sequence in self._transferred.items():
            assert sequence in (0, credited[reference]["seq"]), reference
            assert Decimal(credited[reference]["amount"]) == self._asked[reference].amount

    def _check_taken(self, answer: pb.PlaceOrderResponse, order_id: str) -> None:
        """Check that the events of each order end at the sequence and fill the quantity of its response."""
        filled = 0
        for event in reversed(self.events[: answer.sequence]):
            if event["type"] == "trade" and event["takerOrderId"] == order_id:
                filled += int(Decimal(event["quantity"]) * SCALE)
            elif event["type"] == "accepted":
                assert event["orderId"] == order_id
                break
        assert filled == answer.filled_quantity

    def _check_nothing_is_twice(self) -> None:
        names: Counter[tuple[str, str]] = Counter()
        open_quantity: dict[str, Decimal] = defaultdict(Decimal)
        for event in self.events:
            if event["type"] in ("accepted", "reject"):
                names["order", event["orderId"]] += 1
                open_quantity[event["orderId"]] += Decimal(event["quantity"])
            elif event["type"] == "trade":
                names["trade", event["tradeId"]] += 1
                for name in (event["takerOrderId"], event["makerOrderId"]):
                    open_quantity[name] -= Decimal(event["quantity"])
            elif event["type"] == "reduce":
                open_quantity[event["orderId"]] -= Decimal(event["quantity"])
            elif event["type"] == "balance":
                names["reference", event["reference"]] += 1
                assert event["reference"] in self._asked
        assert [name for name, count in names.items() if count > 1] == []
        assert min(open_quantity.values(), default=Decimal()) >= 0, "more left an order than was in it"

    async def _check_sums(self, engine: EngineClient) -> None:
        """Check that the sum of each asset over all accounts, including fees, is deposits less withdrawals."""
        status, body = await engine.request("GET", "/api/v1/balances")
        assert status == 200, body
        held: dict[str, Decimal] = defaultdict(Decimal)
        for row in body["balances"]:
            held[row["currency"]] += Decimal(row["total"])
        expected: dict[str, Decimal] = defaultdict(Decimal)
        for event in self.events:
            if event["type"] == "balance":
                transfer = self._asked[event["reference"]]
                expected[transfer.currency] += transfer.amount
        assert held == expected

    def _check_replay(self, child: EngineProcess, core: str) -> None:
        """Check that the recovered state and all snapshots equal a replay from the beginning."""
        started = [line for line in child.log() if line["event"] == "recovered the engine state"][-1]
        report = verify(journal_path(child.settings), core)
        assert report.problems == []
        assert (report.commands, report.state_hash) == (started["commands"], started["state_hash"])
        assert report.events == len(self.events)

    @property
    def trades(self) -> int:
        """How many trades there were."""
        return sum(event["type"] == "trade" for event in self.events)
