"""What the commands about orders share: their options, their exit codes, a client, and what they print."""

import asyncio
import os
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer

from openspot.cli.common import fail

Result = TypeVar("Result")

REFUSED, WRONG, UNKNOWN = 1, 2, 3
DEFAULT_URL = "http://127.0.0.1:3001"
LIST_MAX = 1000
NO_SUCH_CHANGE = frozenset({405})
NO_SUCH_ROUTE = frozenset({404, 405})
"""The statuses by which an exchange without the complete rules refuses what it has no route for."""

orders_app = typer.Typer(
    no_args_is_help=True,
    help="Trade with an API key: place, list, show, amend, replace and cancel orders, also lists and batches of them. "
    "Exit code 0: done. 1: refused. 2: the command line is wrong. "
    "3: no answer, so nobody knows whether a change was made.",
)

Url = Annotated[str, typer.Option("--url", envvar="OPENSPOT_API_URL", help="Address of the exchange's REST edge")]
KeyFile = Annotated[
    Path | None,
    typer.Option("--key-file", help="JSON with id and secret of the API key, mode 0600; else from the environment"),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print a line of JSON for each record")]
ClientOrderId = Annotated[str | None, typer.Option("--client-order-id", help="Your own reference")]
IdempotencyKey = Annotated[str | None, typer.Option(help="Repeat a command whose outcome is unknown: it is done once")]
Symbol = Annotated[str | None, typer.Option("--symbol", help="Only orders of this market, for example BTC-USD")]
Side = Annotated[str | None, typer.Option("--side", help="Only orders of this side: buy or sell")]


def wrong(reason: str) -> typer.Exit:
    """Say what is wrong with the command line, and return the exception to raise."""
    fail(reason)
    return typer.Exit(WRONG)


def run(
    work: Callable[[Any], Coroutine[Any, Any, Result]],
    url: str,
    key_file: Path | None,
    repeat: str = "",
    lacking: frozenset[int] = frozenset(),
) -> Result:
    """Do `work` with a client.

    `repeat` says how the unknown outcome of a change is found out, `lacking` are the statuses by which an exchange
    without the complete rules refuses the work.
    """
    from openspot.cli.trader_key import TraderKeyError, read_key
    from openspot.client import ApiError, OpenSpotClient, UnreachableError

    try:
        signer = read_key(key_file, os.environ)
    except TraderKeyError as error:
        raise wrong(str(error)) from error
    if not url.startswith(("http://", "https://")):
        raise wrong(f"--url {url} is no address: it begins with http:// or https://")

    async def done() -> Result:
        async with OpenSpotClient(url, api_key=signer) as client:
            return await work(client)

    unknown = f"; nobody knows whether it was done: {repeat}" if repeat else ""
    try:
        return asyncio.run(done())
    except ApiError as error:
        if error.status == 504:
            fail(f"{error.message}{unknown}")
            raise typer.Exit(UNKNOWN) from error
        hint = ""
        if error.status in lacking:
            hint = ": the exchange does not run with OPENSPOT_RULES=complete, which this needs"
        reasons = "; ".join(error.reasons)
        fail(f"{error.status} {error.code}: {reasons}{hint}")
        raise typer.Exit(REFUSED) from error
    except UnreachableError as error:
        fail(f"{error}{unknown}")
        raise typer.Exit(UNKNOWN) from error
    except ValueError as error:
        # An address that is none.
        raise wrong(str(error)) from error


def print_orders(orders: list[Any], *, as_json: bool) -> None:
    """Print orders, a line for each."""
    from openspot.cli.order_lines import json_line, order_line

    for order in orders:
        typer.echo(json_line(order) if as_json else order_line(order))


def print_lists(lists: list[Any], *, as_json: bool) -> None:
    """Print lists of orders, each with a line for each of its orders."""
    from openspot.cli.order_lines import json_line, list_lines

    for each in lists:
        for line in [json_line(each)] if as_json else list_lines(each):
            typer.echo(line)


def repeat_once(key: str, what: str) -> str:
    """How to find out what became of a placement, and not to place twice."""
    return f"repeat the command with --idempotency-key {key}, which places {what} once"
