"""The random stream of commands: reproducible, with small books, and every kind, code and event occurs in it."""

from collections import Counter

from openspot.domain.order import EngineOrderType
from openspot.domain.result_code import ResultCode
from openspot.engine.core.records import (
    COMMAND_SIZE,
    CommandKind,
    EventType,
    ResultStatus,
    decode_commands,
    decode_events,
    decode_results,
)
from openspot.engine.core.reference import ReferenceCore
from tests.support.core_commands import OPEN_ORDERS_MAX, CommandStream, generate
from tests.support.list_commands import ListStream

LIST_KINDS = {CommandKind.LIST_ORDER, CommandKind.PLACE_LIST, CommandKind.CANCEL_LIST}
LIST_EVENTS = {EventType.LISTED, EventType.LIST_ENDED, EventType.UNARMED}
LIST_CODES = {code for code in ResultCode if ResultCode.INVALID_ORDER_LIST <= code <= ResultCode.LIST_ENTRY_ENDED}
COUNT = 12_000
CODES_OF_THE_PROCESS = range(91, 98)


def test_the_same_seed_gives_the_same_commands() -> None:
    assert generate(seed=5, count=500) == generate(seed=5, count=500)
    assert generate(seed=5, count=500)[: 100 * COMMAND_SIZE] == generate(seed=5, count=100)


def test_another_seed_gives_other_commands() -> None:
    assert generate(seed=5, count=100) != generate(seed=6, count=100)


def test_the_books_stay_small_but_not_empty() -> None:
    core, stream = ReferenceCore(), CommandStream(2)
    open_orders = []
    for _ in range(3_000):
        core.apply(stream.next(core))
        open_orders.append(len(core.open_orders()))
    assert max(open_orders) <= OPEN_ORDERS_MAX
    assert sum(open_orders) / len(open_orders) > 10


def test_a_stream_reaches_every_kind_code_and_event() -> None:
    records = generate(seed=3, count=COUNT)
    result_bytes, event_bytes = ReferenceCore().apply(records)
    commands, results = list(decode_commands(records)), list(decode_results(result_bytes))
    taken: Counter[int] = Counter()
    order_types: Counter[int] = Counter()
    for command, result in zip(commands, results, strict=True):
        kind = getattr(command, "kind", CommandKind.CREATE_SYMBOL)
        taken[kind] += result.status != ResultStatus.REJECTED
        if kind == CommandKind.PLACE and result.filled + result.remaining:
            order_types[command.order_type] += 1  # type: ignore[union-attr]
    events = list(decode_events(event_bytes))

    assert [kind for kind in CommandKind if not taken[kind] and kind not in LIST_KINDS] == []
    assert [order_type for order_type in EngineOrderType if not order_types[order_type]] == []
    found = {event.type for event in events}
    assert [event_type for event_type in EventType if event_type not in found | LIST_EVENTS] == []
    seen = {result.code for result in results} | {event.code for event in events}
    assert [code for code in ResultCode if code not in {*seen, *CODES_OF_THE_PROCESS, *LIST_CODES}] == []


def test_streams_of_lists_reach_every_kind_code_and_event_of_lists() -> None:
    kinds: set[int] = set()
    seen: set[int] = set()
    found: set[int] = set()
    for seed in range(30):
        core, stream = ReferenceCore(), ListStream(seed)
        for _ in range(400):
            record = stream.next(core)
            results, events = core.apply(record)
            kinds |= {record[0] for result in decode_results(results) if result.status != ResultStatus.REJECTED}
            seen |= {result.code for result in decode_results(results)}
            for event in decode_events(events):
                seen.add(event.code)
                found.add(event.type)
    assert [LIST_KINDS - kinds, LIST_EVENTS - found, LIST_CODES - seen] == [set(), set(), set()]
