"""Which alerts are raised, since when, and what was told of them. Pure: times are given, in seconds since 1970."""

import msgspec

from openspot.http.operator_alerts import AlertKind, Severity
from openspot.operator_alerts.kinds import ABOUT
from openspot.operator_alerts.rules import Finding

QUIET_S = 60.0
"""An alert is over when its condition was gone for this long, so that a flapping condition is one alert."""
TOLD_MAX = 200
"""So many subjects of an alert are remembered as told. Of more, only their number is."""
MANY_MORE = 2
"""Where only the number is remembered, this many times as many are something more."""
TEXT_LENGTH_MAX = 1000

RAISED, GREW, REPEATED, OVER, TEST = "raised", "grew", "repeated", "over", "test"
"""What a message says: the alert begins, concerns something more, lasts or is over; or somebody tries the way."""


class AlertMessage(msgspec.Struct, frozen=True, rename="camel"):
    """What is told of an alert. `id` never changes, however often it is sent; times are in milliseconds since 1970."""

    id: str
    kind: AlertKind
    event: str
    severity: Severity
    title: str
    text: str
    action: str
    at: int
    since: int


class AlertState(msgspec.Struct, rename="camel"):
    """An alert's state. `since` is when its condition was first seen; it is None while there is none.

    `raised_at` is None unless it is raised. `told` are the subjects that were told of. If they were too many to be
    remembered, `told` is empty and `told_count` is their number; it is 0 otherwise.
    """

    since: float | None = None
    raised_at: float | None = None
    told_at: float = 0.0
    gone_since: float | None = None
    told: list[str] = []
    told_count: int = 0
    text: str = ""
    ended_at: float | None = None
    count: int = 0
    is_judged: bool = False


class AlertBook:
    """The states of all alerts. `states` is what is kept over a restart."""

    def __init__(self, states: dict[AlertKind, AlertState], repeat_s: float) -> None:
        """An alert that lasts is told again after `repeat_s`."""
        self.states = {kind: states.get(kind) or AlertState() for kind in AlertKind}
        self._repeat_s = repeat_s

    def take(self, found: dict[AlertKind, Finding | None], now: float) -> list[AlertMessage]:
        """What has to be told now. An alert that is not in `found` stays as it is."""
        messages = []
        for kind, finding in found.items():
            state = self.states[kind]
            state.is_judged = True
            event = self._ended(state, now) if finding is None else self._lasting(kind, state, finding, now)
            if event:
                messages.append(message_of(kind, event, state, now))
        return messages

    def _lasting(self, kind: AlertKind, state: AlertState, finding: Finding, now: float) -> str:
        state.gone_since = None
        state.text = finding.text[:TEXT_LENGTH_MAX]
        if state.raised_at is None:
            state.since = now if state.since is None else state.since
            if now - state.since < ABOUT[kind].lasts_s:
                return ""
            state.raised_at, state.count = now, state.count + 1
            event = RAISED
        elif _has_grown(state, finding.subjects):
            event = GREW
        elif now - state.told_at >= self._repeat_s:
            event = REPEATED
        else:
            return ""
        state.told_at = now
        _note_told(state, finding.subjects)
        return event

    def _ended(self, state: AlertState, now: float) -> str:
        if state.raised_at is None:
            state.since = None
            return ""
        if state.gone_since is None:
            state.gone_since = now
        if now - state.gone_since < QUIET_S:
            return ""
        return OVER


def _has_grown(state: AlertState, subjects: frozenset[str]) -> bool:
    if state.told_count:
        return len(subjects) >= MANY_MORE * state.told_count
    return not subjects.issubset(state.told)


def _note_told(state: AlertState, subjects: frozenset[str]) -> None:
    told = subjects.union(state.told)
    if len(told) > TOLD_MAX:
        # Those that are there now are told; of the others it is forgotten.
        told = subjects
    state.told_count = len(told) if len(told) > TOLD_MAX else 0
    state.told = [] if state.told_count else sorted(told)


def message_of(kind: AlertKind, event: str, state: AlertState, now: float) -> AlertMessage:
    """The message about a state. One that tells of the end ends the alert."""
    about = ABOUT[kind]
    raised_at = state.raised_at if state.raised_at is not None else now
    message = AlertMessage(
        # One event of an alert at one moment is one message, also if it is made again after a kill.
        id=f"{kind}-{event}-{round(raised_at * 1000)}-{round(now * 1000)}",
        kind=kind,
        event=event,
        severity=about.severity,
        title=about.title,
        text=state.text,
        action=about.action,
        at=round(now * 1000),
        since=round((state.since if state.since is not None else raised_at) * 1000),
    )
    if event == OVER:
        state.ended_at, state.raised_at, state.since, state.gone_since = now, None, None, None
        state.told, state.told_count = [], 0
    return message
