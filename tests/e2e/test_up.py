"""`openspot up` as a user meets it: start, addresses, restarts, a clean end, and starting after a crash."""

import json
import os
import socket
import subprocess
import sys
import urllib.request
from contextlib import suppress
from pathlib import Path
from urllib.error import HTTPError
from urllib.parse import urlsplit

import psutil
import pytest

from openspot.up.child_platform import ChildPlatform
from openspot.up.services import SERVICES, PlatformSettings, enabled
from tests.support.platforms import alive, child_platform
from tests.support.ports import free_port
from tests.support.waiting import eventually, stretched


def processes_of(platform: ChildPlatform) -> list[int]:
    return list(platform.state.pids.values())


def answer(url: str) -> tuple[int, bytes]:
    with urllib.request.urlopen(url, timeout=stretched(5)) as response:
        return response.status, response.read()


def openspot(platform: ChildPlatform, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "openspot.cli", *arguments],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"OPENSPOT_DATA_DIR": str(platform.data_dir)} | environment,
    )


@pytest.mark.spec(
    "A1.1-24", "A1.1-26", "A1.1-28", "A1.1-29", "A1.1-31", "A1.1-33", "A1.1-34", "A1.1-36", "A1.1-38",
    "A1.1-39", "A1.1-41", "A1.1-43", "A1.1-44", "A1.1-46", "A1.1-48", "A1.1-49", "A1.1-51", "A1.1-53",
    "A1.1-62", "A1.1-64", "A1.1-66",
)  # fmt: skip
@pytest.mark.parametrize("name", sorted(enabled(PlatformSettings(reconcile_every_s=0))))
async def test_every_service_answers_health_ready_and_metrics(platform: ChildPlatform, name: str) -> None:
    base = f"http://127.0.0.1:{SERVICES[name].ready_port(platform.settings)}"

    def serves(path: str) -> bool:
        with suppress(HTTPError, TimeoutError):
            return answer(f"{base}{path}")[0] == 200
        return False

    for path in ("/health", "/ready"):
        # A check that gets no processor in its time says 503 once.
        await eventually(lambda path=path: serves(path))  # type: ignore[misc]
    status, body = answer(f"{base}/metrics")
    assert status == 200
    assert b"# TYPE openspot_bus_malformed_total counter" in body


def test_it_prints_every_address(platform: ChildPlatform) -> None:
    printed = platform.output_path.read_text("utf-8")
    assert "OpenSpot is ready" in printed
    for address in platform.state.addresses.values():
        assert address in printed


def test_status_tells_addresses_processes_and_readiness(platform: ChildPlatform) -> None:
    outcome = openspot(platform, "status", "--json")
    assert outcome.returncode == 0, outcome.stderr
    report = json.loads(outcome.stdout)
    assert report["running"] is True
    services = enabled(platform.settings)
    assert set(report["processes"]) == {*services, "NATS", "PostgreSQL"}
    assert all(report["processes"][name]["ready"] for name in services)
    assert openspot(platform, "status").returncode == 0


def test_a_second_platform_on_the_same_directory_is_refused(platform: ChildPlatform) -> None:
    outcome = openspot(platform, "up")
    assert outcome.returncode == 1
    assert "already running" in outcome.stdout


async def test_a_child_that_dies_is_started_again(platform: ChildPlatform) -> None:
    before = platform.kill("ws-edge")
    after = await eventually(lambda: (pid := platform.state.pids.get("ws-edge")) != before and pid, 30)
    assert alive(after)
    await eventually(lambda: openspot(platform, "status").returncode == 0, 30)


@pytest.mark.proof
async def test_start_stop_and_start_again(own_folder: Path) -> None:
    """Ctrl-C leaves no process behind, data is kept, and a killed supervisor does not stand in the way."""
    platform = child_platform(own_folder)
    platform.start()
    epoch = answer(f"{platform.settings.engine_url}/health")[1]
    secrets = (own_folder / "secrets.json").read_bytes()
    bus_users = {name: urlsplit(url).password for name, url in platform.state.bus_urls.items()}
    assert len(set(bus_users.values())) == len(bus_users)
    pids = processes_of(platform)
    assert "password" in platform.output_path.read_text("utf-8")
    assert platform.stop() == 0
    assert not [pid for pid in pids if alive(pid)]

    platform.start()
    assert (own_folder / "secrets.json").read_bytes() == secrets
    # A program on another host keeps working.
    assert {name: urlsplit(url).password for name, url in platform.state.bus_urls.items()} == bus_users
    assert "password" not in platform.output_path.read_text("utf-8")
    assert json.loads(answer(f"{platform.settings.engine_url}/health")[1])["status"] == json.loads(epoch)["status"]
    pids = processes_of(platform)
    platform.kill_supervisor()
    services = [pid for name, pid in zip(platform_names(own_folder), pids, strict=True) if name in SERVICES]
    await eventually(lambda: not [pid for pid in services if alive(pid)], 30)

    platform.start()
    assert platform.stop() == 0
    assert not [psutil.Process(pid).cmdline() for pid in pids if alive(pid)]


@pytest.mark.proof
def test_the_credentials_of_one_service_are_printed_for_another_host(platform: ChildPlatform) -> None:
    done = openspot(platform, "bus", "credentials", "venue")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        f"NATS_URL={platform.state.bus_urls['venue']}",
        "OPENSPOT_NATS_API_PREFIX=BUS.API",
        "OPENSPOT_NATS_SYNCED=true",
    ]
    unknown = openspot(platform, "bus", "credentials", "engine")
    assert (unknown.returncode, unknown.stdout) == (1, "")
    assert unknown.stderr.startswith("openspot: 'engine' does not use the bus; one of: custody, demo, ")


def platform_names(folder: Path) -> list[str]:
    return list(json.loads((folder / "state.json").read_text("utf-8"))["pids"])


def test_a_taken_port_is_named_with_its_remedy(own_folder: Path) -> None:
    with socket.socket() as holder:
        holder.bind(("127.0.0.1", 0))
        holder.listen()
        port = holder.getsockname()[1]
        platform = child_platform(own_folder, {"OPENSPOT_REST_PORT": str(port)})
        with pytest.raises(RuntimeError) as raised:
            platform.start()
    text = " ".join(str(raised.value).split())
    assert f"port {port} (REST edge) is taken" in text
    assert "OPENSPOT_REST_PORT" in text


@pytest.mark.proof
def test_a_service_that_cannot_start_ends_the_start_with_its_reason(own_folder: Path) -> None:
    platform = child_platform(own_folder, {"OPENSPOT_THROTTLE_STORAGE": "mongodb://nowhere"})
    with pytest.raises(RuntimeError) as raised:
        platform.start()
    text = " ".join(str(raised.value).split())
    # Both edges count signatures there: whichever fails first is named.
    assert any(f"{edge} edge ends again and again" in text for edge in ("REST", "WebSocket"))
    assert "prerequisite not available" in text


@pytest.mark.proof
def test_a_bad_setting_is_named(own_folder: Path) -> None:
    platform = child_platform(own_folder, {"OPENSPOT_LOG_LEVEL": "LOUD"})
    with pytest.raises(RuntimeError, match="OPENSPOT_LOG_LEVEL: Input should be"):
        platform.start()


def test_a_host_that_strangers_reach_is_refused_with_what_to_set(own_folder: Path) -> None:
    platform = child_platform(own_folder, {"OPENSPOT_HOST": "0.0.0.0"})
    with pytest.raises(RuntimeError, match=r"OPENSPOT_HOST=0\.0\.0\.0 opens the matching engine's gRPC") as raised:
        platform.start()
    assert "OPENSPOT_TRUSTED_NETWORK=true" in str(raised.value)
    alone = openspot(platform, "run", "engine", OPENSPOT_HOST="0.0.0.0")
    assert alone.returncode == 1
    assert "OPENSPOT_TRUSTED_NETWORK=true" in alone.stderr


@pytest.mark.proof
def test_a_folder_that_is_open_and_holds_other_files_is_refused(own_folder: Path) -> None:
    (own_folder / "letter.txt").write_text("dear", "utf-8")
    own_folder.chmod(0o755)
    outcome = openspot(child_platform(own_folder), "up")
    assert outcome.returncode == 1
    assert "holds other files (letter.txt)" in outcome.stdout


@pytest.mark.proof
def test_a_database_that_cannot_be_used_is_told_without_its_password(own_folder: Path) -> None:
    port = free_port()
    platform = child_platform(own_folder, {"DATABASE_URL": f"postgresql://me:s3cret-word@127.0.0.1:{port}/openspot"})
    with pytest.raises(RuntimeError, match="the database of DATABASE_URL could not be brought up to date") as raised:
        platform.start()
    assert str(port) in str(raised.value)
    assert "s3cret-word" not in str(raised.value)


@pytest.mark.proof
def test_a_damaged_secrets_file_is_named_by_every_command(own_folder: Path) -> None:
    (own_folder / "secrets.json").write_text("{", "utf-8")
    platform = child_platform(own_folder)
    for arguments in (("status",), ("reconcile",), ("run", "ledger"), ("up",)):
        outcome = openspot(platform, *arguments)
        assert outcome.returncode == 1
        assert "secrets.json is damaged" in outcome.stdout + outcome.stderr


def test_an_unknown_service_is_refused_with_the_known_ones(own_folder: Path) -> None:
    outcome = openspot(child_platform(own_folder), "run", "nothing")
    assert outcome.returncode == 1
    assert "rest-edge" in outcome.stderr


def test_status_without_a_platform_says_how_to_start_one(own_folder: Path) -> None:
    outcome = openspot(child_platform(own_folder), "status")
    assert outcome.returncode == 1
    assert "openspot up" in outcome.stdout
    # Secrets that it generated would never be printed.
    assert list(own_folder.iterdir()) == []
