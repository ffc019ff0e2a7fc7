"""The parameters of operators' routes that name a user."""

from typing import Annotated

from fastapi import Path, Query

from openspot.domain.accounts import user_of_account
from openspot.http.errors import validation_error

_PATTERN = r"^[A-Za-z0-9_:-]{1,64}$"

UserPath = Annotated[str, Path(alias="userId", pattern=_PATTERN, description="Id of the user")]
UserQuery = Annotated[str | None, Query(alias="userId", pattern=_PATTERN, description="Only those of this user")]
AccountQuery = Annotated[
    str | None,
    Query(
        alias="account",
        pattern=_PATTERN,
        description="An account of the user: the user's id for the spot account, or the id of a margin account",
    ),
]


def require_own(user_id: str, account: str | None) -> None:
    """Raises HttpError (400) if the account is named and another user's."""
    if account is not None and user_of_account(account) != user_id:
        raise validation_error([f"account {account} is not one of user {user_id}"])
