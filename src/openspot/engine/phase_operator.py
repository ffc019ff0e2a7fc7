"""The commands `openspot market …`: they ask the running engine for the phases of its markets, and set them."""

from datetime import timedelta
from typing import Any
from urllib.parse import quote

import aiohttp

from openspot.domain.market_phase import PHASE_OF_TEXT, SETTABLE_PHASES
from openspot.engine.settings import EngineSettings
from openspot.engine_client.errors import EngineError
from openspot.engine_client.operator_headers import OPERATOR_HEADER
from openspot.engine_client.queries import EngineQueries
from openspot.kit.clock import datetime_from_ms, iso_of

TIMEOUT_S = 10.0


class PhaseOperatorError(Exception):
    """A command could not be carried out; nothing was changed. The message says why."""


async def set_phase(settings: EngineSettings, symbol: str, phase: str, lasts: timedelta, reason: str, who: str) -> str:
    """Let a market enter a phase, for a time, or until the next change if it is 0. Returns a line to print.

    `who` is the operator's name in the trail.
    """
    if PHASE_OF_TEXT.get(phase) not in SETTABLE_PHASES:
        raise PhaseOperatorError(f"PHASE must be one of {', '.join(known.text for known in sorted(SETTABLE_PHASES))}")
    url = f"{settings.engine_url}/api/v1/admin/symbols/{quote(symbol, safe='')}/phase"
    body = {"phase": phase, "seconds": int(lasts.total_seconds()), "reason": reason}
    timeout = aiohttp.ClientTimeout(total=TIMEOUT_S)
    headers = {**settings.service_headers, OPERATOR_HEADER: who}
    try:
        async with (
            aiohttp.ClientSession(headers=headers, timeout=timeout) as session,
            session.put(url, json=body) as response,
        ):
            answer = await response.json(content_type=None)
            status = response.status
    except (aiohttp.ClientError, TimeoutError, ValueError) as error:
        raise PhaseOperatorError(f"no engine at {settings.engine_url}: {error!r}") from error
    if status != 200:
        raise PhaseOperatorError(_reason(answer))
    return _line(symbol, answer.get("phase", "continuous"), answer.get("phaseEndsAt", 0), "")


async def listed_phases(settings: EngineSettings) -> list[str]:
    """A line for each market, with its phase."""
    queries = EngineQueries(settings)
    try:
        markets = await queries.markets()
    except EngineError as error:
        raise PhaseOperatorError(str(error)) from error
    finally:
        await queries.close()
    return [_line(market.symbol, market.phase, market.phase_ends_at, market.phase_cause) for market in markets]


def _line(symbol: str, phase: str, ends_at: int, cause: str) -> str:
    told = f"{symbol} is {phase}" + (f" ({cause})" if cause else "")
    return told + (f" until {iso_of(datetime_from_ms(ends_at))}" if ends_at else "")


def _reason(answer: Any) -> str:
    if not isinstance(answer, dict):
        return "the engine refused"
    details = answer.get("details")
    return str(answer.get("message")) + (f": {details}" if details else "")
