"""`openspot up` with the venue adapter, and the guide's lines, pasted as they stand into a shell."""

import asyncio
import contextlib
import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from openspot.kit.settings import variable
from openspot.up.services import PlatformSettings
from openspot.venue_simulator.generator import Generator
from openspot.venue_simulator.server import Simulator
from tests.support.platforms import child_platform
from tests.support.ports import free_port, free_ports
from tests.support.venue import playing, running_simulator
from tests.support.waiting import eventually, stretched

pytestmark = pytest.mark.proof

ROOT = Path(__file__).resolve().parents[2]
PASTE_S_MAX = stretched(240)


async def test_the_guide(own_folder: Path) -> None:
    blocks = re.findall(r"```bash\n(.*?)```", (ROOT / "docs/guides/venue-adapter.md").read_text("utf-8"), re.DOTALL)
    assert len(blocks) == 3
    ports = {name: free_port() for name in (*free_ports(), "nats_port")}
    simulator_port = free_port()
    script = "".join(blocks).replace(":3010", f":{ports['venue_port']}").replace(":3013", f":{simulator_port}")
    script = script.replace("openspot venue-simulator", f"openspot venue-simulator --port {simulator_port}")
    environment = {name: value for name, value in os.environ.items() if name not in ("DATABASE_URL", "NATS_URL")}
    environment |= {variable(name, PlatformSettings): str(port) for name, port in ports.items()}
    environment |= {
        "OPENSPOT_DATA_DIR": str(own_folder / "data"),
        "PATH": f"{ROOT / '.venv/bin'}:{os.environ['PATH']}",
    }
    # Into a file: background jobs of the script would keep a pipe open after its end.
    output = own_folder / "script.out"
    with output.open("wb") as file:
        process = await asyncio.create_subprocess_exec(
            "bash", "-euo", "pipefail", "-c", script,
            cwd=own_folder, stdout=file, stderr=file, env=environment, start_new_session=True,
        )  # fmt: skip
    try:
        async with asyncio.timeout(PASTE_S_MAX):
            code = await process.wait()
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGTERM)
    printed = output.read_text("utf-8")
    assert code == 0, printed + (own_folder / "platform.log").read_text("utf-8")
    assert re.search(r'openspot_venue_ticks_total\{kind="bookTicker"\} [1-9]', printed)
    assert re.search(r"^venue +process \d+, ready$", printed, re.MULTILINE)
    assert (
        len(re.findall(r"VenueBookTicker\(venue='binance', symbol='[A-Z]+-[A-Z]+', bid_price='\d+\.\d{8}'", printed))
        == 3
    )


def status(data_dir: Path) -> tuple[int, bool]:
    """The exit code of `openspot status`, and whether it says that the venue adapter is ready."""
    outcome = subprocess.run(
        [sys.executable, "-m", "openspot.cli", "status", "--json"],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"OPENSPOT_DATA_DIR": str(data_dir)},
    )
    return outcome.returncode, json.loads(outcome.stdout)["processes"]["venue"]["ready"]


async def test_a_platform_starts_without_its_venue_and_follows_it_once_it_is_there(own_folder: Path) -> None:
    source, port = Generator(seed=1), free_port()
    config = Simulator(source, port=port).adapter_config
    platform = child_platform(
        own_folder,
        {"OPENSPOT_VENUE": "binance", "OPENSPOT_VENUE_CONFIG": config, "OPENSPOT_VENUE_RECONNECT_S_MAX": "0.5"},
    )
    try:
        await asyncio.to_thread(platform.start)
        assert await asyncio.to_thread(status, own_folder) == (1, False)
        async with running_simulator(source, port=port) as venue, playing(venue):

            async def is_ready() -> bool:
                return await asyncio.to_thread(status, own_folder) == (0, True)

            await eventually(is_ready, 90, 0.2)
    finally:
        assert await asyncio.to_thread(platform.stop) == 0


@pytest.mark.parametrize(
    ("setting", "reason"),
    [
        ({"OPENSPOT_VENUE": ""}, "OPENSPOT_VENUE is not set"),
        ({"OPENSPOT_VENUE": "binance", "OPENSPOT_VENUE_CONFIG": "["}, "OPENSPOT_VENUE_CONFIG is not JSON"),
    ],
)
def test_the_service_alone_ends_at_once_with_the_reason_if_a_setting_is_wrong(
    own_folder: Path, setting: dict[str, str], reason: str
) -> None:
    outcome = subprocess.run(
        [sys.executable, "-m", "openspot.cli", "run", "venue"],
        capture_output=True,
        text=True,
        check=False,
        timeout=stretched(400),
        env=os.environ | {"OPENSPOT_DATA_DIR": str(own_folder)} | setting,
    )
    assert outcome.returncode == 1
    assert reason in outcome.stdout + outcome.stderr
