"""Engine events through market data's books to messages, against a bare loop that only decodes the same events.

    .venv/bin/python -m benchmarks.market_data

The events are those of the shallow workload on one market, as JSON arrays of 512, as the engine sends them. Both sides
run in this process, in turns. The bare loop decodes each array and looks at each event's sequence. Market data decodes
it, applies the events, encodes the trades, and, after every `EVENTS_BETWEEN` events, encodes the update of the book and
the ticker: at the rates below, that is more often than every 100 ms.
"""

import time

import msgspec

from benchmarks.engine_commands import engine_commands, first_commands
from openspot.contracts.engine_events import EngineEvent
from openspot.engine.core.selection import make_core
from openspot.engine.state.state_machine import StateMachine
from openspot.engine.stream.event_render import EventRenderer
from openspot.market_data.markets import Markets, publishable

COMMANDS = 40_000
ROUNDS = 5
ARRAY = 512
EVENTS_BETWEEN = (1, 512, 4096)
DEPTH = 1000

_decode = msgspec.json.Decoder(list[EngineEvent]).decode
_encode = msgspec.json.Encoder().encode


def arrays() -> tuple[list[bytes], int]:
    """The stream's messages, and how many events they hold."""
    machine = StateMachine(make_core("auto"), COMMANDS)
    renderer = EventRenderer(machine.directory, "benchmark")
    commands, notes = first_commands()
    machine.register(commands, notes)
    events = renderer.messages(machine.apply(commands, notes).events)
    for record, note in engine_commands(COMMANDS, seed=1):
        machine.register(record, [note])
        events += renderer.messages(machine.apply(record, [note]).events)
    return [b"[" + b",".join(events[at : at + ARRAY]) + b"]" for at in range(0, len(events), ARRAY)], len(events)


def bare(messages: list[bytes]) -> int:
    """Decode, and check that no event is missing."""
    sequence = 0
    for message in messages:
        for event in _decode(message):
            assert event.seq == sequence + 1
            sequence = event.seq
    return sequence


def market_data(messages: list[bytes], between: int) -> int:
    """Decode, apply and encode what would be published. Returns the number of messages."""
    markets, published, waiting = Markets(DEPTH), 0, 0
    for message in messages:
        for event in _decode(message):
            applied = markets.apply(event)
            waiting += 1
            if applied is not None and applied.trade is not None:
                _encode(applied.trade)
                published += 1
            if waiting >= between:
                waiting = 0
                for book in publishable(markets.all()):
                    _encode(book)
                    published += 1
                if between > 1:
                    for market in markets.all():
                        ticker = market.changed_ticker(1_700_000_000_000)
                        if ticker is not None:
                            _encode(ticker)
                            published += 1
    return published


def main() -> None:
    """Measure both sides, round by round, and print the medians."""
    messages, events = arrays()
    print(f"{events:,} events of {COMMANDS:,} commands")
    bare_s: list[float] = []
    rates: dict[int, list[float]] = {between: [] for between in EVENTS_BETWEEN}
    published: dict[int, int] = {}
    for _ in range(ROUNDS):
        began = time.perf_counter()
        bare(messages)
        bare_s.append(time.perf_counter() - began)
        for between in EVENTS_BETWEEN:
            began = time.perf_counter()
            published[between] = market_data(messages, between)
            rates[between].append(time.perf_counter() - began)
    floor = sorted(bare_s)[ROUNDS // 2]
    print(f"bare loop                                 {events / floor:>10,.0f} events/s")
    for between, seconds in rates.items():
        median = sorted(seconds)[ROUNDS // 2]
        what = "every event" if between == 1 else f"every {between} events"
        print(
            f"market data, book after {what:<17} {events / median:>10,.0f} events/s, "
            f"{floor / median:.2f} of the bare loop, {published[between]:,} messages"
        )


if __name__ == "__main__":
    main()
