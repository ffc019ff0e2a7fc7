"""The second factor as withdrawals see it."""

from typing import Protocol


class SecondFactor(Protocol):
    """Checks the code of a user who has a second factor."""

    async def require(self, user_id: str, code: str | None) -> None:
        """Return if the user has no second factor, or `code` is right. Raises HttpError otherwise."""


class NoSecondFactor:
    """For a platform on which no user has a second factor."""

    async def require(self, user_id: str, code: str | None) -> None:
        """Return: there is nothing to check."""
