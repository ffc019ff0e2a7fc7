"""The composition root of the timetable."""

import asyncio
from functools import partial

from openspot.http.server import serve_health
from openspot.kit.log import get_logger
from openspot.kit.service import StatedFaultError
from openspot.kit.service_frame import ServiceFrame
from openspot.kit.settings import environment_of
from openspot.timetable.program import run_once
from openspot.timetable.settings import TimetableSettings
from openspot.timetable.timetable import Timetable
from openspot.timetable.works import BACKUP, COMPARISON

log = get_logger("timetable")


async def run(settings: TimetableSettings, stop: asyncio.Event) -> None:
    """Back up and compare until `stop` is set. Raises StatedFaultError if neither is asked for, PortTakenError."""
    planned = [
        (work, plan)
        for work, plan in ((BACKUP, settings.backup_plan), (COMPARISON, settings.reconcile_plan))
        if plan.every_s
    ]
    if not planned:
        raise StatedFaultError(
            "neither OPENSPOT_BACKUP_EVERY_S nor OPENSPOT_RECONCILE_EVERY_S is set: say after how many seconds one is "
            "due"
        )
    turn = asyncio.Lock()
    async with ServiceFrame("timetable", settings, stop) as frame:
        tables = {}
        for work, plan in planned:
            attempt = partial(run_once, work.command, variables=environment_of(settings))
            tables[work.name] = Timetable(settings.data_dir, work, plan, attempt, turn)
            frame.health.add(work.name, tables[work.name].check)
        await serve_health(frame, settings.timetable_port, "OpenSpot timetable", settings.timetable_host)
        log.info("listening", port=settings.timetable_port, every_s={work.name: plan.every_s for work, plan in planned})
        for name, table in tables.items():
            frame.start(name, table.run(stop), finishes=True)
        await frame.until_stopped()
