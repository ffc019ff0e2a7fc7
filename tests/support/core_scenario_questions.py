"""The questions of the scenarios, and the answers of a core in words."""

from collections.abc import Callable

from openspot.domain.market_phase import MarketPhase
from openspot.domain.money import amount_to_text
from openspot.domain.order import OrderListType, Side, StpMode
from openspot.engine.core.protocol import MatchingCore
from tests.support.core_scenario_names import ACCOUNTS, CURRENCIES, SYMBOLS, name_of, named, number_of


def ask(core: MatchingCore, words: list[str]) -> str:
    """The answer to a question of the tables."""
    question, *names = words
    questions: dict[str, Callable[..., str]] = {
        "balance": _ask_balance,
        "book": _ask_book,
        "order": _ask_order,
        "orders": _ask_orders,
        "account": _ask_account,
        "symbol": _ask_symbol,
        "currencies": _ask_currencies,
        "waiting": _ask_waiting,
        "prices": _ask_prices,
        "expiries": _ask_expiries,
        "due": _ask_due,
        "list": _ask_list,
        "phases": _ask_phases,
    }
    return questions[question](core, *names)


def _ask_balance(core: MatchingCore, account: str, currency: str) -> str:
    number = number_of(CURRENCIES, currency)
    for row in core.balances(number_of(ACCOUNTS, account)):
        if row.currency == number:
            figures = (row.total, row.locked, row.reserved, row.total - row.locked - row.reserved)
            texts = (amount_to_text(figure) for figure in figures)
            return " ".join(named(**dict(zip(("total", "locked", "reserved", "free"), texts, strict=True))))
    return "none"


def _ask_book(core: MatchingCore, symbol: str = "BTC-USD", levels: str = "0") -> str:
    """Bids worst first, asks best first, so that the two best prices meet at the bar."""
    bids, asks = core.depth(number_of(SYMBOLS, symbol), int(levels))
    texts = [[f"{total} @ {price} ({orders})" for price, total, orders in side] for side in (bids, asks)]
    return f"{', '.join(reversed(texts[0])) or '-'} | {', '.join(texts[1]) or '-'}"


def _ask_order(core: MatchingCore, order_id: str) -> str:
    order = core.order(int(order_id))
    if order is None:
        return "none"
    side = Side(order.side).name.lower()
    owner = name_of(ACCOUNTS, order.account)
    words = [f"{owner} {side} {order.remaining} of {order.quantity} @ {order.price}"]
    iceberg = core.iceberg(order.order_id)
    shown = [f"shows {iceberg.visible} of {iceberg.display}"] if iceberg else []
    return " ".join(words + named(reserve=str(order.reserve_price)) + shown)


def _ask_orders(core: MatchingCore, account: str = "0", symbol: str = "0") -> str:
    orders = core.open_orders(number_of(ACCOUNTS, account), number_of(SYMBOLS, symbol))
    return " ".join(str(order.order_id) for order in orders) or "none"


def _ask_waiting(core: MatchingCore, order_id: str = "") -> str:
    if not order_id:
        return " ".join(str(row.order_id) for row in core.waiting_orders()) or "none"
    row = core.waiting_order(int(order_id))
    if row is None:
        return "none"
    return f"trigger {row.trigger_price} limit {row.limit}" + (f" fired {row.fired_price}" if row.fired_price else "")


def _ask_prices(core: MatchingCore, symbol: str = "BTC-USD") -> str:
    for row in core.reference_prices():
        if row.symbol == number_of(SYMBOLS, symbol):
            return " ".join(named(last=str(row.last_price), mark=str(row.mark_price)))
    return "none"


def _ask_expiries(core: MatchingCore) -> str:
    return " ".join(f"{row.order_id}:{row.time_ns}" for row in core.expiries()) or "none"


def _ask_due(core: MatchingCore) -> str:
    return " ".join(name_of(SYMBOLS, symbol) for symbol in core.activations_due()) or "none"


def _ask_list(core: MatchingCore, list_id: str) -> str:
    for row in core.order_lists():
        if row.list_id == int(list_id):
            exits = ",".join(str(order_id) for order_id in row.armed_exits or row.planned_exits)
            state = "armed" if row.armed_exits else "planned"
            return " ".join(
                [
                    f"{name_of(ACCOUNTS, row.account)} {OrderListType(row.list_type).name}",
                    *named(entry=str(row.entry), unarmed=str(row.unarmed)),
                    f"{state} {exits}",
                ]
            )
    return "none"


def _ask_phases(core: MatchingCore) -> str:
    rows = (
        f"{name_of(SYMBOLS, row.symbol)} {MarketPhase(row.phase).name}"
        + (f" until {row.ends_ns}" if row.ends_ns else "")
        for row in core.phases()
    )
    return " ".join(rows) or "none"


def _ask_account(core: MatchingCore, account: str) -> str:
    state = core.account(number_of(ACCOUNTS, account))
    if state is None:
        return "none"
    words = ["active" if state.active else "inactive", StpMode(state.stp_mode).name]
    if state.taker_fee_bps is not None:
        words.append(f"fees {state.taker_fee_bps} {state.maker_fee_bps}")
    return " ".join(words)


def _ask_symbol(core: MatchingCore, symbol: str) -> str:
    number = number_of(SYMBOLS, symbol)
    for row in core.symbols():
        if row.symbol == number:
            active = "active" if row.active else "inactive"
            assets = f"{name_of(CURRENCIES, row.base)} {name_of(CURRENCIES, row.quote)}"
            steps = f"scales {row.base_scale_k} {row.quote_scale_k} tick {row.tick} lot {row.lot}"
            return f"{active} {assets} {steps} fees {row.taker_fee_bps} {row.maker_fee_bps}"
    return "none"


def _ask_currencies(core: MatchingCore) -> str:
    return " ".join(name_of(CURRENCIES, currency) for currency in core.currencies())
