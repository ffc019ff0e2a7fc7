"""Every process on an address of its own, started alone, and told by URLs where the others are."""

import asyncio
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import asyncpg
import psutil
import pytest

from openspot.contracts import subjects
from openspot.contracts.messages import DepositConfirmed
from openspot.kit.bus import Bus
from openspot.kit.settings import Settings, environment_of
from openspot.up.services import DESCRIPTOR_OF, SERVICES, enabled
from openspot.up.supervisor import is_ready
from tests.support.rest_client import RestClient
from tests.support.waiting import eventually, stretched

START_TIMEOUT_S = 300.0
ADDRESSES = {name: f"127.0.0.{number}" for number, name in enumerate(SERVICES, start=2)}


def settings_of(name: str, settings: Settings, folder: Path) -> Settings:
    """What an operator sets on the host of this process: its own address, and of the others nothing but URLs."""
    kind = DESCRIPTOR_OF[name].settings
    engine = ADDRESSES["engine"]
    own = {
        "data_dir": folder / name,
        SERVICES[name].host: ADDRESSES[name],
        "given_engine_url": f"http://{engine}:{settings.engine_http_port}/",
        "given_engine_grpc": f"{engine}:{settings.engine_grpc_port}",
        "given_engine_frames": f"{engine}:{settings.engine_frames_port}",
    }
    given = settings.model_dump() | {field: value for field, value in own.items() if field in kind.model_fields}
    return kind.model_validate(given)


@contextmanager
def running_alone(settings: Settings, folder: Path) -> Iterator[dict[str, subprocess.Popen[bytes]]]:
    """`openspot run` for each process, its output in a file of `folder`."""
    children: dict[str, subprocess.Popen[bytes]] = {}
    try:
        for name in enabled(settings):
            environment = os.environ | environment_of(settings_of(name, settings, folder))
            with (folder / f"{name}.log").open("wb") as output:
                children[name] = subprocess.Popen(
                    [sys.executable, "-m", "openspot.cli", "run", name], stdout=output, stderr=output, env=environment
                )
        yield children
    finally:
        for child in children.values():
            child.terminate()
        for child in children.values():
            child.wait(stretched(30))


async def are_ready(settings: Settings, children: dict[str, subprocess.Popen[bytes]], folder: Path) -> bool:
    for name, child in children.items():
        assert child.poll() is None, (folder / f"{name}.log").read_text("utf-8")
    ports = {name: process.ready_port(settings) for name, process in enabled(settings).items()}
    return all(await asyncio.gather(*(is_ready(ADDRESSES[name], port, stretched(3)) for name, port in ports.items())))


def listening(child: subprocess.Popen[bytes]) -> set[tuple[str, int]]:
    """Every (address, port) on which a process takes connections. gRPC writes IPv4 addresses as IPv6 does."""
    connections = psutil.Process(child.pid).net_connections("inet")
    return {
        (found.laddr.ip.removeprefix("::ffff:"), found.laddr.port)
        for found in connections
        if found.status == psutil.CONN_LISTEN
    }


@pytest.mark.proof
async def test_processes_on_addresses_of_their_own_settle_a_trade_and_listen_nowhere_else(
    settings: Settings, bus: Bus, pool: asyncpg.Pool, tmp_path: Path, subscriptions_database_url: str
) -> None:
    settings = settings.model_copy(update={"subscriptions_database_url": subscriptions_database_url})
    with running_alone(settings, tmp_path) as children:
        await eventually(lambda: are_ready(settings, children, tmp_path), START_TIMEOUT_S, 0.2)
        for user, asset, amount in (("alice", "USD", "100000"), ("bob", "BTC", "10")):
            await bus.publish(
                subjects.CUSTODY_DEPOSIT_CONFIRMED, DepositConfirmed(f"tx-{user}", user, asset, amount), user
            )
        credited = "SELECT count(*) = 2 FROM ledger_entries WHERE transaction_id IN ('tx-alice', 'tx-bob')"
        await eventually(lambda: pool.fetchval(credited), START_TIMEOUT_S, 0.1)

        rest = RestClient(settings.model_copy(update={"rest_host": ADDRESSES["rest-edge"]}))
        try:
            for user, side in (("bob", "sell"), ("alice", "buy")):
                rest.as_user(user)
                order = {"symbol": "BTC-USD", "side": side, "type": "limit", "price": "100", "quantity": "1"}
                reply = await rest("POST", "/orders", order)
                assert reply.status == 201, reply
        finally:
            await rest.close()
        settled = "SELECT available::text FROM ledger_accounts WHERE user_id = 'alice' AND asset = 'BTC'"
        await eventually(lambda: pool.fetchval(settled), START_TIMEOUT_S, 0.1)

        for name, child in children.items():
            ports = {getattr(settings, listener.setting) for listener in SERVICES[name].listeners}
            assert listening(child) == {(ADDRESSES[name], port) for port in ports}
