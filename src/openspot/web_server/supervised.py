"""What the console shows of the processes that `openspot up` runs: their state, how they ended, and the log.

The supervisor is asked over the control socket in the data directory, and hides secrets before it replies. So this
works while bus, database and REST edge are away. Nothing here changes anything: a restart goes through the REST edge,
which writes the operators' trail.
"""

from http import HTTPStatus
from pathlib import Path

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from openspot.kit.process_ends import read_ends
from openspot.kit.supervision import (
    Action,
    ControlError,
    LogPage,
    SupervisedProcess,
    SupervisorSilentError,
    ask,
)
from openspot.kit.supervision import Request as Asked
from openspot.web_server.custody_gateway import refusal

ENDS_SHOWN_MAX = 20
LINES_MAX = 500
NAME_LENGTH_MAX = 100
UNSUPERVISED = (
    "no `openspot up` runs here: the processes were started one by one, so their log is where they write it, and "
    "whoever started them restarts them"
)


class Processes(msgspec.Struct, frozen=True):
    """Every process, or why none is known: `reason` is empty if they are."""

    processes: list[SupervisedProcess] = []
    reason: str = ""


class ShownEnd(msgspec.Struct, frozen=True, rename="camel"):
    """How a process ended, `at_ms` in milliseconds since 1970, and the last lines that it wrote."""

    process: str
    title: str
    at_ms: int
    cause: str
    is_asked: bool
    lines: list[str]


class Supervised:
    """Asks the supervisor of a data directory."""

    def __init__(self, data_dir: Path) -> None:
        self._data_dir = data_dir

    async def processes(self) -> Response:
        """Every process. Without a supervisor there is none, and a reason."""
        try:
            found = Processes((await ask(self._data_dir, Asked(Action.PROCESSES))).processes)
        except SupervisorSilentError:
            found = Processes(reason=UNSUPERVISED)
        except ControlError as error:
            found = Processes(reason=str(error))
        return _json(found)

    def ends(self) -> Response:
        """The newest ends, newest first, with their last lines."""
        newest = list(reversed(read_ends(self._data_dir)))[:ENDS_SHOWN_MAX]
        return _json(
            [ShownEnd(end.process, end.title, end.at_ms, end.cause, end.is_asked, end.lines) for end in newest]
        )

    async def logs(self, request: Request) -> Response:
        """Lines of the log: of `process`, of at least `level`, after the cursor `after`, at most `limit`."""
        asked = request.query_params
        limit = asked.get("limit", "200")
        if not limit.isascii() or not limit.isdigit() or not 1 <= int(limit[:6]) <= LINES_MAX:
            return refusal(HTTPStatus.BAD_REQUEST, f"limit must be a number from 1 to {LINES_MAX}")
        texts = {name: asked.get(name, "") for name in ("process", "level", "after")}
        for name, text in texts.items():
            if len(text) > NAME_LENGTH_MAX:
                return refusal(HTTPStatus.BAD_REQUEST, f"{name} has more than {NAME_LENGTH_MAX} characters")
        wanted = Asked(Action.LOGS, texts["process"], level=texts["level"], after=texts["after"], limit=int(limit))
        try:
            page = (await ask(self._data_dir, wanted)).logs or LogPage()
        except SupervisorSilentError:
            return refusal(HTTPStatus.SERVICE_UNAVAILABLE, UNSUPERVISED)
        except ControlError as error:
            return refusal(HTTPStatus.BAD_REQUEST, str(error))
        return _json(page)


def _json(content: object) -> Response:
    return Response(msgspec.json.encode(content), media_type="application/json")
