"""The composition root of the timetable of backups."""

import asyncio
from functools import partial

from openspot.backup_timetable.settings import BackupTimetableSettings
from openspot.backup_timetable.timetable import Timetable, back_up_once
from openspot.http.server import serve_health
from openspot.kit.log import get_logger
from openspot.kit.service import StatedFaultError
from openspot.kit.service_frame import ServiceFrame
from openspot.kit.settings import environment_of

log = get_logger("backup-timetable")


async def run(settings: BackupTimetableSettings, stop: asyncio.Event) -> None:
    """Make backups until `stop` is set. Raises StatedFaultError without an interval, PortTakenError."""
    if not settings.backup_every_s:
        raise StatedFaultError("OPENSPOT_BACKUP_EVERY_S is not set: say after how many seconds a backup is due")
    timetable = Timetable(
        settings.data_dir, settings.backup_every_s, partial(back_up_once, variables=environment_of(settings))
    )
    async with ServiceFrame("backup-timetable", settings, stop) as frame:
        frame.health.add("backup", timetable.check)
        await serve_health(frame, settings.backup_timetable_port, "OpenSpot backup timetable",
                           settings.backup_timetable_host)  # fmt: skip
        log.info("listening", port=settings.backup_timetable_port, every_s=settings.backup_every_s)
        frame.start("timetable", timetable.run(stop), finishes=True)
        await frame.until_stopped()
