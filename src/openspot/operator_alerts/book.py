"""Which alerts are raised, since when, and what was told of them. Pure: times are given, in seconds since 1970."""

import msgspec

from openspot.http.operator_alerts import AlertKind, Severity
from openspot.operator_alerts.kinds import ABOUT
from openspot.operator_alerts.rules import NAMED_MAX, Finding

QUIET_S = 60.0
"""An alert is over when its condition was gone for this long, so that a flapping condition is one alert."""
TOLD_MAX = 200
"""So many subjects of an alert are remembered as told. Of more, only their number is."""
MANY_MORE = 2
"""Where only the number is remembered, this many times as many are something more."""
ALONE_MAX = 3
"""So many growths of an alert, and so many of its ends, are told by themselves within ALONE_WINDOW_S."""
ALONE_WINDOW_S = 3600.0
GATHER_S = 600.0
"""Further growth is gathered for this long since the alert was last told. A further end is told when the condition was
gone for this long, so that what comes and goes is one alert."""
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
    remembered, `told` is empty and `told_count` is their number; it is 0 otherwise. `waiting` are subjects that are
    gathered and not told yet, at most TOLD_MAX. `grew` and `ended` are when growths and ends were told, within
    ALONE_WINDOW_S.
    """

    since: float | None = None
    raised_at: float | None = None
    told_at: float = 0.0
    gone_since: float | None = None
    told: list[str] = []
    told_count: int = 0
    waiting: list[str] = []
    grew: list[float] = []
    ended: list[float] = []
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
            event, text = self._ended(state, now) if finding is None else self._lasting(kind, state, finding, now)
            if event:
                messages.append(message_of(kind, event, state, now, text))
        return messages

    def _lasting(self, kind: AlertKind, state: AlertState, finding: Finding, now: float) -> tuple[str, str]:
        """The event that has to be told and its text; no event if nothing has."""
        state.gone_since = None
        state.text = text = finding.text[:TEXT_LENGTH_MAX]
        if state.raised_at is None:
            state.since = now if state.since is None else state.since
            if now - state.since < ABOUT[kind].lasts_s:
                return "", ""
            state.raised_at, state.count = now, state.count + 1
            event = RAISED
        elif self._has_grown(state, finding.subjects, now):
            event, text = GREW, _growth_text(state, finding)
            state.grew.append(now)
        elif now - state.told_at >= self._repeat_s:
            event = REPEATED
        else:
            return "", ""
        state.told_at = now
        _note_told(state, finding.subjects)
        return event, text

    def _has_grown(self, state: AlertState, subjects: frozenset[str], now: float) -> bool:
        """Whether growth has to be told now. What is not is gathered, also if it is gone before it is told."""
        if state.told_count:
            return len(subjects) >= MANY_MORE * state.told_count
        new = sorted(subjects.difference(state.told, state.waiting))
        state.waiting += new[: TOLD_MAX - len(state.waiting)]
        state.grew = _recent(state.grew, now)
        is_due = len(state.grew) < ALONE_MAX or now - state.told_at >= min(GATHER_S, self._repeat_s)
        return bool(state.waiting) and is_due

    def _ended(self, state: AlertState, now: float) -> tuple[str, str]:
        """As `_lasting`, where the condition is not there."""
        if state.raised_at is None:
            state.since = None
            return "", ""
        if state.gone_since is None:
            state.gone_since = now
        state.ended = _recent(state.ended, now)
        if now - state.gone_since < (QUIET_S if len(state.ended) < ALONE_MAX else GATHER_S):
            return "", ""
        state.ended.append(now)
        count = state.told_count or len({*state.told, *state.waiting})
        return OVER, f"it concerned {count} in all; at last: {state.text}" if count > 1 else state.text


def _recent(times: list[float], now: float) -> list[float]:
    return [each for each in times if each > now - ALONE_WINDOW_S]


def _growth_text(state: AlertState, finding: Finding) -> str:
    """What is told of growth: how much more it is and the first of it, where the finding might not name it."""
    if state.told_count or (len(state.waiting) == 1 and len(finding.subjects) <= NAMED_MAX):
        return finding.text
    names = ", ".join(state.waiting[:NAMED_MAX])
    rest = len(state.waiting) - NAMED_MAX
    more = f"at least {TOLD_MAX}" if len(state.waiting) == TOLD_MAX else str(len(state.waiting))
    others = f" and {rest} others" if rest > 0 else ""
    return f"{more} more: {names}{others}. In all {len(finding.subjects)} now: {finding.text}"


def _note_told(state: AlertState, subjects: frozenset[str]) -> None:
    told = subjects.union(state.told, state.waiting)
    state.waiting = []
    if len(told) > TOLD_MAX:
        # Those that are there now are told; of the others it is forgotten.
        told = subjects
    state.told_count = len(told) if len(told) > TOLD_MAX else 0
    state.told = [] if state.told_count else sorted(told)


def message_of(kind: AlertKind, event: str, state: AlertState, now: float, text: str) -> AlertMessage:
    """The message about a state, with what is told of it. One that tells of the end ends the alert."""
    about = ABOUT[kind]
    raised_at = state.raised_at if state.raised_at is not None else now
    message = AlertMessage(
        # One event of an alert at one moment is one message, also if it is made again after a kill.
        id=f"{kind}-{event}-{round(raised_at * 1000)}-{round(now * 1000)}",
        kind=kind,
        event=event,
        severity=about.severity,
        title=about.title,
        text=text[:TEXT_LENGTH_MAX],
        action=about.action,
        at=round(now * 1000),
        since=round((state.since if state.since is not None else raised_at) * 1000),
    )
    if event == OVER:
        state.ended_at, state.raised_at, state.since, state.gone_since = now, None, None, None
        state.told, state.told_count, state.waiting = [], 0, []
    return message
