"""What administrators did at the engine, as its journal keeps it and as the operators' trail takes it over.

The note of an action stands in the journal directly behind the commands that carry it out, in the same commit
(docs/adr/0102-the-journal-notes-who-acted.md). Times are milliseconds since 1970.
"""

from collections.abc import Mapping
from typing import Annotated

import msgspec

from openspot.contracts.messages.message import Count, Message

NO_REASON = "no reason given"
"""The reason of an action whose operator gave none."""
SERVICE = "service"
"""The operator of a call by a service that named nobody."""


class EngineAction(Message, frozen=True, kw_only=True):
    """An action of an operator: who did what to what, why, and what changed; texts of what there is not are None.

    `request_id` is the request's, empty if it has none. `origin` stands for the address that the operator called from,
    which the engine keeps beside its journal, because an address must be erasable.
    """

    operator: str
    action: str
    subject_kind: str
    subject_id: str
    reason: str
    before: Mapping[str, str | None] = msgspec.field(default_factory=dict)
    after: Mapping[str, str | None] = msgspec.field(default_factory=dict)
    request_id: str = ""
    origin: str = ""


class JournalledAction(Message, frozen=True, kw_only=True):
    """An action at its place in the journal.

    `address` is empty if the engine does not know it any more. `is_certain` is false if nobody can tell any more
    whether the core refused the commands of the action.
    """

    sequence: Count
    at: Count
    action: EngineAction
    address: str
    is_certain: bool


class EngineActions(Message, frozen=True, kw_only=True):
    """Actions of one journal, oldest first, up to the command `through`. There is none between those that are given."""

    epoch: str
    through: Count
    actions: Annotated[list[JournalledAction], msgspec.Meta(description="What was carried out; not what was refused")]
