"""Who sees whose data: participants see their own, administrators all.

What belongs to somebody else is refused like what does not exist.
"""

from openspot.http.context import Identity
from openspot.http.errors import HttpError, validation_error
from openspot.http.policy import Access


def is_admin(identity: Identity) -> bool:
    """Whether the caller is an administrator."""
    return bool(identity.access & Access.ADMIN)


def visible(identity: Identity, wanted: str | None = None) -> str | None:
    """The participant that a list is limited to; None means all.

    `wanted` is the participant that the caller asks for. Raises HttpError (404) if it is not the caller's to see.
    """
    if is_admin(identity):
        return wanted
    return require_visible(identity, wanted if wanted is not None else identity.subject)


def require_visible(identity: Identity, participant_id: str) -> str:
    """Return `participant_id`. Raises HttpError (404) unless the caller may see that participant's data."""
    if participant_id != identity.subject and not is_admin(identity):
        raise participant_not_found(participant_id)
    return participant_id


def participant_not_found(participant_id: str) -> HttpError:
    """The refusal of a participant that does not exist, or is not the caller's to see."""
    return HttpError(404, f"participant {participant_id} not found", "PARTICIPANT_NOT_FOUND")


def require_asset(asset: str, known: frozenset[str]) -> str:
    """Return `asset`. Raises HttpError (400) if the platform does not have it."""
    if asset not in known:
        raise validation_error([f"asset {asset} is not an asset of this platform"])
    return asset
