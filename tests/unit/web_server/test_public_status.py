"""What anybody may know of the exchange's state: functions, not services, and no reason that helps an attacker."""

import asyncio
import json
import time

from openspot.up.services import SERVICES
from openspot.web_server.health_report import Check, ServiceHealth
from openspot.web_server.public_status import FUNCTIONS, PublicStatus
from tests.support.waiting import eventually

READY = {title: ServiceHealth(title, "READY", [Check("bus", "")]) for titles in FUNCTIONS.values() for title in titles}


class Services:
    """Services whose states a test chooses."""

    def __init__(self) -> None:
        self.states = dict(READY)
        self.asked = 0

    async def __call__(self) -> list[ServiceHealth]:
        self.asked += 1
        return list(self.states.values())


async def functions(status: PublicStatus) -> dict[str, tuple[str, int]]:
    """State and its beginning by function."""
    return {one["name"]: (one["state"], one["since"]) for one in json.loads(await status.report())["functions"]}


async def test_a_function_is_as_well_as_the_worst_service_that_it_needs() -> None:
    services = Services()
    status = PublicStatus(services)
    assert {state for state, _ in (await functions(status)).values()} == {"works"}
    services.states["Ledger"] = ServiceHealth("Ledger", "READY", [Check("transfers", "stuck"), Check("bus", "")])
    services.states["Order router"] = ServiceHealth("Order router", "NOT_READY", [Check("engine", "gone")])
    services.states["Market data"] = ServiceHealth("Market data", "SILENT", [Check("response", "none")])
    states = {name: state for name, (state, _) in (await functions(status)).items()}
    assert (states["funds"], states["trading"], states["prices"]) == ("degraded", "down", "down")
    assert {states[name] for name in ("live", "account", "positions", "margin", "subscriptions")} == {"works"}


async def test_a_state_keeps_its_beginning_until_it_changes() -> None:
    services = Services()
    status = PublicStatus(services)
    before = await functions(status)
    services.states["Market data"] = ServiceHealth("Market data", "SILENT")
    during = await functions(status)
    assert during["prices"][1] >= before["prices"][1]
    assert await functions(status) == during
    assert during["trading"] == before["trading"]


async def test_states_are_looked_at_before_anybody_asks() -> None:
    services = Services()
    status = PublicStatus(services)
    watching = asyncio.create_task(status.watch())
    await eventually(lambda: services.asked > 0)
    seen = time.time_ns() // 1_000_000
    assert {since <= seen for _, since in (await functions(status)).values()} == {True}
    watching.cancel()


async def test_nothing_tells_what_runs_behind_the_functions() -> None:
    services = Services()
    services.states["Ledger"] = ServiceHealth(
        "Ledger", "SILENT", [Check("response", "no response from http://10.0.0.7")]
    )
    text = (await PublicStatus(services).report()).decode()
    assert "10.0.0.7" not in text
    assert "Ledger" not in text


async def test_a_function_that_this_exchange_does_not_have_is_left_out() -> None:
    services = Services()
    del services.states["Margin risk service"]
    assert "margin" not in await functions(PublicStatus(services))


def test_every_service_that_a_function_needs_exists() -> None:
    titles = {process.title for process in SERVICES.values()}
    assert {title for needed in FUNCTIONS.values() for title in needed} <= titles
