"""Operators who are users of the REST edge, for the tests of the console: how one is made, and how one logs in."""

import secrets
from collections.abc import Awaitable, Callable

import asyncpg

from openspot.http.operators import OperatorRole
from openspot.up.child_platform import ChildPlatform
from tests.support.authenticator import PASSWORD, Authenticator
from tests.support.console import Console
from tests.support.edge_operators import make_operator
from tests.support.own_thread import in_own_thread
from tests.support.rest_client import RestClient

Act = Callable[[RestClient, asyncpg.Pool], Awaitable[object]]


def at_the_edge(platform: ChildPlatform, act: Act) -> object:
    """Do something at the REST edge and in the database, beside the page."""

    async def run() -> object:
        client = RestClient(platform.settings)
        try:
            async with asyncpg.create_pool(platform.settings.database_url, min_size=1, max_size=1) as pool:
                return await act(client, pool)
        finally:
            await client.close()

    return in_own_thread(run)


def operator_with(platform: ChildPlatform, *roles: OperatorRole) -> tuple[str, Authenticator]:
    """A user who is an operator with these roles: the address, and the authenticator app.

    Its next codes are some seconds away, so tests log in with recovery codes.
    """
    email = f"{secrets.token_hex(4)}@operators.example"
    app = at_the_edge(platform, lambda client, pool: make_operator(client, pool, email, *roles))
    assert isinstance(app, Authenticator)
    return email, app


def log_in_with(console: Console, platform: ChildPlatform, *roles: OperatorRole, page: str) -> str:
    """Log in as a new operator with these roles, asking for a page of the console. Returns the operator's address."""
    email, app = operator_with(platform, *roles)
    console.page.goto(f"{console.url}/console{page}")
    console.log_in(email, PASSWORD)
    console.page.get_by_label("Code").fill(app.recovery_codes.pop())
    console.page.get_by_role("button", name="Log in").click()
    return email
