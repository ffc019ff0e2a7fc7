"""Looks at everything, whether the platform runs or not."""

import asyncio
from collections.abc import Iterator
from typing import Any

from openspot.doctor.backups import backup_findings
from openspot.doctor.configuration import setting_findings
from openspot.doctor.findings import Finding, fine, or_fine, problem
from openspot.doctor.machine import findings_of, this_machine
from openspot.doctor.places import directory_findings, disk_findings, port_findings, secret_findings
from openspot.doctor.restarts import restart_findings
from openspot.doctor.servers import bus_findings, database_findings
from openspot.kit.settings import Settings
from openspot.up.services import PlatformSettings, enabled
from openspot.up.state import PlatformState, running_state, settings_of_running
from openspot.up.supervisor import is_ready


def machine_findings() -> Iterator[Finding]:
    """What is wrong with this machine."""
    yield from findings_of(this_machine())


def deployment_findings(given: Settings) -> Iterator[Finding]:
    """What is wrong with the deployment that these settings describe. If it runs, its own settings complete them."""
    settings: Any = settings_of_running(given)
    data_dir = settings.data_dir.resolve()
    state = running_state(given.data_dir.resolve())
    yield from setting_findings(settings)
    yield from directory_findings(data_dir)
    yield from disk_findings(data_dir, settings.disk_reserve_mib)
    if data_dir.is_dir():
        yield from secret_findings(settings)
    if state is None:
        yield fine("services", f"nothing runs for {data_dir}")
        yield from port_findings(settings)
    else:
        yield from or_fine("services", "every service is ready", _unready(state, settings))
    if data_dir.is_dir():
        yield from restart_findings(data_dir)
    # An embedded server that does not run cannot be asked.
    if settings.database_url:
        yield from database_findings(settings.database_url, settings)
    if settings.nats_url:
        yield from bus_findings(settings, is_embedded=state is not None and bool(state.bus_urls))
    if data_dir.is_dir():
        yield from backup_findings(settings)


def _unready(state: PlatformState, settings: Settings) -> Iterator[Finding]:
    services = enabled(PlatformSettings.model_validate(state.settings))

    async def ask() -> list[bool]:
        return await asyncio.gather(
            *(
                is_ready(process.listening_host(settings), process.ready_port(settings), settings.readiness_timeout_s)
                for process in services.values()
            )
        )

    for process, ready in zip(services.values(), asyncio.run(ask()), strict=True):
        if not ready:
            yield problem("services", f"the {process.title.lower()} is not ready", f"`curl http://127.0.0.1:"
                          f"{process.ready_port(settings)}/ready` and the log say why")  # fmt: skip
