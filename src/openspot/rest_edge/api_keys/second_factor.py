"""The second factor, as the routes that need one see it."""

from typing import Protocol


class SecondFactor(Protocol):
    """Checks the codes of users who have turned a second factor on."""

    async def require(self, user_id: str, code: str | None) -> None:
        """Return if the user has no second factor, or `code` is right.

        Raises HttpError: 401 without a code, 400 for a wrong one, 429 after too many wrong ones.
        """


class NoSecondFactor:
    """For an edge whose users cannot turn a second factor on."""

    async def require(self, user_id: str, code: str | None) -> None:
        """Return: nobody has a second factor."""
