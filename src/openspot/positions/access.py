"""Who sees which data: participants see their own, administrators see all.

Data of others is refused in the same way as data that does not exist.
"""

from collections.abc import Container

from openspot.http.context import Identity
from openspot.http.errors import HttpError, validation_error
from openspot.http.policy import Access


def is_admin(identity: Identity) -> bool:
    """Whether the caller is an administrator."""
    return bool(identity.access & Access.ADMIN)


def visible(identity: Identity, wanted: str | None = None) -> str | None:
    """The only participant that a list may show; None means all.

    `wanted` is the participant that the caller asks for. Raises HttpError (404) if the caller may not see it.
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
    """The refusal for a participant that does not exist, or that the caller may not see."""
    return HttpError(404, f"participant {participant_id} not found", "PARTICIPANT_NOT_FOUND")


def require_asset(asset: str, known: Container[str]) -> str:
    """Return `asset`. Raises HttpError (400) if the platform does not have it."""
    if asset not in known:
        raise validation_error([f"asset {asset} is not an asset of this platform"])
    return asset
