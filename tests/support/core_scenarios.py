"""Scenario tables: what a matching core must return, as aligned text (tests/scenarios/*.txt).

A file holds one `world` and many `case`s; the lines of the world run before each case. A line is one of

    a command    place 1 alice buy GTC 5 @ 100       -> ACCEPTED remaining 5
    an event     . trade 2 1 5 @ 100  left 0 0       of the command above it
    a question   ? balance alice USD                 -> total 500 locked 0 reserved 0 free 500
    a comment    # …                                 `# spec: A1-02` names facts that the case proves

What stands after `->` and after the dot is compared with what the core answered, written the same way, so a
wrong answer shows as a difference of two texts. The rules of that writing:

- SUCCESS, and any figure that is zero, is left out. A line of the world without `->` must be taken.
- All trades, reduces, fired triggers, phases and ends of lists of a command must stand below it. Events of another
  type must stand there, all of that type, once one of them does.
- Prices and quantities are scaled integers, `2^62+1` is one too. Amounts are decimals of the currency, or,
  with a trailing `u`, units of its 18th place.
- `steps 4` bounds the walk of a FOK or of a budget through the book; it is a power of two.
- `slide` lets a POST_ONLY go behind the best opposite price; `budget 100` of an IOC sizes it.
- `terms 1 trigger 105` are the terms of the order placed next; `distance 5` or `points 100` make a trailing trigger,
  `below` and `mark` say what fires it, `stp` and `until` are the order's own. `at 7` is the time of a command in ns.
- `list-order 3 …` is an order of the list that `place-list 1 OCO` places. If that is refused, `order 2` caused it.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from enum import IntEnum
from pathlib import Path
from typing import TypeVar

from openspot.domain.market_phase import MarketPhase
from openspot.domain.money import amount_to_text, to_amount
from openspot.domain.order import EngineOrderType, OrderListType, Side, StpMode, TriggerKind
from openspot.domain.result_code import ResultCode
from openspot.engine.core.protocol import MatchingCore
from openspot.engine.core.records import (
    EVENT_AUCTION,
    EVENT_MAKER_COMPLETED,
    EVENT_MAKER_REBATE,
    EVENT_TAKER_COMPLETED,
    FLAG_ACTIVE,
    FLAG_BUDGET,
    FLAG_SLIDE,
    LISTED_PLACE,
    TERMS_AT_OR_BELOW,
    TERMS_BY_MARK,
    Command,
    CommandKind,
    CreateSymbol,
    Event,
    EventType,
    Result,
    ResultStatus,
    decode_events,
    decode_results,
)
from tests.support.core_commands import unsigned_64, with_reference

FOLDER = Path(__file__).resolve().parent.parent / "scenarios"

_ACCOUNTS = {"admin": 0, "house": 1, "alice": 2, "bob": 3, "carol": 4, "dave": 5, "erin": 6, "nobody": 99} | {
    "bob-margin": 3 << 32 | 7,
    "bob-margin-2": 3 << 32 | 8,
    "carol-margin": 4 << 32 | 9,
}
_CURRENCIES = {"BTC": 1, "USD": 2, "ETH": 3, "DOGE": 9}
_SYMBOLS = {"BTC-USD": 1, "ETH-USD": 2, "ETH-BTC": 3, "DOGE-USD": 9}
_ARGUMENTS_OF_OPTION = {
    **{"trigger": 1, "distance": 1, "points": 1, "below": 0, "mark": 0, "stp": 1, "until": 1, "at": 1},
    **{"@": 1, "reserve": 1, "budget": 1, "on": 1, "by": 1, "ref": 1, "steps": 1},
    **{"scales": 2, "tick": 1, "lot": 1, "fees": 2, "assets": 2, "inactive": 0, "slide": 0},
}
_MONEY_KINDS = frozenset(range(CommandKind.DEPOSIT, CommandKind.ADJUST + 1))
_ALWAYS_LISTED = frozenset(
    {EventType.TRADE, EventType.REDUCE, EventType.TRIGGERED, EventType.PHASE, EventType.LIST_ENDED, EventType.UNARMED}
)
_FACT = re.compile(r"# spec: (.*)")
_POWER = re.compile(r"(-?)(\d+)\^(\d+)([+-]\d+)?")
_Member = TypeVar("_Member", bound=IntEnum)


@dataclass(slots=True)
class Line:
    """A command or question, with the expected result (None: the core must only accept it)."""

    place: str
    left: str
    right: str | None
    events: list[str] = field(default_factory=list)


@dataclass(slots=True)
class Case:
    """A named list of lines, those of its world first."""

    name: str
    lines: list[Line]
    facts: list[str] = field(default_factory=list)


def read_cases(path: Path) -> list[Case]:
    """The cases of a scenario file. Raises ValueError on a line in the wrong place."""
    world: list[Line] = []
    cases: list[Case] = []
    for number, text in enumerate(path.read_text("utf-8").splitlines(), start=1):
        line = " ".join(text.split())
        lines = cases[-1].lines if cases else world
        if fact := _FACT.fullmatch(line):
            cases[-1].facts += fact[1].replace(",", " ").split()
        elif not line or line == "world" or line.startswith("#"):
            continue
        elif line.startswith("case "):
            cases.append(Case(line.removeprefix("case "), list(world)))
        elif line.startswith(". "):
            lines[-1].events.append(line.removeprefix(". "))
        else:
            left, arrow, right = line.partition("->")
            lines.append(Line(f"{path.name}:{number}", left.strip(), right.strip() if arrow else None))
    return cases


def run_case(case: Case, make_core: Callable[[], MatchingCore], *, restore_each_time: bool) -> None:
    """Run the lines of `case` on a new core and compare each answer.

    With `restore_each_time` every line runs on a core of its own, made from the snapshot of the one before.
    """
    core = make_core()
    for line in case.lines:
        if restore_each_time:
            successor = make_core()
            successor.restore(core.snapshot())
            core = successor
        if line.left.startswith("? "):
            answer, events = _ask(core, line.left.removeprefix("? ").split()), list[str]()
        else:
            answer, events = _apply(core, line)
        shown = [f"{line.left} -> {answer}", *events]
        expected_answer = answer if line.right is None and answer.startswith("ACCEPTED") else line.right
        expected = [f"{line.left} -> {expected_answer}", *line.events]
        assert shown == expected, f"{line.place}, {case.name}"


def _apply(core: MatchingCore, line: Line) -> tuple[str, list[str]]:
    words = line.left.split()
    command = _command(words)
    if "at" in words:
        command = command._replace(timestamp=_number({}, words[words.index("at") + 1]))
    results, events = core.apply(command.encode())
    (result,) = decode_results(results)
    emitted = list(decode_events(events))
    assert result.events == len(emitted), line.place
    names = {EventType[text.split()[0].upper()] for text in line.events} | _ALWAYS_LISTED
    return _result_text(command, result), [_event_text(event) for event in emitted if event.type in names]


def _result_text(command: Command | CreateSymbol, result: Result) -> str:
    kind = command.kind if isinstance(command, Command) else CommandKind.CREATE_SYMBOL
    words = [ResultStatus(result.status).name]
    if result.code != ResultCode.SUCCESS:
        words.append(ResultCode(result.code).name)
    if result.status == ResultStatus.REJECTED:
        asked = command.quantity if isinstance(command, Command) and kind == CommandKind.PLACE else 0
        if kind == CommandKind.PLACE_LIST:
            asked = result.remaining
            words += _named(order=str(asked))
        assert (result.filled, result.remaining, result.notional) == (0, asked, 0)
        return " ".join(words)
    words += _named(filled=str(result.filled), remaining=str(result.remaining))
    label = "total" if kind in _MONEY_KINDS else "notional"
    words += _named(**{label: amount_to_text(result.notional)})
    return " ".join(words)


def _named(**figures: str) -> list[str]:
    return [f"{name} {figure}" for name, figure in figures.items() if figure != "0"]


def _event_text(event: Event) -> str:
    name = EventType(event.type).name.lower()
    code = ResultCode(event.code).name
    return " ".join([name, *_EVENT_WORDS[EventType(event.type)](event, code)])


def _trade_words(event: Event, _: str) -> Iterator[str]:
    yield f"{event.order_id} {event.maker_order_id} {event.quantity} @ {event.price}"
    yield f"left {event.remaining} {event.maker_remaining}"
    if event.fee_bps or event.maker_fee_bps:
        yield f"fees {event.fee_bps}bps {amount_to_text(event.amount)}"
        yield f"{event.maker_fee_bps}bps {amount_to_text(event.maker_amount)}"
    for flag, word in (
        (EVENT_TAKER_COMPLETED, "taker-done"),
        (EVENT_MAKER_COMPLETED, "maker-done"),
        (EVENT_MAKER_REBATE, "rebate"),
        (EVENT_AUCTION, "auction"),
    ):
        if event.flags & flag:
            yield word


def _reduce_words(event: Event, code: str) -> Iterator[str]:
    yield f"{event.order_id} {event.quantity} left {event.remaining} {code}"
    if event.flags & EVENT_TAKER_COMPLETED:
        yield "done"


def _order_words(event: Event, _: str) -> Iterator[str]:
    side, order_type = Side(event.side).name.lower(), EngineOrderType(event.order_type).name
    yield f"{event.order_id} {side} {order_type} {event.remaining} of {event.quantity} @ {event.price}"
    yield from _named(bps=f"{event.fee_bps} {event.maker_fee_bps}" if event.fee_bps else "0")


def _accepted_words(event: Event, code: str) -> Iterator[str]:
    yield from _order_words(event, code)
    yield from _named(until=str(event.amount))


def _moved_words(event: Event, code: str) -> Iterator[str]:
    yield from _order_words(event, code)
    yield from _named(change=str(event.amount))


def _waiting_words(event: Event, code: str) -> Iterator[str]:
    yield from _order_words(event, code)
    yield f"{TriggerKind(event.maker_order_id).name} {event.maker_remaining}"
    yield from _named(by=str(event.maker_account), until=str(event.amount))


def _listed_words(event: Event, code: str) -> Iterator[str]:
    yield f"{event.maker_amount} {OrderListType(event.currency % LISTED_PLACE).name} {event.currency // LISTED_PLACE}"
    yield from _order_words(event, code)
    if event.maker_order_id:
        yield f"{TriggerKind(event.maker_order_id).name} {event.maker_remaining}"


def _list_words(event: Event, code: str) -> Iterator[str]:
    yield f"{event.order_id} {OrderListType(event.order_type).name}"
    yield from _named(quantity=str(event.quantity))
    if event.code:
        yield code


def _triggered_words(event: Event, _: str) -> Iterator[str]:
    source = "mark" if event.flags & TERMS_BY_MARK else "last"
    yield f"{event.order_id} {event.remaining} @ {event.price} at {event.maker_remaining} by {source} {event.amount}"


def _phase_words(event: Event, _: str) -> Iterator[str]:
    yield f"{_name(_SYMBOLS, event.symbol)} {MarketPhase(event.order_type).name}"
    yield from _named(price=str(event.price), volume=str(event.amount), until=str(event.maker_order_id))
    if event.order_type == MarketPhase.UNCROSSING:
        yield f"then {MarketPhase(event.side).name}"


def _reject_words(event: Event, code: str) -> Iterator[str]:
    yield f"{event.order_id} {code}"


def _balance_words(event: Event, _: str) -> Iterator[str]:
    yield f"{_name(_ACCOUNTS, event.account)} {_name(_CURRENCIES, event.currency)}"
    yield f"{CommandKind(event.order_type).name} {amount_to_text(event.amount)}"
    yield f"total {amount_to_text(event.maker_amount)}"


def _transfer_words(event: Event, _: str) -> Iterator[str]:
    yield f"{_name(_ACCOUNTS, event.account)} {_name(_ACCOUNTS, event.maker_account)}"
    yield f"{_name(_CURRENCIES, event.currency)} {amount_to_text(event.amount)}"
    yield f"{event.quantity - event.remaining} of {event.quantity}"


_EVENT_WORDS: dict[EventType, Callable[[Event, str], Iterator[str]]] = {
    EventType.ACCEPTED: _accepted_words,
    EventType.TRADE: _trade_words,
    EventType.REDUCE: _reduce_words,
    EventType.REJECT: _reject_words,
    EventType.MOVED: _moved_words,
    EventType.BALANCE: _balance_words,
    EventType.TRANSFER: _transfer_words,
    EventType.WAITING: _waiting_words,
    EventType.TRIGGERED: _triggered_words,
    EventType.LISTED: _listed_words,
    EventType.LIST_ENDED: _list_words,
    EventType.UNARMED: _list_words,
    EventType.PHASE: _phase_words,
}


def _ask(core: MatchingCore, words: list[str]) -> str:
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
    number = _number(_CURRENCIES, currency)
    for row in core.balances(_number(_ACCOUNTS, account)):
        if row.currency == number:
            figures = (row.total, row.locked, row.reserved, row.total - row.locked - row.reserved)
            texts = (amount_to_text(figure) for figure in figures)
            return " ".join(_named(**dict(zip(("total", "locked", "reserved", "free"), texts, strict=True))))
    return "none"


def _ask_book(core: MatchingCore, symbol: str = "BTC-USD", levels: str = "0") -> str:
    """Bids worst first, asks best first, so that the two best prices meet at the bar."""
    bids, asks = core.depth(_number(_SYMBOLS, symbol), int(levels))
    texts = [[f"{total} @ {price} ({orders})" for price, total, orders in side] for side in (bids, asks)]
    return f"{', '.join(reversed(texts[0])) or '-'} | {', '.join(texts[1]) or '-'}"


def _ask_order(core: MatchingCore, order_id: str) -> str:
    order = core.order(int(order_id))
    if order is None:
        return "none"
    side = Side(order.side).name.lower()
    owner = _name(_ACCOUNTS, order.account)
    words = [f"{owner} {side} {order.remaining} of {order.quantity} @ {order.price}"]
    return " ".join(words + _named(reserve=str(order.reserve_price)))


def _ask_orders(core: MatchingCore, account: str = "0", symbol: str = "0") -> str:
    orders = core.open_orders(_number(_ACCOUNTS, account), _number(_SYMBOLS, symbol))
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
        if row.symbol == _number(_SYMBOLS, symbol):
            return " ".join(_named(last=str(row.last_price), mark=str(row.mark_price)))
    return "none"


def _ask_expiries(core: MatchingCore) -> str:
    return " ".join(f"{row.order_id}:{row.time_ns}" for row in core.expiries()) or "none"


def _ask_due(core: MatchingCore) -> str:
    return " ".join(_name(_SYMBOLS, symbol) for symbol in core.activations_due()) or "none"


def _ask_list(core: MatchingCore, list_id: str) -> str:
    for row in core.order_lists():
        if row.list_id == int(list_id):
            exits = ",".join(str(order_id) for order_id in row.armed_exits or row.planned_exits)
            state = "armed" if row.armed_exits else "planned"
            return " ".join(
                [
                    f"{_name(_ACCOUNTS, row.account)} {OrderListType(row.list_type).name}",
                    *_named(entry=str(row.entry), unarmed=str(row.unarmed)),
                    f"{state} {exits}",
                ]
            )
    return "none"


def _ask_phases(core: MatchingCore) -> str:
    rows = (
        f"{_name(_SYMBOLS, row.symbol)} {MarketPhase(row.phase).name}"
        + (f" until {row.ends_ns}" if row.ends_ns else "")
        for row in core.phases()
    )
    return " ".join(rows) or "none"


def _ask_account(core: MatchingCore, account: str) -> str:
    state = core.account(_number(_ACCOUNTS, account))
    if state is None:
        return "none"
    words = ["active" if state.active else "inactive", StpMode(state.stp_mode).name]
    if state.taker_fee_bps is not None:
        words.append(f"fees {state.taker_fee_bps} {state.maker_fee_bps}")
    return " ".join(words)


def _ask_symbol(core: MatchingCore, symbol: str) -> str:
    number = _number(_SYMBOLS, symbol)
    for row in core.symbols():
        if row.symbol == number:
            active = "active" if row.active else "inactive"
            assets = f"{_name(_CURRENCIES, row.base)} {_name(_CURRENCIES, row.quote)}"
            steps = f"scales {row.base_scale_k} {row.quote_scale_k} tick {row.tick} lot {row.lot}"
            return f"{active} {assets} {steps} fees {row.taker_fee_bps} {row.maker_fee_bps}"
    return "none"


def _ask_currencies(core: MatchingCore) -> str:
    return " ".join(_name(_CURRENCIES, currency) for currency in core.currencies())


def _command(words: list[str]) -> Command | CreateSymbol:
    verb, *rest = words
    positional, options = _split(rest)
    active = 0 if "inactive" in options else FLAG_ACTIVE
    kind = CommandKind[_KIND_OF_VERB.get(verb, verb.upper().replace("-", "_"))] if verb != "unknown" else 0
    match kind:
        case 0:
            return Command(int(positional[0]))
        case CommandKind.PLACE | CommandKind.LIST_ORDER:
            return _place(positional, options)._replace(kind=kind)
        case CommandKind.PLACE_LIST:
            return Command(kind, order_id=int(positional[0]), order_type=_member(OrderListType, positional[1]))
        case CommandKind.CANCEL | CommandKind.CANCEL_LIST | CommandKind.MOVE | CommandKind.REDUCE | CommandKind.AMEND:
            return Command(
                kind,
                order_id=int(positional[0]),
                account=_number(_ACCOUNTS, options["by"][0]),
                symbol=_number(_SYMBOLS, options.get("on", ["0"])[0]),
                price=_number({}, options.get("@", ["0"])[0]),
                quantity=_number({}, positional[1]) if len(positional) > 1 else 0,
            )
        case CommandKind.TERMS:
            return _terms(positional, options)
        case CommandKind.EXPIRE:
            return Command(kind, order_id=int(positional[0]))
        case CommandKind.SET_MARK_PRICE:
            return Command(kind, symbol=_number(_SYMBOLS, positional[0]), price=_number({}, positional[1]))
        case CommandKind.ACTIVATE | CommandKind.ADVANCE_PHASE:
            return Command(kind, symbol=_number(_SYMBOLS, positional[0]))
        case CommandKind.SET_PHASE:
            return Command(
                kind,
                symbol=_number(_SYMBOLS, positional[0]),
                order_type=_member(MarketPhase, positional[1]),
                amount=_number({}, options.get("until", ["0"])[0]),
            )
        case CommandKind.RELEASE | CommandKind.COMMIT if not positional:
            return with_reference(Command(kind), _number({}, options["ref"][0]))
        case CommandKind.MOVEMENT:
            source, destination, currency, amount = positional
            return Command(
                kind,
                order_id=_number(_ACCOUNTS, source),
                account=_number(_ACCOUNTS, destination),
                symbol=_number(_CURRENCIES, currency),
                amount=_amount(amount),
            )
        case CommandKind.TRANSFER:
            count, digest = (_number({}, word) for word in positional)
            return with_reference(
                Command(kind, order_id=count, amount=digest), _number({}, options.get("ref", ["0"])[0])
            )
        case kind if kind in _MONEY_KINDS:
            account, currency, amount = positional
            command = Command(
                kind,
                account=_number(_ACCOUNTS, account),
                symbol=_number(_CURRENCIES, currency),
                amount=_amount(amount),
            )
            return with_reference(command, _number({}, options.get("ref", ["0"])[0]))
        case CommandKind.CREATE_CURRENCY | CommandKind.DELETE_CURRENCY:
            return Command(kind, symbol=_number(_CURRENCIES, positional[0]))
        case CommandKind.CREATE_SYMBOL:
            return _create_symbol(positional[0], options)
        case CommandKind.UPDATE_SYMBOL:
            taker, maker = (unsigned_64(_number({}, bps)) for bps in options["fees"])
            symbol = _number(_SYMBOLS, positional[0])
            return Command(kind, symbol=symbol, flags=active, order_id=taker, account=maker)
        case CommandKind.DELETE_SYMBOL:
            return Command(kind, symbol=_number(_SYMBOLS, positional[0]))
        case CommandKind.CREATE_ACCOUNT | CommandKind.SET_ACCOUNT:
            mode = _member(StpMode, positional[1])
            return Command(kind, flags=active, order_type=mode, account=_number(_ACCOUNTS, positional[0]))
        case CommandKind.SET_OWNER:
            account, owner = (_number(_ACCOUNTS, name) for name in positional)
            return Command(kind, account=account, order_id=owner)
        case CommandKind.SET_ACCOUNT_FEES:
            owner = _number(_ACCOUNTS, positional[0])
            if positional[1] == "none":
                return Command(kind, account=owner)
            taker, maker = (_number({}, bps) for bps in positional[1:])
            return Command(kind, account=owner, flags=FLAG_ACTIVE, order_id=unsigned_64(taker), price=maker)
    raise ValueError(f"no such command: {words}")


_KIND_OF_VERB = {
    "currency": "CREATE_CURRENCY",
    "symbol": "CREATE_SYMBOL",
    "account": "CREATE_ACCOUNT",
    "fees": "SET_ACCOUNT_FEES",
    "mark-price": "SET_MARK_PRICE",
    "phase": "SET_PHASE",
    "advance": "ADVANCE_PHASE",
}


def _place(positional: list[str], options: dict[str, list[str]]) -> Command:
    order_id, account, side_name, type_name, quantity = positional
    side, order_type = _member(Side, side_name), _member(EngineOrderType, type_name)
    price = _number({}, options.get("@", ["0"])[0])
    amount = price if side == Side.BUY and order_type != EngineOrderType.FOK_BUDGET else 0
    if "reserve" in options:
        amount = _number({}, options["reserve"][0])
    flags = _number({}, options.get("steps", ["1"])[0]).bit_length() - 1
    if "budget" in options:
        amount = _amount(options["budget"][0])
        flags |= FLAG_BUDGET if order_type == EngineOrderType.IOC else 0
    if "slide" in options:
        flags |= FLAG_SLIDE
    return Command(
        CommandKind.PLACE,
        side=side,
        order_type=order_type,
        flags=flags,
        symbol=_number(_SYMBOLS, options.get("on", ["BTC-USD"])[0]),
        order_id=int(order_id),
        account=_number(_ACCOUNTS, account),
        price=price,
        quantity=_number({}, quantity),
        amount=amount,
    )


_TRIGGER_WORDS = {
    "trigger": TriggerKind.FIXED,
    "distance": TriggerKind.TRAILING_DISTANCE,
    "points": TriggerKind.TRAILING_BASIS_POINTS,
}


def _terms(positional: list[str], options: dict[str, list[str]]) -> Command:
    (word,) = [word for word in _TRIGGER_WORDS if word in options] or [""]
    return Command(
        CommandKind.TERMS,
        side=_TRIGGER_WORDS.get(word, TriggerKind.NONE),
        order_type=_member(StpMode, options["stp"][0]) + 1 if "stp" in options else 0,
        flags=TERMS_BY_MARK * ("mark" in options) | TERMS_AT_OR_BELOW * ("below" in options),
        order_id=int(positional[0]),
        price=_number({}, options[word][0]) if word else 0,
        amount=_number({}, options.get("until", ["0"])[0]),
    )


def _create_symbol(name: str, options: dict[str, list[str]]) -> CreateSymbol:
    base, quote = options.get("assets") or name.split("-")
    scales, fees = options.get("scales", ["1", "1"]), options.get("fees", ["0", "0"])
    tick, lot = options.get("tick", ["1"]), options.get("lot", ["1"])
    return CreateSymbol(
        _number(_SYMBOLS, name),
        0,
        _number(_CURRENCIES, base),
        _number(_CURRENCIES, quote),
        *(_number({}, figure) for figure in (*scales, *tick, *lot, *fees)),
    )


def _split(words: list[str]) -> tuple[list[str], dict[str, list[str]]]:
    positional: list[str] = []
    options: dict[str, list[str]] = {}
    index = 0
    while index < len(words):
        count = _ARGUMENTS_OF_OPTION.get(words[index])
        if count is None:
            positional.append(words[index])
            index += 1
        else:
            options[words[index]] = words[index + 1 : index + 1 + count]
            index += 1 + count
    return positional, options


def _number(names: dict[str, int], text: str) -> int:
    if text in names:
        return names[text]
    if power := _POWER.fullmatch(text):
        sign, base, exponent, rest = power.groups()
        figure: int = int(base) ** int(exponent)
        return (-figure if sign else figure) + int(rest or 0)
    return int(text)


def _name(names: dict[str, int], number: int) -> str:
    return next(name for name, known in names.items() if known == number)


def _amount(text: str) -> int:
    return _number({}, text.removesuffix("u")) if text.endswith("u") else to_amount(Decimal(text))


def _member(members: type[_Member], text: str) -> int:
    """The number of an enum's member by name. A number is returned as it is, even if no member has it."""
    return int(text) if text.lstrip("-").isdigit() else members[text.upper()]
