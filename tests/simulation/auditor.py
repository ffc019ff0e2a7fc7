"""The auditor compares what really happened (history.py) with everything that the platform shows.

It trusts no service and reads plain data only: rows, entries, messages as JSON, replies to clients.
"""

import json
from collections import Counter
from collections.abc import Iterable
from decimal import Context, Decimal
from operator import itemgetter
from typing import Any

from tests.simulation.clients import Told
from tests.simulation.history import HOUSE, ONE, History, Market, State, TradeHistory
from tests.simulation.ledger import LedgerTables
from tests.simulation.rows import Rows

EPOCH = "sim"
EXTERNAL = "house:external"
_HOUSE_PREFIX = "house:"
_EXACT = Context(prec=80)

Messages = Iterable[tuple[str, str, bytes]]
"""(subject, message id, payload) of each message of a stream."""


def units(value: str | Decimal | None, scale: int = ONE) -> int:
    """A decimal as an integer at `scale`. Fails if digits would be lost."""
    scaled = _EXACT.multiply(Decimal(value or 0), Decimal(scale))
    assert scaled == int(scaled), f"{value} has more places than {scale}"
    return int(scaled)


class Auditor:
    """Checks one part after the other. `findings` lists what is wrong."""

    def __init__(self, history: History) -> None:
        self.history = history
        self.findings: list[str] = []

    def _expect(self, what: str, shown: object, real: object) -> None:
        if shown != real:
            self.findings.append(f"{what}: {shown!r} is shown, {real!r} is right")

    # The ledger

    def look_at_ledger(self, tables: LedgerTables, told: Told) -> None:
        """Check balances and entries, and that every asset sums to zero."""
        history = self.history
        shown = {account: state.available + state.locked for account, state in tables.accounts.items()}
        outside: Counter[str] = Counter()
        for (_, asset), amount in history.totals.items():
            outside[asset] -= amount
        real = dict(history.totals) | {(EXTERNAL, asset): amount for asset, amount in outside.items()}
        for account in sorted(shown.keys() | real.keys()):
            self._expect(f"ledger account {account}", shown.get(account, 0), real.get(account, 0))
        entries: Counter[tuple[str, str]] = Counter()
        last: dict[tuple[str, str], int] = {}
        for entry in tables.entries.values():
            entries[entry.posting.account] += entry.posting.amount
            last[entry.posting.account] = entry.balance
        for account, total in shown.items():
            self._expect(f"sum of the entries of {account}", entries[account], total)
            self._expect(f"balance of the newest entry of {account}", last.get(account, 0), total)
        for asset in {asset for _, asset in shown}:
            self._expect(f"sum of {asset}", sum(total for account, total in shown.items() if account[1] == asset), 0)
        self._look_at_entries(tables, told)
        self._expect("trades and transfers that the ledger refused", [trade.trade_id for trade in tables.rejected], [])

    def _look_at_entries(self, tables: LedgerTables, told: Told) -> None:
        real: dict[str, tuple[str, str, int]] = {}
        for trade in self.history.trades:
            real |= _postings(trade)
        for move in self.history.moves:
            if move.kind in ("DEPOSIT", "COMMIT"):
                amount = move.amount
                # A COMMIT names its reservation by the reference alone, like every command of the custody bridge.
                real[move.reference] = (move.user, move.asset, amount)
                real[f"{move.reference}:contra"] = (EXTERNAL, move.asset, -amount)
        for transfer in self.history.transfers:
            for number, (source, destination, asset, amount) in enumerate(transfer.movements, 1):
                real[f"{transfer.reference}:{number}:transfer-debit"] = (source, asset, -amount)
                real[f"{transfer.reference}:{number}:transfer-credit"] = (destination, asset, amount)
        for key in sorted(tables.entries.keys() | real.keys()):
            entry = tables.entries.get(key)
            shown = None if entry is None else (*entry.posting.account, entry.posting.amount)
            self._expect(f"ledger entry {key}", shown, real.get(key))
        for tx_hash, deposit in told.deposits.items():
            credited = (deposit.user_id, deposit.asset, units(deposit.amount))
            self._expect(f"deposit {tx_hash}", real.get(tx_hash), credited)

    # Rows

    def look_at_rows(self, rows: Rows, told: Told) -> None:
        """Order and trade rows."""
        for fault in rows.faults:
            self.findings.append(fault)
        for order_id, order in self.history.orders.items():
            row = rows.orders.get(order_id)
            if row is None:
                self.findings.append(f"order {order_id} has no row")
                continue
            shown = (row.engine_order_id, row.user_id, row.symbol, row.side, row.status.value, row.reject_reason or "")
            final = order.final
            reason = final.reason if final.status == "rejected" else ""
            real = (order.engine_order_id, order.user, order.market.symbol, order.side, final.status, reason)
            self._expect(f"row of order {order_id}", shown, real)
            scale = order.market.quantity_scale
            amounts = (
                units(row.quantity, scale),
                units(row.filled_quantity, scale),
                units(row.remaining_quantity, scale),
                units(row.filled_notional),
                units(row.fee),
            )
            # Of an order whose quantity the engine finds, a refusal has the router's estimate.
            quantity = amounts[0] if reason and order.is_sized else order.quantity
            expected = (quantity, final.filled, final.remaining, final.notional, final.fee)
            self._expect(f"figures of the row of order {order_id}", amounts, expected)
        for order_id, row in rows.orders.items():
            if order_id not in self.history.orders:
                self._expect(f"row of order {order_id}, which the engine never held", row.status.value, "rejected")
                self._expect(f"order {order_id} asked for", order_id in told.requests, True)
        self._look_at_trade_rows(rows)

    def _look_at_trade_rows(self, rows: Rows) -> None:
        real = {f"{EPOCH}-{trade.sequence}": trade for trade in self.history.trades}
        self._expect("ids of trade rows", sorted(rows.trades), sorted(real))
        for trade_id, row in rows.trades.items():
            if trade_id in real:
                trade, market = real[trade_id], real[trade_id].market
                shown = (
                    row.symbol,
                    units(row.price, market.price_scale),
                    units(row.quantity, market.quantity_scale),
                    row.taker_side,
                    (row.taker_order_id, row.maker_order_id),
                    (row.buyer_id, row.seller_id),
                    (units(row.taker_fee), units(row.maker_fee), row.fee_currency),
                )
                self._expect(f"row of trade {trade_id}", shown, _trade_figures(trade))

    # What is published

    def look_at_order_events(self, messages: Messages, told: Told) -> None:
        """Every order's events must come once by message id, in the order of its states, none more or less."""
        heard: dict[str, list[tuple[Any, ...]]] = {}
        anew = {f"refused-{told.asked[order_id].user_id}-{order_id}" for order_id in told.checked_anew & told.repeated}
        own = [each for each in messages if each[1] not in anew]
        self._look_at_incomplete([each for each in own if _is_incomplete(each[0])])
        for subject, _, event in self._without_repeats(each for each in own if not _is_incomplete(each[0])):
            order = event["order"]
            order_id = order["orderId"]
            self._expect(f"subject of an event of {order_id}", subject, f"orders.{event['event']}.{order['userId']}")
            if event["sequence"] == 0:
                # The router refused the order before the engine saw it.
                stands = order_id in self.history.orders
                self._expect(f"order {order_id}, told as refused, in the engine", stands, False)
                self._expect(f"order {order_id} asked for", order_id in told.requests, True)
            elif order_id not in self.history.orders:
                self.findings.append(f"an event of order {order_id}, which the engine never had")
            else:
                heard.setdefault(order_id, []).append(_heard(event, self.history.orders[order_id].market))
        for order_id, order in self.history.orders.items():
            real = [_real(state) for state in order.heard]
            self._expect(f"events of order {order_id}", heard.get(order_id, []), real)

    def _look_at_incomplete(self, messages: Messages) -> None:
        """Each order that ended with a part filled is told once; without a fill, only one whose trigger had fired."""
        told: list[tuple[Any, ...]] = []
        for subject, _, event in self._without_repeats(messages):
            order = self.history.orders.get(event["orderId"])
            if order is None:
                self.findings.append(f"an incomplete order {event['orderId']}, which the engine never had")
                continue
            self._expect(f"subject of incomplete order {order.order_id}", subject, f"orders.incomplete.{order.user}")
            filled = units(event["filledQuantity"], order.market.quantity_scale)
            if filled:
                told.append((order.order_id, filled))
            elif order.final.filled or not any(state.triggered_ms for state in order.states):
                self.findings.append(f"order {order.order_id} is told as fired for nothing")
        real = [
            (order.order_id, order.final.filled)
            for order in self.history.orders.values()
            if order.final.status == "cancelled" and order.final.filled
        ]
        self._expect("incomplete orders", sorted(told), sorted(real))

    def look_at_trade_events(self, messages: Messages, *, is_divided: bool = False) -> None:
        """Each trade must have one `trades.executed`, in order, and one `trades.executed.<SYMBOL>` for each side.

        With several partitions, only the trades of one symbol are in order.
        """
        shown, sides = [], Counter[tuple[str, str, int]]()
        for subject, _, trade in self._without_repeats(messages):
            if subject != "trades.executed":
                sides[subject, trade["liquidity"], trade["sequence"]] += 1
                continue
            market = next(real.market for real in self.history.trades if real.market.symbol == trade["symbol"])
            fees = trade["fees"]
            shown.append(
                (
                    trade["id"],
                    trade["symbol"],
                    units(trade["price"], market.price_scale),
                    units(trade["qty"], market.quantity_scale),
                    (trade["buyerId"], trade["sellerId"]),
                    (units(fees["buyer"]["amount"]), units(fees["seller"]["amount"])),
                )
            )
        real = [_executed(trade) for trade in self.history.trades]
        if is_divided:
            shown.sort(key=itemgetter(1))
            real.sort(key=itemgetter(1))
        self._expect("trades.executed", shown, real)
        expected = Counter(
            (f"trades.executed.{trade.market.symbol}", role, trade.sequence)
            for trade in self.history.trades
            for role in ("taker", "maker")
        )
        self._expect("trades.executed.<SYMBOL>", sides, expected)

    def look_at_balance_events(self, messages: Messages, tables: LedgerTables) -> None:
        """The newest event of each user's account must show its balance."""
        newest: dict[tuple[str, str], dict[str, Any]] = {}
        for _, _, payload in messages:
            event = json.loads(payload)
            account = event["userId"], event["asset"]
            if account not in newest or event["version"] >= newest[account]["version"]:
                newest[account] = event
        for account, state in tables.accounts.items():
            if not account[0].startswith(_HOUSE_PREFIX):
                event = newest.get(account, {})
                self._expect(f"newest balance event of {account}", units(event.get("available")), state.available)

    def _without_repeats(self, messages: Messages) -> list[tuple[str, str, Any]]:
        events, differing = without_repeats(messages)
        self.findings += differing
        return events


def without_repeats(messages: Messages) -> tuple[list[tuple[str, str, Any]], list[str]]:
    """The first message of each id, and a finding for each later message of that id that is not equal to it."""
    first: dict[str, tuple[str, bytes]] = {}
    differing = []
    for subject, message_id, payload in messages:
        known = first.setdefault(message_id, (subject, payload))
        if known != (subject, payload):
            differing.append(f"a repeat of message {message_id}: {(subject, payload)!r} is shown, {known!r} is right")
    return [(subject, message_id, json.loads(payload)) for message_id, (subject, payload) in first.items()], differing


def _postings(trade: TradeHistory) -> dict[str, tuple[str, str, int]]:
    """Double entries of a trade: what each account gives and gets (facts A2.4-09 to A2.4-15)."""
    buyer_fee, seller_fee = _fees(trade)
    buyer, seller = trade.buyer.user, trade.seller.user
    base, quote = trade.market.base, trade.market.quote
    postings = {
        "buyer-quote": (buyer, quote, -trade.notional),
        "buyer-base": (buyer, base, trade.base_amount),
        "seller-base": (seller, base, -trade.base_amount),
        "seller-quote": (seller, quote, trade.notional),
        "buyer-fee": (buyer, quote, -buyer_fee),
        "seller-fee": (seller, quote, -seller_fee),
        "house-buyer-fee": (HOUSE, quote, buyer_fee),
        "house-seller-fee": (HOUSE, quote, seller_fee),
    }
    return {f"{EPOCH}-{trade.sequence}:{name}": posting for name, posting in postings.items()}


def _fees(trade: TradeHistory) -> tuple[int, int]:
    """(the buyer's fee, the seller's fee)."""
    fees = trade.taker_fee, trade.maker_fee
    return fees if trade.taker.side == "buy" else (fees[1], fees[0])


def _trade_figures(trade: TradeHistory) -> tuple[Any, ...]:
    return (
        trade.market.symbol,
        trade.price,
        trade.quantity,
        trade.taker.side,
        (trade.taker.order_id, trade.maker.order_id),
        (trade.buyer.user, trade.seller.user),
        (trade.taker_fee, trade.maker_fee, trade.market.quote),
    )


def _is_incomplete(subject: str) -> bool:
    return subject.startswith("orders.incomplete.")


def _executed(trade: TradeHistory) -> tuple[Any, ...]:
    return (
        f"{EPOCH}-{trade.sequence}",
        trade.market.symbol,
        trade.price,
        trade.quantity,
        (trade.buyer.user, trade.seller.user),
        _fees(trade),
    )


def _heard(event: dict[str, Any], market: Market) -> tuple[Any, ...]:
    order = event["order"]
    scale = market.quantity_scale
    return (
        event["event"],
        event["sequence"],
        order["status"],
        units(order["filledQuantity"], scale),
        units(order["remainingQuantity"], scale),
        units(order["fee"]),
    )


def _real(state: State) -> tuple[Any, ...]:
    return (state.event, state.sequence, state.status, state.filled, state.remaining, state.fee)
