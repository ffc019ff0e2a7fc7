"""Kills, damaged files and full disks: every acknowledged command survives exactly once."""

import asyncio
import sqlite3
import struct
from collections.abc import Callable
from pathlib import Path

import grpc
import pytest
from typer.testing import CliRunner

from openspot.cli import app
from openspot.contracts.gen.exchange.v1 import accounts_pb2
from openspot.contracts.gen.exchange.v1 import orders_pb2 as pb
from openspot.engine.engine import Engine, journal_path
from openspot.engine.journal.inspection import verify
from openspot.engine.journal.mark import MARK
from openspot.engine.journal.snapshots import FOLDER
from openspot.engine.settings import EngineSettings
from openspot.engine.stream.event_store import EVENTS
from openspot.kit.settings import Settings
from tests.support.engine_client import EngineClient, EngineProcess, engine_process, engine_settings, order
from tests.support.engine_faults import (
    BROKEN_STATE,
    FAILING_DISK,
    FULL_DISK,
    FULL_EVENT_STORE,
    KILLED_AFTER_COMMIT,
    flip,
    tell_to_die,
    wal_path,
)
from tests.support.engine_nursery import ForkedEngine, Nursery, forked_engine
from tests.support.waiting import eventually


def messages(child: EngineProcess) -> list[str]:
    return [str(line["event"]) for line in child.log()]


async def test_an_acknowledged_order_is_there_after_kill_9(settings: Settings, nursery: Nursery) -> None:
    async with forked_engine(settings, nursery) as (child, engine):
        await engine.fund()
        placed = await engine.place("buy", "100", "2", external_id="kept")
        child.kill()
        child.start()
        await child.ready(engine)
        found = await engine.find(placed.order_id)
        assert (found.status, found.external_id, found.participant_id) == ("OPEN", "kept", "alice")
        assert (await engine.balances())["USD"].locked == "200"
        assert (await engine.place(order_id=placed.order_id)).result_code == "DUPLICATE_ORDER_ID"
        assert (await engine.place(external_id="kept")).result_code == "DUPLICATE_ORDER_ID"
        assert (await engine.cancel(0, external_id="kept")).result_code == "SUCCESS"
        assert child.stop() == 0
    assert verify(journal_path(settings)).problems == []


async def test_a_deposit_reference_credits_once_across_restarts(settings: Settings, nursery: Nursery) -> None:
    request = accounts_pb2.DepositRequest(participant_id="alice", currency="USD", amount="5", reference="tx-1")
    async with forked_engine(settings, nursery) as (child, engine):
        assert (await engine.accounts.Deposit(request)).balance == "5"
        for end in (child.kill, child.stop):
            end()
            child.start()
            await child.ready(engine)
            answer = await engine.accounts.Deposit(request)
            assert (answer.success, answer.balance, answer.sequence) == (True, "5", 0)
        request.amount = "6"
        assert (await engine.accounts.Deposit(request)).result_code == "REFERENCE_CONFLICT"


async def killed_in_a_commit(child: EngineProcess, engine: EngineClient, settings: Settings) -> pb.PlaceOrderRequest:
    """Kill the engine after it has committed an order and before it responds; returns the order."""
    unanswered = order("buy", "100", "1", order_id=77)
    tell_to_die(settings)
    with pytest.raises(grpc.aio.AioRpcError):
        await engine.send(unanswered)
    assert child.wait() == -9
    return unanswered


def flip_last_page(settings: Settings) -> None:
    flip(wal_path(settings), -100)


def cut_last_page(settings: Settings) -> None:
    content = wal_path(settings).read_bytes()
    wal_path(settings).write_bytes(content[:-2000])


def empty_last_batch(settings: Settings) -> None:
    with sqlite3.connect(journal_path(settings)) as connection:
        connection.execute(
            "UPDATE batches SET commands = zeroblob(64)"
            " WHERE first_sequence = (SELECT max(first_sequence) FROM batches)"
        )


@pytest.mark.parametrize("damage", [flip_last_page, cut_last_page, empty_last_batch])
async def test_a_torn_end_that_nobody_got_a_response_to_is_removed(
    settings: Settings, nursery: Nursery, damage: Callable[[Settings], None]
) -> None:
    async with forked_engine(settings, nursery, KILLED_AFTER_COMMIT) as (child, engine):
        await engine.fund()
        placed = [await engine.place() for _ in range(2)]
        unanswered = await killed_in_a_commit(child, engine, settings)
        damage(settings)
        child.start()
        await child.ready(engine)
        if damage is flip_last_page:
            assert "the journal has a torn end, which is removed" in messages(child)
        if damage is empty_last_batch:
            assert "removed the torn end of the journal" in messages(child)
        assert [(await engine.find(answer.order_id)).found for answer in placed] == [True, True]
        assert not (await engine.find(unanswered.order_id)).found
        again = await engine.send(unanswered)
        assert again.sequence == placed[1].sequence + 1
        assert [event["seq"] for event in await engine.events(1, again.sequence)] == list(range(1, again.sequence + 1))
        assert child.stop() == 0
    assert verify(journal_path(settings)).problems == []


@pytest.mark.parametrize("damage", [flip_last_page, cut_last_page, empty_last_batch])
async def test_a_damaged_end_that_was_acknowledged_prevents_the_start_until_it_is_given_up(
    settings: Settings, nursery: Nursery, damage: Callable[[Settings], None]
) -> None:
    async with forked_engine(settings, nursery) as (child, engine):
        await engine.fund()
        placed = [await engine.place() for _ in range(3)]
        child.kill()
        damage(settings)
        child.start()
        assert child.wait() == 1
        error = str(child.log()[-1]["error"])
        for part in (str(journal_path(settings)), "journal.mark proves", "openspot engine recover --accept-loss 1"):
            assert part in error
        assert "Traceback" not in child.log_path.read_text("utf-8")
        recovered = CliRunner().invoke(app, ["engine", "recover", str(journal_path(settings)), "--accept-loss", "1"])
        assert recovered.exit_code == 0, recovered.output
        child.start()
        await child.ready(engine)
        assert [(await engine.find(answer.order_id)).found for answer in placed] == [True, True, False]
        # The lost order's event number is used up.
        last = await engine.last_sequence()
        assert last == placed[2].sequence
        assert [event["type"] for event in await engine.events(last - 1, last)] == ["accepted", "reject"]
        assert (await engine.place(order_id=placed[2].order_id)).sequence == last + 1
        assert child.stop() == 0
    assert verify(journal_path(settings)).problems == []


async def test_a_lost_journal_prevents_an_empty_exchange(settings: Settings, nursery: Nursery) -> None:
    async with forked_engine(settings, nursery) as (child, engine):
        await engine.fund()
        assert child.stop() == 0
        journal_path(settings).unlink()
        child.start()
        assert child.wait() == 1
        assert "does not begin an empty exchange" in str(child.log()[-1]["error"])
        assert "Traceback" not in child.log_path.read_text("utf-8")
        assert not journal_path(settings).exists()


async def test_damage_before_the_end_prevents_the_start_and_says_what_to_do(
    settings: Settings, nursery: Nursery
) -> None:
    async with forked_engine(settings, nursery) as (child, engine):
        await engine.fund()
        for _ in range(10):
            await engine.place()
        child.kill()
        saved = {path: path.read_bytes() for path in journal_path(settings).parent.iterdir() if path.is_file()}

        def restore() -> None:
            for path in journal_path(settings).parent.iterdir():
                if path.is_file():
                    path.unlink()
            for path, content in saved.items():
                path.write_bytes(content)

        def damaged_log() -> None:
            (page_size,) = struct.unpack_from(">I", wal_path(settings).read_bytes(), 8)
            flip(wal_path(settings), 32 + 4 * (24 + page_size) + 24 + page_size - 10)

        def damaged_row() -> None:
            with sqlite3.connect(journal_path(settings)) as connection:
                connection.execute("UPDATE batches SET notes = x'90' WHERE first_sequence = 25")

        def missing_row() -> None:
            with sqlite3.connect(journal_path(settings)) as connection:
                connection.execute("DELETE FROM batches WHERE first_sequence = 25")

        def damaged_header() -> None:
            with sqlite3.connect(journal_path(settings)) as connection:
                connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            flip(journal_path(settings), 3)

        for damage in (damaged_log, damaged_row, missing_row, damaged_header):
            restore()
            damage()
            before = [path.read_bytes() for path in (journal_path(settings), wal_path(settings)) if path.exists()]
            child.start()
            assert child.wait() == 1, damage
            error = str(child.log()[-1]["error"])
            assert "damaged" in error, damage
            assert "openspot engine verify" in error, damage
            if damage is damaged_log:
                # If SQLite had opened the file, it would have discarded the commits after the damage.
                assert [journal_path(settings).read_bytes(), wal_path(settings).read_bytes()] == before
        restore()
        child.start()
        await child.ready(engine)


async def test_a_journal_that_ends_before_a_snapshot_does_not_start(settings: Settings, nursery: Nursery) -> None:
    async with forked_engine(settings, nursery) as (child, engine):
        await engine.fund()
        assert child.stop() == 0
        with sqlite3.connect(journal_path(settings)) as connection:
            connection.execute("DELETE FROM batches WHERE first_sequence = (SELECT max(first_sequence) FROM batches)")
        for name in (MARK, EVENTS):
            # Each file that is left proves the loss alone.
            child.start()
            assert child.wait() == 1
            assert f"{name} proves" in str(child.log()[-1]["error"])
            journal_path(settings).with_name(name).unlink()
        child.start()
        assert child.wait() == 1
        assert "the end of the journal is lost" in str(child.log()[-1]["error"])


async def test_a_clean_stop_leaves_a_snapshot_and_a_lost_event_file_is_recreated(
    settings: Settings, nursery: Nursery
) -> None:
    async with forked_engine(settings, nursery) as (child, engine):
        await engine.fund()
        placed = await engine.place("sell", "100", "1")
        await engine.fund("bob")
        await engine.place("buy", "100", "0.5", "bob")
        events = await engine.events(1, await engine.last_sequence())
        assert child.stop() == 0

        def replayed() -> int:
            lines = [line for line in child.log() if line["event"] == "recovered the engine state"]
            return int(lines[-1]["replayed_commands"])

        child.start()
        await child.ready(engine)
        assert replayed() == 0
        assert await engine.events(1, len(events)) == events
        assert (await engine.find(placed.order_id)).status == "PARTIALLY_FILLED"
        assert child.stop() == 0

        for path in journal_path(settings).parent.glob("events.sqlite*"):
            path.unlink()
        child.start()
        await child.ready(engine)
        assert replayed() > 0
        assert await engine.events(1, len(events)) == events


@pytest.mark.spec("A1.1-63", "A1.1-65")
async def test_a_full_disk_acknowledges_nothing_and_says_so(settings: Settings) -> None:
    async with engine_process(settings, FULL_DISK) as (child, engine):
        await engine.fund()
        placed: list[int] = []
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            for _ in range(5000):
                answer = await engine.place("buy", "1", "0.001", metadata="x" * 1000)
                placed.append(answer.order_id)
        assert caught.value.code() is grpc.StatusCode.FAILED_PRECONDITION
        assert "full" in (caught.value.details() or "")
        assert len(placed) > 3
        for path in ("/health", "/ready", "/actuator/health"):
            status, body = await engine.request("GET", path)
            assert (status, body["status"]) == (503, "error")
            assert "full" in body["error"]["journal"]["message"]
        body = {"participantId": "alice", "currency": "USD", "amount": "1"}
        status, answer = await engine.request("POST", "/api/v1/accounts/deposit", body)
        assert (status, answer["code"]) == (503, "ENGINE_STOPPED")
        # What is durable can still be read.
        assert (await engine.find(placed[-1])).status == "OPEN"
        assert (await engine.request("GET", "/api/v1/marketdata/orderbook/BTC-USD"))[0] == 200
        last = await engine.last_sequence()
        assert child.stop() == 0
        roomy = EngineProcess(settings)
        roomy.start()
        child.process = roomy.process
        await roomy.ready(engine)
        assert await engine.last_sequence() == last
        for order_id in placed:
            assert (await engine.find(order_id)).status == "OPEN"
        assert (await engine.place()).status == pb.ACCEPTED


@pytest.mark.proof
@pytest.mark.spec("A1.1-65")
async def test_without_disk_space_for_events_orders_continue_and_a_restart_fills_the_gap(settings: Settings) -> None:
    async with engine_process(settings, FULL_EVENT_STORE) as (child, engine):
        await engine.fund()
        placed: list[int] = []

        async def not_ready() -> bool:
            placed.append((await engine.place("buy", "1", "0.001", metadata="x" * 4000)).order_id)
            return (await engine.request("GET", "/ready"))[0] == 503

        await eventually(not_ready)
        body = (await engine.request("GET", "/ready"))[1]
        assert "full" in body["error"]["events"]["message"]
        assert (await engine.request("GET", "/health"))[0] == 200
        placed.append((await engine.place()).order_id)
        last = await engine.last_sequence()
        child.kill()
        roomy = EngineProcess(settings)
        roomy.start()
        child.process = roomy.process
        await roomy.ready(engine)
        events = await engine.events(1, last)
        assert [event["seq"] for event in events] == list(range(1, last + 1))
        assert [event["orderId"] for event in events if event["type"] == "accepted"] == [str(name) for name in placed]


@pytest.mark.proof
async def test_a_disk_failure_during_a_commit_ends_the_process_and_a_restart_recovers(settings: Settings) -> None:
    async with engine_process(settings, FAILING_DISK) as (child, engine):
        await engine.fund()
        placed: list[int] = []
        with pytest.raises(grpc.aio.AioRpcError):
            for _ in range(5000):
                answer = await engine.place("buy", "1", "0.001", metadata="x" * 1000)
                placed.append(answer.order_id)
        assert len(placed) > 3
        assert child.wait() == 1
        assert "the journal failed during a commit" in str(child.log()[-1]["error"])
        sound = EngineProcess(settings)
        sound.start()
        child.process = sound.process
        await sound.ready(engine)
        for order_id in placed:
            assert (await engine.find(order_id)).status == "OPEN"
        assert sound.stop() == 0
    assert verify(journal_path(settings)).problems == []


async def test_a_broken_invariant_ends_the_process_with_its_name_and_leaves_no_snapshot(
    tmp_path: Path, nursery: Nursery
) -> None:
    settings = engine_settings(tmp_path, engine_core="reference")
    async with forked_engine(settings, nursery, BROKEN_STATE) as (child, engine):
        await engine.fund()
        placed = await engine.place("buy", "100", "1")
        tell_to_die(settings)
        with pytest.raises(grpc.aio.AioRpcError):
            await engine.cancel(placed.order_id)
        assert child.wait() == 1
        error = str(child.log()[-1]["error"])
        assert "broken invariant of the matching core: more is released than is held, in command" in error
        assert not journal_path(settings).with_name(FOLDER).exists()
        child.start()
        await child.ready(engine)
        # The command was durable. Its caller was told that its outcome is unknown.
        assert (await engine.find(placed.order_id)).status == "CANCELLED"
        assert (await engine.balances())["USD"].locked == "0"


async def test_no_snapshot_is_taken_of_a_state_after_a_failure(settings: Settings) -> None:
    engine = await Engine.open(EngineSettings.model_validate(settings.model_dump()))
    engine.sequencer._failed = True
    await engine._try_snapshot()
    assert not journal_path(settings).with_name(FOLDER).exists()
    engine.sequencer._failed = False
    await engine._try_snapshot()
    assert len(list(journal_path(settings).with_name(FOLDER).iterdir())) == 1
    await engine.close()


async def test_a_second_engine_on_the_same_journal_or_port_does_not_start(tmp_path: Path, nursery: Nursery) -> None:
    settings = engine_settings(tmp_path)
    async with forked_engine(settings, nursery) as (_, engine):
        same_journal = ForkedEngine(engine_settings(tmp_path), nursery)
        same_journal.log_path = tmp_path / "second.log"
        same_journal.start()
        assert same_journal.wait() == 1
        assert "another engine has" in str(same_journal.log()[-1]["error"])
        for name in ("engine_http_port", "engine_grpc_port"):
            other = engine_settings(tmp_path / name, **{name: getattr(settings, name)})
            same_port = ForkedEngine(other, nursery)
            same_port.start()
            assert same_port.wait() == 1
            assert f"{getattr(settings, name)} is taken" in str(same_port.log()[-1]["error"])
        assert (await engine.request("GET", "/ready"))[0] == 200


@pytest.mark.proof
async def test_an_idle_engine_uses_almost_no_processor_time(settings: Settings) -> None:
    async with engine_process(settings) as (child, engine):
        await engine.fund()
        async with engine.stream() as stream:
            await stream.next()

            def processor_s() -> float:
                assert child.process is not None
                fields = Path(f"/proc/{child.process.pid}/stat").read_text("utf-8").rpartition(")")[2].split()
                return (int(fields[11]) + int(fields[12])) / 100

            before = processor_s()
            # The engine is idle once a consumer of the stream gets no event for two seconds.
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(2):
                    await stream.next()
            assert processor_s() - before <= 0.1
