"""Refusals that several parts of identity share."""

from openspot.http.errors import HttpError


def user_not_found() -> HttpError:
    """The refusal of a token whose user was deleted."""
    return HttpError(404, "the user does not exist any more", "USER_NOT_FOUND")
