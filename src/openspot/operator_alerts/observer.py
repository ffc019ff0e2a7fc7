"""Looks at the platform from outside: what services say of themselves, the disk, the ends of processes, the markets.

Everything is asked over HTTP or read from the data directory. So it works while the bus or the database is away.
"""

import asyncio
import json
import time
from collections.abc import Mapping
from pathlib import Path

import aiohttp
import msgspec
from prometheus_client.parser import text_string_to_metric_families

from openspot.kit.backup_outcome import backup_outcome
from openspot.kit.comparison_outcome import comparison_outcome
from openspot.kit.disk import MEBIBYTE, space_of
from openspot.kit.log import get_logger
from openspot.kit.process_ends import read_ends
from openspot.operator_alerts.rules import METRICS, Observation, Sample, WatchedService

log = get_logger("alerts")

BODY_BYTES_MAX = 4_000_000
REASON_LENGTH_MAX = 200


class _Market(msgspec.Struct, rename="camel"):
    """`phase_cause` is why the exchange itself began a phase: none but a volatility interruption does."""

    symbol: str
    phase_cause: str | None = None


class Observer:
    """Asks the services of `watched`, by title, and the REST edge at `rest_url` for the markets."""

    def __init__(
        self,
        client: aiohttp.ClientSession,
        watched: Mapping[str, str],
        rest_url: str,
        data_dir: Path,
        reserve_mib: int,
        timeout_s: float,
    ) -> None:
        """A service counts as silent after `timeout_s`."""
        self._client = client
        self._watched = watched
        self._markets_url = f"{rest_url}/api/v1/markets"
        self._data_dir = data_dir
        self._reserve = reserve_mib * MEBIBYTE
        self._timeout_s = timeout_s

    async def observe(self) -> Observation:
        """The platform as it is now. What does not respond is left out; nothing is raised."""
        services, interrupted = await asyncio.gather(self._services(), self._interrupted())
        try:
            disk = space_of(self._data_dir, self._reserve)
        except OSError as error:
            log.warning("the disk of the data directory cannot be looked at", error=str(error))
            disk = None
        return Observation(
            time.time(),
            services,
            disk,
            tuple(read_ends(self._data_dir)),
            interrupted,
            comparison_outcome(self._data_dir),
            backup_outcome(self._data_dir),
        )

    async def _services(self) -> tuple[WatchedService, ...]:
        found = await asyncio.gather(*(self._service(title, url) for title, url in self._watched.items()))
        return tuple(found)

    async def _service(self, title: str, url: str) -> WatchedService:
        try:
            async with asyncio.timeout(self._timeout_s):
                readiness, metrics = await asyncio.gather(self._get(f"{url}/ready"), self._get(f"{url}/metrics"))
            names, samples = samples_of(metrics.decode())
            return WatchedService(title, reason_of(readiness), names, samples)
        except TimeoutError:
            return WatchedService(title, f"no response within {self._timeout_s:g} s")
        except (aiohttp.ClientError, OSError, ValueError) as error:
            return WatchedService(title, f"no readable response ({type(error).__name__})")

    async def _interrupted(self) -> frozenset[str] | None:
        try:
            async with asyncio.timeout(self._timeout_s):
                markets = msgspec.json.decode(await self._get(self._markets_url), type=list[_Market])
        except (TimeoutError, aiohttp.ClientError, OSError, ValueError, msgspec.MsgspecError):
            return None
        return frozenset(each.symbol for each in markets if each.phase_cause is not None)

    async def _get(self, url: str) -> bytes:
        async with self._client.get(url, allow_redirects=False) as response:
            body = bytearray()
            async for chunk in response.content.iter_any():
                body += chunk
                if len(body) > BODY_BYTES_MAX:
                    raise ValueError(f"the body has more than {BODY_BYTES_MAX} bytes")
            return bytes(body)


def reason_of(body: bytes) -> str:
    """Why a service is not ready, from the body of /ready; empty if it is. Raises ValueError for any other body."""
    content = json.loads(body)
    details = content.get("details") if isinstance(content, dict) else None
    if not isinstance(details, dict):
        raise ValueError("the readiness has no details")
    reasons = [
        f"{name} {result.get('message') or 'no reason given'}"
        for name, result in details.items()
        if isinstance(result, dict) and result.get("status") == "down"
    ]
    return ", ".join(reasons)[:REASON_LENGTH_MAX]


def samples_of(text: str) -> tuple[frozenset[str], tuple[Sample, ...]]:
    """The names of METRICS that a service has, and their values. Raises ValueError if they cannot be read."""
    # Most lines are of no interest, and reading them all takes ten times as long.
    stems = tuple(name.removesuffix("_total") for name in METRICS)
    lines = [
        line for line in text.splitlines() if line.removeprefix("# HELP ").removeprefix("# TYPE ").startswith(stems)
    ]
    names, samples = set(), []
    for family in text_string_to_metric_families("\n".join(lines) + "\n"):
        for name in (family.name, f"{family.name}_total"):
            if name in METRICS:
                names.add(name)
        samples += [
            Sample(sample.name, sample.labels, sample.value) for sample in family.samples if sample.name in METRICS
        ]
    return frozenset(names), tuple(samples)
