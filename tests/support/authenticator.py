"""A user's authenticator app, and a user with MFA, for tests."""

import time
from dataclasses import dataclass, field
from typing import Any

import pyotp

from tests.support.rest_client import Reply, RestClient

PASSWORD = "correct horse battery"
STEP_S = 30


@dataclass
class Authenticator:
    """Gives codes that have not been used, as long as it is asked for at most two within 30 seconds."""

    secret: str
    recovery_codes: list[str] = field(default_factory=list)
    last_step: int = 0

    def code(self) -> str:
        """The code of the present step, or of the next one if that was given already."""
        self.last_step = max(self.last_step + 1, int(time.time()) // STEP_S)
        return self.at(self.last_step)

    def at(self, step: int) -> str:
        """The code of one step."""
        return str(pyotp.TOTP(self.secret).generate_otp(step))

    def wrong_code(self) -> str:
        """A code of no step near the present."""
        step = int(time.time()) // STEP_S
        near = {self.at(number) for number in range(step - 5, step + 6)}
        return next(code for code in (f"{number:06d}" for number in range(100)) if code not in near)


async def register(client: RestClient, email: str) -> str:
    """Register and log in; returns the user's id."""
    await client("POST", "/auth/register", {"email": email, "password": PASSWORD})
    reply = await log_in(client, email)
    assert reply.status == 200, reply.body
    client.token = reply.body["accessToken"]
    return str(reply.body["userId"])


async def log_in(client: RestClient, email: str, password: str = PASSWORD) -> Reply:
    """The first step of a login."""
    return await client("POST", "/auth/login", {"email": email, "password": password})


async def send_code(client: RestClient, challenge: Any, code: str) -> Reply:
    """The second step of a login."""
    return await client("POST", "/auth/login/mfa", {"challengeToken": challenge["challengeToken"], "code": code})


async def set_up_mfa(client: RestClient) -> Authenticator:
    """Set MFA up for the client's user, without enabling it."""
    reply = await client("POST", "/users/me/mfa/setup", {"password": PASSWORD})
    assert reply.status == 200, reply.body
    return Authenticator(reply.body["secret"])


async def enable_mfa(client: RestClient) -> Authenticator:
    """Set MFA up and enable it."""
    app = await set_up_mfa(client)
    reply = await client("POST", "/users/me/mfa/enable", {"code": app.code()})
    assert reply.status == 200, reply.body
    app.recovery_codes = reply.body["recoveryCodes"]
    return app
