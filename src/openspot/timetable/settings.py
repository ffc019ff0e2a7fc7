"""Settings of the timetable."""

from pydantic import Field

from openspot.kit.intervals import IntervalSettings
from openspot.kit.settings import Port, own_host


class TimetableSettings(IntervalSettings):
    """The settings of the timetable."""

    timetable_host: str = own_host("timetable")
    timetable_port: Port = Field(default=3016, description="Timetable: health and metrics")
