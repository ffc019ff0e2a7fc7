"""Settings of the timetable of backups."""

from pydantic import Field

from openspot.kit.settings import Port, Settings, own_host


class BackupTimetableSettings(Settings):
    """The settings of the timetable of backups."""

    backup_every_s: int = Field(
        default=0,
        ge=0,
        le=31_536_000,
        description="`openspot up` makes a backup every so many seconds; 0: it makes none",
    )
    backup_timetable_host: str = own_host("timetable of backups")
    backup_timetable_port: Port = Field(default=3016, description="Timetable of backups: health and metrics")
