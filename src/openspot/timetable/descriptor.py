"""The timetable describes itself."""

from openspot.kit.description import Descriptor, Listener, Process
from openspot.timetable.settings import TimetableSettings

DESCRIPTOR = Descriptor(
    name="timetable",
    title="Timetable",
    settings=TimetableSettings,
    processes=(
        Process(
            name="timetable",
            title="Timetable",
            module="openspot.timetable.service",
            host="timetable_host",
            listeners=(Listener("timetable_port", "health and metrics"),),
            enabled_by=("backup_every_s", "reconcile_every_s"),
        ),
    ),
)
