"""The frame of a service: its work is watched, its parts end in order, and its health knows both."""

import asyncio
import re
from typing import Any

import asyncpg
import pytest
from structlog.testing import capture_logs

from openspot.kit import service, service_frame
from openspot.kit.bus import BusUnavailableError
from openspot.kit.service import NotStartedError
from openspot.kit.service_frame import ServiceFrame
from openspot.kit.settings import Settings
from tests.support.waiting import eventually, stretched


class Log:
    """What happened, in its order."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    async def note(self, line: str) -> None:
        self.lines.append(line)

    async def work(self, name: str) -> None:
        """Work until cancelled."""
        try:
            await asyncio.Event().wait()
        finally:
            await self.note(f"{name} ends")

    async def finish(self, name: str, stop: asyncio.Event) -> None:
        """Work until the stop, and finish."""
        await stop.wait()
        await asyncio.sleep(0)
        await self.note(f"{name} finishes")


class FakeServer:
    """A server that notes when it begins and ends."""

    def __init__(self, log: Log) -> None:
        self._log = log

    async def start(self) -> None:
        await self._log.note("server starts")

    async def stop(self) -> None:
        await self._log.note("server stops")


async def fail() -> None:
    raise OSError("the disk is full")


async def is_degraded(frame: ServiceFrame) -> bool:
    return any(shown["status"] == "degraded" for shown in (await details(frame))[1].values())


async def details(frame: ServiceFrame) -> tuple[int, dict[str, Any]]:
    status, body = await frame.health.report(vital_only=False)
    return status, body["details"]


async def test_parts_end_in_the_reverse_order_of_their_making() -> None:
    log, stop = Log(), asyncio.Event()

    async def service() -> None:
        async with ServiceFrame("test", Settings(), stop) as frame:
            frame.at_end(lambda: log.note("client closes"))
            frame.start("consume", log.finish("consumer", stop), finishes=True)
            frame.start("clean up", log.work("clean-up"))
            await frame.serve(FakeServer(log))
            await frame.until_stopped()

    running = asyncio.create_task(service())
    await eventually(lambda: log.lines == ["server starts"])
    stop.set()
    await asyncio.wait_for(running, stretched(5))
    assert sorted(log.lines[1:3]) == ["consumer finishes", "server stops"]
    assert log.lines[3:] == ["clean-up ends", "client closes"]


async def test_the_failure_of_essential_work_ends_the_service_with_its_error() -> None:
    log, stop = Log(), asyncio.Event()
    with pytest.raises(OSError, match="the disk is full"):
        async with ServiceFrame("test", Settings(), stop) as frame:
            frame.start("consume", log.finish("consumer", stop), finishes=True)
            frame.start("write", fail())
            await frame.until_stopped()
    assert log.lines == ["consumer finishes"], "the rest ends in its order"


UP = {"disk": {"status": "up"}}
"""What the frame shows of every process."""


async def test_the_failure_of_other_work_is_shown_as_degraded_and_the_service_goes_on() -> None:
    stop = asyncio.Event()
    async with ServiceFrame("test", Settings(), stop) as frame:
        frame.start("clean up", fail(), is_essential=False)
        waiting = asyncio.create_task(frame.until_stopped())
        await eventually(lambda: is_degraded(frame))
        assert not waiting.done()
        message = "the work has ended: OSError('the disk is full')"
        assert await details(frame) == (200, UP | {"clean up": {"status": "degraded", "message": message}})
        stop.set()
        await asyncio.wait_for(waiting, stretched(5))


async def test_work_that_ends_well_is_no_failure() -> None:
    stop, log = asyncio.Event(), Log()
    async with ServiceFrame("test", Settings(), stop) as frame:
        frame.start("once", log.note("done"))
        waiting = asyncio.create_task(frame.until_stopped())
        await eventually(lambda: log.lines == ["done"])
        # The frame sees in a later turn of the loop that the work has ended.
        await asyncio.sleep(0.01)
        assert not waiting.done()
        assert await details(frame) == (200, UP)
        stop.set()
        await asyncio.wait_for(waiting, stretched(5))


async def test_work_that_does_not_finish_in_time_is_cancelled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(service_frame, "FINISH_S_MAX", 0.01)
    log, stop = Log(), asyncio.Event()
    async with ServiceFrame("test", Settings(), stop) as frame:
        for name in ("first", "second"):
            frame.start(name, log.work(name), finishes=True)
        await asyncio.sleep(0)
    assert log.lines == ["second ends", "first ends"]


async def test_a_fault_at_the_start_ends_what_was_made_until_then() -> None:
    log, stop = Log(), asyncio.Event()
    with pytest.raises(ValueError, match="a wrong setting"):
        async with ServiceFrame("test", Settings(), stop) as frame:
            frame.at_end(lambda: log.note("client closes"))
            frame.start("write", log.work("writer"))
            await asyncio.sleep(0)
            raise ValueError("a wrong setting")
    assert log.lines == ["writer ends", "client closes"]


LOST = [
    ConnectionRefusedError(111, "Connection refused"),
    BusUnavailableError("no bucket"),
    # What asyncpg 0.32 raises for a connection that it has lost.
    asyncpg.InterfaceError("connection is closed"),
    asyncpg.InterfaceError("cannot call Transaction.start(): the underlying connection is closed"),
    asyncpg.InterfaceError("cannot perform operation: connection is closed"),
]
RETURNED = asyncpg.InterfaceError("cannot call Connection.execute(): connection has been released back to the pool")
MISUSES = [
    asyncpg.InterfaceError("cannot perform operation: another operation is in progress"),
    asyncpg.InterfaceError("cannot start; the transaction is already started"),
    asyncpg.InterfaceError("the server expects 1 argument for this query, 2 were passed"),
    asyncpg.InterfaceError("pool is not initialized"),
]


@pytest.mark.parametrize("error", LOST)
async def test_a_service_whose_database_or_bus_goes_away_while_it_starts_says_that_it_has_not_started(
    error: Exception,
) -> None:
    log = Log()
    with pytest.raises(NotStartedError, match=re.escape(f"{type(error).__name__}: {error}")) as raised:
        async with ServiceFrame("test", Settings(), asyncio.Event()) as frame:
            frame.at_end(lambda: log.note("its parts end"))
            raise error
    assert raised.value.__cause__ is error and not raised.value.shows_place
    assert log.lines == ["its parts end"]


@pytest.mark.parametrize("error", MISUSES)
async def test_a_statement_that_is_used_wrongly_while_a_service_starts_is_a_fault_of_the_program(
    error: Exception,
) -> None:
    with pytest.raises(type(error)) as raised:
        async with ServiceFrame("test", Settings(), asyncio.Event()):
            raise error
    assert raised.value is error


@pytest.mark.parametrize(("error", "shows_place"), [(RETURNED, True), (LOST[2], False)])
async def test_a_connection_that_was_lost_or_is_used_after_its_return_is_told_with_its_place(
    error: Exception, shows_place: bool
) -> None:
    async def main(settings: Settings, stop: asyncio.Event) -> None:
        async with ServiceFrame("test", settings, stop):
            raise error

    with capture_logs() as lines:
        assert await service._run("test", main, Settings()) == 1
    told = f"InterfaceError: {error}"
    assert lines[-1] == {
        "module": "service", "event": "not started", "error": told, "exc_info": shows_place, "log_level": "error",
    }  # fmt: skip


async def test_what_fails_later_or_for_another_reason_stays_a_fault() -> None:
    with pytest.raises(ValueError, match="a wrong setting"):
        async with ServiceFrame("test", Settings(), asyncio.Event()):
            raise ValueError("a wrong setting")
    with pytest.raises(ConnectionError, match="a request failed"):
        async with ServiceFrame("test", Settings(), asyncio.Event()) as frame:
            frame.start("work", refuse())
            await frame.until_stopped()


async def refuse() -> None:
    raise ConnectionError("a request failed")
