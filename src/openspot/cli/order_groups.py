"""Commands about several orders at once: lists, whose orders depend on each other, and batches, whose do not."""

import secrets
from typing import Annotated, Any

import typer

from openspot.cli.orders import amendment_of, order_of
from openspot.cli.trader_commands import (
    DEFAULT_URL,
    LIST_MAX,
    NO_SUCH_CHANGE,
    NO_SUCH_ROUTE,
    REFUSED,
    UNKNOWN,
    AsJson,
    IdempotencyKey,
    KeyFile,
    Symbol,
    Url,
    print_lists,
    repeat_once,
    run,
)

groups_app = typer.Typer()
"""Stands among the other commands about orders."""
_NO_ANSWER = 504
"""The status of an order of a batch of which nobody knows what became of it."""


@groups_app.command("place-list")
def place_list(
    kind: Annotated[str, typer.Argument(metavar="TYPE", help="oco, oto or bracket")],
    orders: Annotated[list[str], typer.Argument(help='Its orders, the entry first: "BTC-USD buy 1 --price 65000" …')],
    client_list_id: Annotated[str | None, typer.Option(help="Your own reference of the list")] = None,
    idempotency_key: IdempotencyKey = None,
    url: Url = DEFAULT_URL,
    key_file: KeyFile = None,
    as_json: AsJson = False,
) -> None:
    """Place orders that depend on each other, all or none, and print them. Each is one text, written as for place."""
    wanted = [order_of(text) for text in orders]
    key = idempotency_key or secrets.token_hex(16)
    placed = run(
        lambda client: client.place_order_list(
            kind.lower(), wanted, client_list_id=client_list_id, idempotency_key=key
        ),
        url,
        key_file,
        repeat_once(key, "the list"),
        NO_SUCH_CHANGE,
    )
    print_lists([placed], as_json=as_json)


@groups_app.command("lists")
def list_lists(
    symbol: Symbol = None,
    active: Annotated[bool, typer.Option("--active", help="Only those whose orders depend on each other now")] = False,
    limit: Annotated[int, typer.Option(help="How many at most, the newest", min=1, max=LIST_MAX)] = 100,
    url: Url = DEFAULT_URL,
    key_file: KeyFile = None,
    as_json: AsJson = False,
) -> None:
    """Show your order lists with their orders, newest first."""
    page = run(
        lambda client: client.order_lists(
            symbol=None if symbol is None else symbol.upper(), active=True if active else None, limit=limit
        ),
        url,
        key_file,
        lacking=NO_SUCH_ROUTE,
    )
    print_lists(page.entries, as_json=as_json)
    if page.next_cursor is not None and not as_json:
        typer.echo(f"only the newest {limit}: there are more", err=True)


@groups_app.command("show-list")
def show_list(
    list_id: Annotated[str, typer.Argument(help="List id")],
    url: Url = DEFAULT_URL,
    key_file: KeyFile = None,
    as_json: AsJson = False,
) -> None:
    """Show one order list with its orders."""
    print_lists([run(lambda client: client.order_list(list_id), url, key_file)], as_json=as_json)


@groups_app.command("cancel-list")
def cancel_list(
    list_id: Annotated[str, typer.Argument(help="List id")],
    url: Url = DEFAULT_URL,
    key_file: KeyFile = None,
    as_json: AsJson = False,
) -> None:
    """Cancel all that is open of a list, and print it."""
    cancelled = run(
        lambda client: client.cancel_order_list(list_id),
        url,
        key_file,
        "repeat the command, which cancels nothing else",
        NO_SUCH_CHANGE,
    )
    print_lists([cancelled], as_json=as_json)


@groups_app.command("place-batch")
def place_batch(
    orders: Annotated[list[str], typer.Argument(help='Up to 20 orders: "BTC-USD buy 1 --price 65000" …')],
    idempotency_key: IdempotencyKey = None,
    url: Url = DEFAULT_URL,
    key_file: KeyFile = None,
    as_json: AsJson = False,
) -> None:
    """Place orders by one request, each answered alone. Each is one text, written as for place.

    Exit code 1: not all of them were placed.
    """
    wanted = [order_of(text) for text in orders]
    key = idempotency_key or secrets.token_hex(16)
    entries = run(
        lambda client: client.place_orders(wanted, idempotency_key=key), url, key_file, repeat_once(key, "the orders")
    )
    _end_of_batch(orders, entries, as_json=as_json)


@groups_app.command("amend-batch")
def amend_batch(
    amendments: Annotated[list[str], typer.Argument(help='Up to 20 amendments: "ORDER_ID --price 65010" …')],
    url: Url = DEFAULT_URL,
    key_file: KeyFile = None,
    as_json: AsJson = False,
) -> None:
    """Amend open orders in one step, each answered alone. Each is one text, written as for amend, with an order id.

    Exit code 1: not all of them were amended. Sent again, it changes nothing more.
    """
    wanted = [amendment_of(text) for text in amendments]
    entries = run(
        lambda client: client.amend_orders(wanted),
        url,
        key_file,
        "repeat the command, which changes nothing more",
        NO_SUCH_CHANGE,
    )
    _end_of_batch(amendments, entries, as_json=as_json)


def _end_of_batch(texts: list[str], entries: list[Any], *, as_json: bool) -> None:
    """Print what became of each order, in their order, and end with the exit code of the worst."""
    from openspot.cli.order_lines import entry_line, json_line

    for text, entry in zip(texts, entries, strict=True):
        typer.echo(json_line(entry) if as_json else entry_line(text, entry))
    refused = [entry.status for entry in entries if entry.error is not None]
    if refused:
        raise typer.Exit(UNKNOWN if _NO_ANSWER in refused else REFUSED)
