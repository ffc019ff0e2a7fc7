"""Runs a world and judges it, and searches for the fewest steps that still go wrong."""

import hashlib
from collections.abc import Callable
from typing import Any

from openspot.engine.core.reference_state import BrokenInvariantError
from tests.simulation.answers import AnswerAuditor
from tests.simulation.auditor import Auditor
from tests.simulation.history import History
from tests.simulation.quiet import Log
from tests.simulation.transfer_auditor import TransferAuditor
from tests.simulation.world import World

FINDINGS_SHOWN = 6
_CONTRADICTIONS = (
    "engine event contradicts the open orders",
    "order row dropped",
    "trade row dropped",
    "rows refused by the database",
    "work on an account failed",
)
_SESSION_ENDED = "leader session ended"
_INTERRUPTIONS = ("LeaseLostError", "FencedError", "the lease ", "another process holds the lease")
"""Errors that may end a leader session."""

MakeWorld = Callable[[int], World]


def findings_of(world: World, log: Log) -> list[str]:
    """List what is wrong with a world that has come to rest."""
    history = History(world.engine.journal, world.engine.records)
    auditor = Auditor(history)
    streams = {name: stream.messages for name, stream in world.server.streams.items()}
    auditor.look_at_ledger(world.tables, world.told)
    auditor.look_at_rows(world.rows, world.told)
    auditor.look_at_order_events(streams["ORDERS"], world.told)
    trades = [*streams["TRADES"], *streams["TRADE_SIDES"]]
    auditor.look_at_trade_events(trades, is_divided=world.is_divided)
    auditor.look_at_balance_events(streams["BALANCES"], world.tables)
    answers = AnswerAuditor(history, world.told)
    answers.look_at_orders()
    answers.look_at_cancels()
    answers.look_at_replacements()
    answers.look_at_lists()
    answers.look_at_custody(streams["CUSTODY"])
    transfers = TransferAuditor(history, world.told_of_transfers)
    transfers.look_at_transfers()
    transfers.look_at_answers()
    transfers.look_at_events(streams["TRANSFERS"])
    findings = auditor.findings + answers.findings + transfers.findings + world.further_findings(history)
    return findings + world.loop.faults + _contradictions(log)


def _contradictions(log: Log) -> list[str]:
    found = []
    for event, values in log.errors:
        interrupted = event == _SESSION_ENDED and not str(values["error"]).startswith(_INTERRUPTIONS)
        if interrupted or event in _CONTRADICTIONS:
            found.append(f"log: {event} {_shown(values)}")
    return found


def _shown(values: dict[str, Any]) -> str:
    return ", ".join(f"{name}={value}" for name, value in values.items())


def digest(world: World) -> str:
    """A hash of everything that happened. Equal runs have equal hashes."""
    state = hashlib.sha256()
    for name, stream in world.server.streams.items():
        state.update(repr((name, stream.messages)).encode())
    state.update(repr((world.rows.orders, world.rows.trades, world.tables.entries)).encode())
    state.update(repr((world.told.accepted, world.told.refused, world.told.cancelled, world.told.seen)).encode())
    state.update(world.engine.records)
    return state.hexdigest()


def judged(seed: int, steps: int, log: Log, make_world: MakeWorld = World) -> list[str]:
    """Run a world and list what is wrong with it. The list is empty if all is well."""
    log.errors.clear()
    world = make_world(seed)
    try:
        world.run(steps)
        return findings_of(world, log)
    except AssertionError as error:
        return [f"{type(error).__name__}: {error}", *_contradictions(log)]
    except (BrokenInvariantError, ValueError) as error:
        # A core refuses to go on with its own state.
        return [f"core: {error}", *_contradictions(log)]


def shrunk(seed: int, steps: int, log: Log, make_world: MakeWorld = World) -> tuple[int, list[str]]:
    """Return the fewest steps, at most `steps`, after which the seed goes wrong, and what is wrong then."""
    for fewer in range(1, steps + 1):
        findings = judged(seed, fewer, log, make_world)
        if findings:
            return fewer, findings
    raise ValueError(f"seed {seed} does not go wrong within {steps} steps")


def report(seed: int, steps: int, findings: list[str], test: str = World.test) -> str:
    """The findings as text, with the command line that repeats the run in `test`."""
    shown = "\n".join(f"  - {finding}" for finding in findings[:FINDINGS_SHOWN])
    more = f"\n  … and {len(findings) - FINDINGS_SHOWN} more" if len(findings) > FINDINGS_SHOWN else ""
    command = f"OPENSPOT_SIMULATION_SEED={seed} OPENSPOT_SIMULATION_STEPS={steps} pytest {test}"
    return f"seed {seed} goes wrong after {steps} steps:\n{shown}{more}\nRepeat it with\n  {command}"
