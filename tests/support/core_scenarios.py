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
  `below` and `mark` say what fires it, `stp` and `until` are the order's own, `shows 2` lets it show 2 at a time.
  `at 7` is the time of a command in ns.
- `replace 1` cancels what the order placed next replaces, which is placed anyway with `anyway`.
- `amend 3 listed …` may be of an order of a list.
- `list-order 3 …` is an order of the list that `place-list 1 OCO` places. If that is refused, `order 2` caused it.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from openspot.domain.market_phase import MarketPhase
from openspot.domain.money import amount_to_text
from openspot.domain.order import EngineOrderType, OrderListType, Side, StpMode, TriggerKind
from openspot.domain.result_code import ResultCode
from openspot.engine.core.protocol import MatchingCore
from openspot.engine.core.records import (
    FLAG_ACTIVE,
    FLAG_ALLOW_FAILURE,
    FLAG_BUDGET,
    FLAG_LISTED,
    FLAG_SLIDE,
    TERMS_AT_OR_BELOW,
    TERMS_BY_MARK,
    Command,
    CommandKind,
    CreateSymbol,
    EventType,
    Result,
    ResultStatus,
    decode_events,
    decode_results,
)
from tests.support.core_commands import unsigned_64, with_reference
from tests.support.core_scenario_events import event_text
from tests.support.core_scenario_names import (
    ACCOUNTS,
    CURRENCIES,
    SYMBOLS,
    amount_of,
    member_of,
    named,
    number_of,
)
from tests.support.core_scenario_questions import ask

FOLDER = Path(__file__).resolve().parent.parent / "scenarios"

_ARGUMENTS_OF_OPTION = {
    **{"trigger": 1, "distance": 1, "points": 1, "below": 0, "mark": 0, "stp": 1, "until": 1, "at": 1},
    **{"shows": 1, "anyway": 0, "listed": 0},
    **{"@": 1, "reserve": 1, "budget": 1, "on": 1, "by": 1, "ref": 1, "steps": 1},
    **{"scales": 2, "tick": 1, "lot": 1, "fees": 2, "assets": 2, "inactive": 0, "slide": 0},
}
_MONEY_KINDS = frozenset(range(CommandKind.DEPOSIT, CommandKind.ADJUST + 1))
_ALWAYS_LISTED = frozenset(
    {
        EventType.TRADE,
        EventType.REDUCE,
        EventType.TRIGGERED,
        EventType.PHASE,
        EventType.LIST_ENDED,
        EventType.UNARMED,
        EventType.SHOWN,
    }
)
_FACT = re.compile(r"# spec: (.*)")


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
            answer, events = ask(core, line.left.removeprefix("? ").split()), list[str]()
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
        command = command._replace(timestamp=number_of({}, words[words.index("at") + 1]))
    results, events = core.apply(command.encode())
    (result,) = decode_results(results)
    emitted = list(decode_events(events))
    assert result.events == len(emitted), line.place
    names = {EventType[text.split()[0].upper()] for text in line.events} | _ALWAYS_LISTED
    return _result_text(command, result), [event_text(event) for event in emitted if event.type in names]


def _result_text(command: Command | CreateSymbol, result: Result) -> str:
    kind = command.kind if isinstance(command, Command) else CommandKind.CREATE_SYMBOL
    words = [ResultStatus(result.status).name]
    if result.code != ResultCode.SUCCESS:
        words.append(ResultCode(result.code).name)
    if result.status == ResultStatus.REJECTED:
        asked = command.quantity if isinstance(command, Command) and kind == CommandKind.PLACE else 0
        if kind == CommandKind.PLACE_LIST:
            asked = result.remaining
            words += named(order=str(asked))
        assert (result.filled, result.remaining, result.notional) == (0, asked, 0)
        return " ".join(words)
    words += named(filled=str(result.filled), remaining=str(result.remaining))
    label = "total" if kind in _MONEY_KINDS else "notional"
    words += named(**{label: amount_to_text(result.notional)})
    return " ".join(words)


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
            return Command(kind, order_id=int(positional[0]), order_type=member_of(OrderListType, positional[1]))
        case (
            CommandKind.CANCEL
            | CommandKind.CANCEL_LIST
            | CommandKind.MOVE
            | CommandKind.REDUCE
            | CommandKind.AMEND
            | CommandKind.REPLACE
        ):
            return Command(
                kind,
                flags=(FLAG_ALLOW_FAILURE if "anyway" in options else 0) | (FLAG_LISTED if "listed" in options else 0),
                order_id=int(positional[0]),
                account=number_of(ACCOUNTS, options["by"][0]),
                symbol=number_of(SYMBOLS, options.get("on", ["0"])[0]),
                price=number_of({}, options.get("@", ["0"])[0]),
                quantity=number_of({}, positional[1]) if len(positional) > 1 else 0,
                amount=number_of({}, options.get("trigger", ["0"])[0]),
            )
        case CommandKind.TERMS:
            return _terms(positional, options)
        case CommandKind.EXPIRE:
            return Command(kind, order_id=int(positional[0]))
        case CommandKind.SET_MARK_PRICE:
            return Command(kind, symbol=number_of(SYMBOLS, positional[0]), price=number_of({}, positional[1]))
        case CommandKind.ACTIVATE | CommandKind.ADVANCE_PHASE:
            return Command(kind, symbol=number_of(SYMBOLS, positional[0]))
        case CommandKind.SET_PHASE:
            return Command(
                kind,
                symbol=number_of(SYMBOLS, positional[0]),
                order_type=member_of(MarketPhase, positional[1]),
                amount=number_of({}, options.get("until", ["0"])[0]),
            )
        case CommandKind.RELEASE | CommandKind.COMMIT if not positional:
            return with_reference(Command(kind), number_of({}, options["ref"][0]))
        case CommandKind.MOVEMENT:
            source, destination, currency, amount = positional
            return Command(
                kind,
                order_id=number_of(ACCOUNTS, source),
                account=number_of(ACCOUNTS, destination),
                symbol=number_of(CURRENCIES, currency),
                amount=amount_of(amount),
            )
        case CommandKind.TRANSFER:
            count, digest = (number_of({}, word) for word in positional)
            return with_reference(
                Command(kind, order_id=count, amount=digest), number_of({}, options.get("ref", ["0"])[0])
            )
        case kind if kind in _MONEY_KINDS:
            account, currency, amount = positional
            command = Command(
                kind,
                account=number_of(ACCOUNTS, account),
                symbol=number_of(CURRENCIES, currency),
                amount=amount_of(amount),
            )
            return with_reference(command, number_of({}, options.get("ref", ["0"])[0]))
        case CommandKind.CREATE_CURRENCY | CommandKind.DELETE_CURRENCY:
            return Command(kind, symbol=number_of(CURRENCIES, positional[0]))
        case CommandKind.CREATE_SYMBOL:
            return _create_symbol(positional[0], options)
        case CommandKind.UPDATE_SYMBOL:
            taker, maker = (unsigned_64(number_of({}, bps)) for bps in options["fees"])
            symbol = number_of(SYMBOLS, positional[0])
            return Command(kind, symbol=symbol, flags=active, order_id=taker, account=maker)
        case CommandKind.DELETE_SYMBOL:
            return Command(kind, symbol=number_of(SYMBOLS, positional[0]))
        case CommandKind.CREATE_ACCOUNT | CommandKind.SET_ACCOUNT:
            mode = member_of(StpMode, positional[1])
            return Command(kind, flags=active, order_type=mode, account=number_of(ACCOUNTS, positional[0]))
        case CommandKind.SET_OWNER:
            account, owner = (number_of(ACCOUNTS, name) for name in positional)
            return Command(kind, account=account, order_id=owner)
        case CommandKind.SET_ACCOUNT_FEES:
            owner = number_of(ACCOUNTS, positional[0])
            if positional[1] == "none":
                return Command(kind, account=owner)
            taker, maker = (number_of({}, bps) for bps in positional[1:])
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
    side, order_type = member_of(Side, side_name), member_of(EngineOrderType, type_name)
    price = number_of({}, options.get("@", ["0"])[0])
    amount = price if side == Side.BUY and order_type != EngineOrderType.FOK_BUDGET else 0
    if "reserve" in options:
        amount = number_of({}, options["reserve"][0])
    flags = number_of({}, options.get("steps", ["1"])[0]).bit_length() - 1
    if "budget" in options:
        amount = amount_of(options["budget"][0])
        flags |= FLAG_BUDGET if order_type == EngineOrderType.IOC else 0
    if "slide" in options:
        flags |= FLAG_SLIDE
    return Command(
        CommandKind.PLACE,
        side=side,
        order_type=order_type,
        flags=flags,
        symbol=number_of(SYMBOLS, options.get("on", ["BTC-USD"])[0]),
        order_id=int(order_id),
        account=number_of(ACCOUNTS, account),
        price=price,
        quantity=number_of({}, quantity),
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
        order_type=member_of(StpMode, options["stp"][0]) + 1 if "stp" in options else 0,
        flags=TERMS_BY_MARK * ("mark" in options) | TERMS_AT_OR_BELOW * ("below" in options),
        order_id=int(positional[0]),
        price=number_of({}, options[word][0]) if word else 0,
        quantity=number_of({}, options.get("shows", ["0"])[0]),
        amount=number_of({}, options.get("until", ["0"])[0]),
    )


def _create_symbol(name: str, options: dict[str, list[str]]) -> CreateSymbol:
    base, quote = options.get("assets") or name.split("-")
    scales, fees = options.get("scales", ["1", "1"]), options.get("fees", ["0", "0"])
    tick, lot = options.get("tick", ["1"]), options.get("lot", ["1"])
    return CreateSymbol(
        number_of(SYMBOLS, name),
        0,
        number_of(CURRENCIES, base),
        number_of(CURRENCIES, quote),
        *(number_of({}, figure) for figure in (*scales, *tick, *lot, *fees)),
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
