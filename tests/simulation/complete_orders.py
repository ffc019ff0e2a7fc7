"""Orders under the complete rules, at random: what the simulated traders ask for in the worlds that have them."""

import random

from openspot.contracts.messages import OrderRequest
from openspot.domain.order import PostOnlyMode, SelfTradePrevention
from openspot.kit.clock import iso_from_ms

CLIENT_IDS = 5
"""Each user chooses among so many client order ids, so that open orders meet orders that want the same one."""
_STOPS = ("stop_market", "stop_limit", "take_profit_market", "take_profit_limit")
_LIFETIMES_MS = (400, 2_000, 7_000, 30_000)


def complete_order(chance: random.Random, order_id: str, user: str, symbol: str, now_ms: int) -> OrderRequest:
    """An order that asks for something that only the complete rules have."""
    side, hundredths = chance.choice(("buy", "sell")), chance.randint(2, 60)
    quantity, kind = str(hundredths / 100), chance.random()
    prevention = chance.choice(tuple(SelfTradePrevention)).value if chance.random() < 0.3 else None
    client_order_id = f"{user}-{chance.randint(1, CLIENT_IDS)}" if chance.random() < 0.4 else f"c-{order_id}"
    if kind < 0.3:
        return _stop(chance, order_id, symbol, side, quantity, client_order_id, prevention, now_ms)
    if kind < 0.45:
        return _trailing(chance, order_id, symbol, side, quantity, client_order_id, prevention)
    if kind < 0.53:
        return OrderRequest(
            order_id, symbol, side, "market", quote_quantity=str(chance.randint(2, 50)),
            client_order_id=client_order_id, self_trade_prevention=prevention,
        )  # fmt: skip
    time_in_force = chance.choice(("gtc", "gtc", "gtd", "gtd", "ioc", "fok"))
    rests = time_in_force in ("gtc", "gtd")
    is_maker = rests and chance.random() < 0.5
    return OrderRequest(
        order_id,
        symbol,
        side,
        "limit",
        quantity,
        _price(chance, 0),
        time_in_force=time_in_force,
        client_order_id=client_order_id,
        post_only=chance.choice(tuple(PostOnlyMode)).value if is_maker else None,
        expires_at=_expiry(chance, time_in_force, now_ms),
        self_trade_prevention=prevention,
        display_quantity=_displayed(chance, hundredths) if rests and chance.random() < 0.6 else None,
    )


def complete_list(
    chance: random.Random, list_id: str, user: str, symbol: str, now_ms: int
) -> tuple[str, tuple[OrderRequest, ...]]:
    """The type and the orders of a list: an entry, which the others leave; a gain, a stop, or both."""
    list_type, side = chance.choice(("oco", "oto", "bracket")), chance.choice(("buy", "sell"))
    quantity, sign, middle = str(chance.randint(2, 40) / 100), 1 if side == "buy" else -1, chance.randint(-2, 2)
    other = "sell" if side == "buy" else "buy"
    time_in_force = chance.choice(("gtc", "gtc", "gtd", "ioc"))
    entry = OrderRequest(
        f"{list_id}-1",
        symbol,
        side,
        "limit",
        quantity,
        _text(middle),
        time_in_force=time_in_force,
        expires_at=_expiry(chance, time_in_force, now_ms),
    )
    client_order_id = f"{user}-{chance.randint(1, CLIENT_IDS)}" if chance.random() < 0.3 else None
    gain = OrderRequest(
        f"{list_id}-2", symbol, other, "limit", quantity, _text(middle + sign * chance.randint(2, 5)),
        client_order_id=client_order_id,
    )  # fmt: skip
    quarters = middle - sign * chance.randint(2, 5)
    has_limit = chance.random() < 0.5
    stop = OrderRequest(
        f"{list_id}-3",
        symbol,
        other,
        "stop_limit" if has_limit else "stop_market",
        quantity,
        _text(quarters - sign * chance.randint(0, 3)) if has_limit else None,
        stop_price=_text(quarters),
        trigger_by=chance.choice((None, "mark")),
    )
    if list_type == "oco":
        return list_type, (gain, stop)
    return list_type, (entry, chance.choice((gain, stop))) if list_type == "oto" else (entry, gain, stop)


def _stop(
    chance: random.Random,
    order_id: str,
    symbol: str,
    side: str,
    quantity: str,
    client_order_id: str,
    prevention: str | None,
    now_ms: int,
) -> OrderRequest:
    order_type = chance.choice(_STOPS)
    is_above = (side == "buy") is order_type.startswith("stop")
    quarters = chance.randint(1, 5) if is_above else -chance.randint(1, 5)
    has_limit = order_type.endswith("limit")
    time_in_force = chance.choice(("gtc", "gtc", "gtd", "fok")) if has_limit else "gtc"
    return OrderRequest(
        order_id,
        symbol,
        side,
        order_type,
        quantity,
        _price(chance, quarters) if has_limit else None,
        stop_price=_text(quarters),
        time_in_force=time_in_force,
        max_slippage_bps=None if has_limit else chance.choice((None, "0", "150")),
        client_order_id=client_order_id,
        trigger_by=chance.choice((None, "last", "mark")),
        expires_at=_expiry(chance, time_in_force, now_ms),
        self_trade_prevention=prevention,
    )


def _trailing(
    chance: random.Random,
    order_id: str,
    symbol: str,
    side: str,
    quantity: str,
    client_order_id: str,
    prevention: str | None,
) -> OrderRequest:
    has_limit, has_amount = chance.random() < 0.5, chance.random() < 0.5
    quarters = 3 if side == "buy" else -3
    return OrderRequest(
        order_id,
        symbol,
        side,
        "trailing_stop_limit" if has_limit else "trailing_stop_market",
        quantity,
        _price(chance, quarters) if has_limit else None,
        client_order_id=client_order_id,
        trigger_by=chance.choice((None, "mark")),
        trailing_amount=chance.choice(("0.25", "0.50", "0.07")) if has_amount else None,
        trailing_bps=None if has_amount else chance.choice((9, 33, 70)),
        self_trade_prevention=prevention,
    )


def _expiry(chance: random.Random, time_in_force: str, now_ms: int) -> str | None:
    return iso_from_ms(now_ms + chance.choice(_LIFETIMES_MS)) if time_in_force == "gtd" else None


def _displayed(chance: random.Random, hundredths: int) -> str:
    """What an iceberg shows at a time: mostly a few slices of it, now and then all, which is refused."""
    return str(hundredths / 100 if chance.random() < 0.05 else chance.randint(1, max(hundredths // 2, 1)) / 100)


def _price(chance: random.Random, quarters: int) -> str:
    """A price near that of `_text`."""
    return _text(quarters + chance.randint(-4, 4))


def _text(quarters: int) -> str:
    return f"{100 + quarters / 4:.2f}"
