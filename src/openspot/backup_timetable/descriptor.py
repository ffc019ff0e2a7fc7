"""The timetable of backups describes itself."""

from openspot.backup_timetable.settings import BackupTimetableSettings
from openspot.kit.description import Descriptor, Listener, Process

DESCRIPTOR = Descriptor(
    name="backup-timetable",
    title="Backup timetable",
    settings=BackupTimetableSettings,
    processes=(
        Process(
            name="backup-timetable",
            title="Backup timetable",
            module="openspot.backup_timetable.service",
            host="backup_timetable_host",
            listeners=(Listener("backup_timetable_port", "health and metrics"),),
            enabled_by=("backup_every_s",),
        ),
    ),
)
