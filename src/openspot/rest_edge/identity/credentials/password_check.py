"""Asks for the current password again before a change that a stolen session must not make."""

from openspot.http.errors import HttpError
from openspot.kit.clock import utc_now
from openspot.kit.passwords import Passwords
from openspot.rest_edge.identity.credentials.attempt_store import AttemptStore
from openspot.rest_edge.identity.credentials.login_throttling import ACCOUNT_FROM_NETWORK, AttemptKey
from openspot.rest_edge.identity.credentials.store import AuthStore


class PasswordCheck:
    """Checks the password of users who are logged in."""

    def __init__(self, store: AuthStore, attempts: AttemptStore, passwords: Passwords) -> None:
        self._store = store
        self._attempts = attempts
        self._passwords = passwords

    async def require(self, user_id: str, password: str) -> None:
        """Check that `password` is the user's.

        Raises HttpError: 400 PASSWORD_WRONG, 429 TOO_MANY_PASSWORD_ATTEMPTS after too many wrong ones.
        """
        keys = (AttemptKey(f"password:{user_id}", ACCOUNT_FROM_NETWORK, resets=True),)
        wait_s = (await self._attempts.take(keys, utc_now())).wait_s
        if wait_s:
            message = f"too many wrong passwords: try again in {wait_s} s"
            raise HttpError(429, message, "TOO_MANY_PASSWORD_ATTEMPTS", headers={"Retry-After": str(wait_s)})
        user = await self._store.user_by_id(user_id)
        try:
            right = await self._passwords.matches(password, user.password_hash if user else None)
        except HttpError:
            # The queue was full: the password was not checked.
            await self._attempts.undo(keys)
            raise
        if not right:
            raise HttpError(400, "the current password is wrong", "PASSWORD_WRONG")
        await self._attempts.succeeded(keys)
