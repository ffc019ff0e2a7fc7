"""`openspot logs`: the platform's log in a terminal.

It reads the file itself, so it also shows why a platform has ended.
"""

import time
from collections.abc import Iterator
from typing import Any

from openspot.up.log_lines import LEVELS, LINES_MAX, LOG_NAME, NATS, POSTGRES, read_page
from openspot.up.one_process import process_name
from openspot.up.redaction import Redactor, passwords_in, secrets_of
from openspot.up.services import SERVICES, SHARING
from openspot.up.state import running_state

FOLLOW_INTERVAL_S = 0.5


class LogCommandError(Exception):
    """The log cannot be shown; the message says why."""


def log_lines(settings: Any, service: str, level: str, count: int, *, follows: bool) -> Iterator[str]:
    """The newest lines as texts, and if `follows` what comes after them, without end. Raises LogCommandError."""
    others = ("up", NATS, POSTGRES)
    if service and service not in (*SERVICES, *others):
        raise LogCommandError(f"there is no service {service}; there are: {', '.join((*SERVICES, *others))}")
    if level and level not in LEVELS:
        raise LogCommandError(f"--level: one of {', '.join(LEVELS)}")
    state = running_state(settings.data_dir.resolve())
    path = (state.data_dir if state else settings.data_dir) / LOG_NAME
    redactor = Redactor(secrets_of(settings) | passwords_in(state.bus_urls.values() if state else ()))
    names = {service} if service else set()
    if service in SHARING:
        # Lines of a shared process before each service has its own name.
        names.add(process_name(SHARING))
    after, limit = "", count
    while True:
        try:
            page = read_page(path, redactor, services=names, level=level, after=after, limit=limit)
        except OSError as error:
            raise LogCommandError(f"the log {path} cannot be read: {error.strerror}") from error
        for line in page.lines:
            yield " ".join(part for part in (line.at, f"{line.level:7}", line.service, line.text) if part)
        is_behind = bool(after) and len(page.lines) == limit
        after, limit = page.cursor, LINES_MAX
        if not follows:
            return
        if not is_behind:
            time.sleep(FOLLOW_INTERVAL_S)
