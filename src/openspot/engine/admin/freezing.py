"""Which participants an operator of the exchange may freeze, and what state one is in. Pure."""

from openspot.domain.accounts import MARGIN_PREFIX
from openspot.domain.ids import HOUSE_PREFIX
from openspot.engine.admin.authority import ADMINISTRATORS
from openspot.engine.state.participants import ParticipantProfile
from openspot.engine_client.participant_schemas import ACTIVE, FROZEN, INACTIVE


def freeze_fault(participant_id: str, profile: ParticipantProfile) -> str:
    """Why an operator may not freeze this participant; empty if nothing is against it.

    An administrator of the engine could otherwise be shut out of it, and a margin account could not be liquidated.
    """
    if participant_id.startswith(HOUSE_PREFIX):
        return "is an account of the house"
    if participant_id.startswith(MARGIN_PREFIX):
        return "is a margin account, and its liquidation needs orders: freeze its user"
    if profile.type in ADMINISTRATORS:
        return f"is of type {profile.type}, which administers the engine"
    return ""


def state_of(profile: ParticipantProfile) -> str:
    """Whether a participant may place orders, and if not, who can end that."""
    if profile.active:
        return ACTIVE
    return FROZEN if profile.frozen else INACTIVE
