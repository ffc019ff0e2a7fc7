"""Commands of a trader: place, list, amend and cancel orders through the REST edge, with an API key.

An order that is part of a command (of a list, of a batch, or in place of another) is one text, written as for `place`.

Exit codes: 0 done; 1 refused, nothing has changed or not all of it; 2 the command line is wrong; 3 no answer, so that
nobody knows whether a change was made.
"""

import re
import secrets
import shlex
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.exceptions import TyperException

from openspot.cli.trader_commands import (
    DEFAULT_URL,
    LIST_MAX,
    NO_SUCH_CHANGE,
    NO_SUCH_ROUTE,
    REFUSED,
    AsJson,
    ClientOrderId,
    IdempotencyKey,
    KeyFile,
    Side,
    Symbol,
    Url,
    orders_app,
    print_orders,
    repeat_once,
    run,
    wrong,
)

_DURATION = re.compile(r"([1-9][0-9]{0,6})([smhd])", re.ASCII)
_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days"}
_OF_THE_COMMAND = ("idempotency_key", "url", "key_file", "as_json")
"""The options of a command that are not about its order."""
_OPEN = "pending,open,partially_filled"


def _expiry(expires_at: str | None, good_for: str | None) -> datetime | None:
    if expires_at is not None and good_for is not None:
        raise wrong("give --expires-at or --good-for, not both")
    if good_for is not None:
        found = _DURATION.fullmatch(good_for)
        if found is None:
            raise wrong("--good-for must be a number and s, m, h or d, for example 90s or 2h")
        return datetime.now(UTC) + timedelta(**{_UNITS[found[2]]: int(found[1])})
    if expires_at is None:
        return None
    try:
        time = datetime.fromisoformat(expires_at)
    except ValueError as error:
        raise wrong(f"--expires-at {expires_at} is no time in ISO 8601") from error
    if time.tzinfo is None:
        raise wrong(f"--expires-at {expires_at} needs a zone, for example 2030-01-02T03:04:05Z")
    return time


@orders_app.command()
def place(
    symbol: Annotated[str, typer.Argument(help="Market, for example BTC-USD")],
    side: Annotated[str, typer.Argument(help="buy or sell")],
    quantity: Annotated[str | None, typer.Argument(help="How much of the base asset; or give --quote-quantity")] = None,
    price: Annotated[str | None, typer.Option(help="Limit price")] = None,
    kind: Annotated[
        str | None,
        typer.Option(
            "--type",
            help="limit (the default with --price), market (the default without), stop-limit, stop-market, "
            "take-profit-limit, take-profit-market, trailing-stop-limit or trailing-stop-market",
        ),
    ] = None,
    quote_quantity: Annotated[str | None, typer.Option(help="Market orders: the amount to spend or to bring")] = None,
    stop_price: Annotated[str | None, typer.Option(help="The price that fires a stop or a take profit")] = None,
    trailing_amount: Annotated[
        str | None, typer.Option(help="Trailing stops: the distance, in the quote asset")
    ] = None,
    trailing_bps: Annotated[int | None, typer.Option(help="… or in basis points")] = None,
    trigger_by: Annotated[str | None, typer.Option(help="What fires the trigger: last or mark")] = None,
    time_in_force: Annotated[str | None, typer.Option(help="gtc, ioc, fok or gtd")] = None,
    expires_at: Annotated[str | None, typer.Option(help="When the order ends, in ISO 8601 with a zone")] = None,
    good_for: Annotated[str | None, typer.Option(help="… or how long from now, for example 90s, 30m, 2h, 1d")] = None,
    post_only: Annotated[bool, typer.Option("--post-only", help="Never take: refuse the order instead")] = False,
    slide: Annotated[
        bool, typer.Option("--slide", help="With --post-only: rest behind the best price instead")
    ] = False,
    display_quantity: Annotated[str | None, typer.Option(help="Icebergs: the book shows this much at a time")] = None,
    max_slippage_bps: Annotated[str | None, typer.Option(help="How far a market order may go, basis points")] = None,
    self_trade_prevention: Annotated[
        str | None,
        typer.Option(help="none, cancel-resting, cancel-incoming, cancel-both or decrement-and-cancel"),
    ] = None,
    client_order_id: ClientOrderId = None,
    idempotency_key: IdempotencyKey = None,
    url: Url = DEFAULT_URL,
    key_file: KeyFile = None,
    as_json: AsJson = False,
) -> None:
    """Place an order and print it. The platform checks it; what it refuses is said with the reason."""
    wanted = _fields(
        symbol=symbol,
        side=side,
        quantity=quantity,
        price=price,
        kind=kind,
        quote_quantity=quote_quantity,
        stop_price=stop_price,
        trailing_amount=trailing_amount,
        trailing_bps=trailing_bps,
        trigger_by=trigger_by,
        time_in_force=time_in_force,
        expires_at=expires_at,
        good_for=good_for,
        post_only=post_only,
        slide=slide,
        display_quantity=display_quantity,
        max_slippage_bps=max_slippage_bps,
        self_trade_prevention=self_trade_prevention,
        client_order_id=client_order_id,
    )
    key = idempotency_key or secrets.token_hex(16)
    order = run(
        lambda client: client.place_order(**wanted, idempotency_key=key), url, key_file, repeat_once(key, "the order")
    )
    print_orders([order], as_json=as_json)


def _fields(
    *,
    symbol: str,
    kind: str | None,
    expires_at: str | None,
    good_for: str | None,
    post_only: bool,
    slide: bool,
    self_trade_prevention: str | None,
    **others: Any,
) -> dict[str, Any]:
    """The client's arguments for an order, from the options of `place`."""
    expiry = _expiry(expires_at, good_for)
    if slide and not post_only:
        raise wrong("--slide goes with --post-only")
    default = "market" if others["price"] is None else "limit"
    return {
        **others,
        "symbol": symbol.upper(),
        "order_type": (kind or default).lower().replace("-", "_"),
        "time_in_force": others["time_in_force"] or (None if expiry is None else "gtd"),
        "post_only": True if post_only else None,
        "post_only_mode": "slide" if slide else None,
        "expires_at": expiry,
        "self_trade_prevention": (
            None if self_trade_prevention is None else self_trade_prevention.lower().replace("-", "_")
        ),
    }


def _options_of(command: Callable[..., None], text: str) -> dict[str, Any]:
    """The options of a part of a command that is written as for another command, by their names."""
    name = command.__name__
    parser = typer.Typer(add_completion=False)
    parser.command()(command)
    try:
        context = typer.main.get_command(parser).make_context(name, shlex.split(text))
    except (TyperException, ValueError) as error:
        reason = error.format_message() if isinstance(error, TyperException) else str(error)
        raise wrong(f'the order "{text}" is not written as for `openspot orders {name}`: {reason}') from error
    given = dict(context.params)
    for option in [option for option in _OF_THE_COMMAND if option in given]:
        source = context.get_parameter_source(option)
        if source is not None and source.name == "COMMANDLINE":
            raise wrong(f'the order "{text}" has an option of the command: write it behind the orders')
        del given[option]
    return given


def order_of(text: str) -> dict[str, Any]:
    """The fields of an order that is written as for `place`, for example "BTC-USD buy 1 --price 65000"."""
    from openspot.client import order_fields

    return order_fields(**_fields(**_options_of(place, text)))


def amendment_of(text: str) -> dict[str, Any]:
    """The fields of an amendment that is written as for `amend` with an order id, for example "A1 --price 65010"."""
    from openspot.client import amendment_fields

    given = _options_of(amend, text)
    order_id, client_order_id = given.pop("order_id"), given.pop("client_order_id")
    if order_id is None or client_order_id is not None:
        raise wrong(f'the order "{text}" of a batch begins with its id')
    _something(given)
    return amendment_fields(order_id, **given)


@orders_app.command()
def replace(
    order_id: Annotated[str, typer.Argument(help="The open order that ends")],
    order: Annotated[str, typer.Argument(help='The new one, as for place: "BTC-USD buy 1 --price 65000"')],
    allow_failure: Annotated[
        bool, typer.Option("--allow-failure", help="Place the new one even if there is nothing to cancel")
    ] = False,
    idempotency_key: IdempotencyKey = None,
    url: Url = DEFAULT_URL,
    key_file: KeyFile = None,
    as_json: AsJson = False,
) -> None:
    """Cancel an open order and place another on its market, in one step. Prints both."""
    wanted = order_of(order)
    key = idempotency_key or secrets.token_hex(16)
    outcome = run(
        lambda client: client.replace_order(order_id, wanted, allow_failure=allow_failure, idempotency_key=key),
        url,
        key_file,
        repeat_once(key, "the new order"),
        NO_SUCH_CHANGE,
    )
    if outcome.cancel_error is not None:
        typer.echo(f"not cancelled: {outcome.cancel_error.code}", err=True)
    print_orders([each for each in (outcome.cancelled, outcome.order) if each is not None], as_json=as_json)


@orders_app.command("list")
def list_orders(
    symbol: Symbol = None,
    side: Side = None,
    status: Annotated[
        str, typer.Option(help="open, all, or states with commas: filled, cancelled, rejected, …")
    ] = "open",
    client_order_id: ClientOrderId = None,
    limit: Annotated[int, typer.Option(help="How many at most, the newest", min=1, max=LIST_MAX)] = 100,
    url: Url = DEFAULT_URL,
    key_file: KeyFile = None,
    as_json: AsJson = False,
) -> None:
    """List your orders, newest first: the open ones, unless you say otherwise."""
    wanted = {"open": _OPEN, "all": None}.get(status.lower(), status)
    page = run(
        lambda client: client.orders(
            status=wanted,
            symbol=None if symbol is None else symbol.upper(),
            side=side,
            client_order_id=client_order_id,
            limit=limit,
        ),
        url,
        key_file,
    )
    print_orders(page.entries, as_json=as_json)
    if page.next_cursor is not None and not as_json:
        typer.echo(f"only the newest {limit}: there are more", err=True)


def _something(wanted: dict[str, str | None]) -> None:
    if all(value is None for value in wanted.values()):
        raise wrong("give --price, --quantity, --stop-price or several of them")


def _one_of(order_id: str | None, client_order_id: str | None) -> None:
    if (order_id is None) is (client_order_id is None):
        raise wrong("give an order id or --client-order-id, one of the two")


@orders_app.command()
def show(
    order_id: Annotated[str | None, typer.Argument(help="Order id")] = None,
    client_order_id: ClientOrderId = None,
    trades: Annotated[bool, typer.Option("--trades", help="Print its trades, too, newest first")] = False,
    url: Url = DEFAULT_URL,
    key_file: KeyFile = None,
    as_json: AsJson = False,
) -> None:
    """Show one order, by its id or by your own reference."""
    from openspot.cli.order_lines import json_line, trade_line

    _one_of(order_id, client_order_id)

    async def looked_up(client: Any) -> tuple[Any, list[Any]]:
        order = await (client.order(order_id) if order_id is not None else client.order_by_client_id(client_order_id))
        page = await client.own_trades(order_id=order.order_id, limit=LIST_MAX) if trades else ()
        return order, list(page)

    order, own = run(looked_up, url, key_file)
    print_orders([order], as_json=as_json)
    for trade in own:
        typer.echo(json_line(trade) if as_json else trade_line(trade))


@orders_app.command()
def amend(
    order_id: Annotated[str | None, typer.Argument(help="Order id")] = None,
    client_order_id: ClientOrderId = None,
    price: Annotated[str | None, typer.Option(help="The price that it shall have")] = None,
    quantity: Annotated[str | None, typer.Option(help="The whole quantity, with what is filled")] = None,
    stop_price: Annotated[str | None, typer.Option(help="The trigger of one that waits for it")] = None,
    url: Url = DEFAULT_URL,
    key_file: KeyFile = None,
    as_json: AsJson = False,
) -> None:
    """Give an open order another price, quantity or trigger. Sent again, it changes nothing more."""
    _one_of(order_id, client_order_id)
    wanted = {"price": price, "quantity": quantity, "stop_price": stop_price}
    _something(wanted)
    order = run(
        lambda client: (
            client.amend_order(order_id, **wanted)
            if order_id is not None
            else client.amend_order_by_client_id(client_order_id, **wanted)
        ),
        url,
        key_file,
        "repeat the command, which changes nothing more",
        NO_SUCH_CHANGE,
    )
    print_orders([order], as_json=as_json)


@orders_app.command()
def cancel(
    order_ids: Annotated[list[str] | None, typer.Argument(help="Order ids")] = None,
    client_order_id: ClientOrderId = None,
    url: Url = DEFAULT_URL,
    key_file: KeyFile = None,
    as_json: AsJson = False,
) -> None:
    """Cancel orders, by their ids or by your own reference. Exit code 1: not all of them were cancelled."""
    if bool(order_ids) is (client_order_id is not None):
        raise wrong("give order ids or --client-order-id, one of the two")
    _cancel_matching(
        {"order_ids": order_ids or None, "client_order_id": client_order_id}, url, key_file, as_json=as_json
    )


@orders_app.command("cancel-all")
def cancel_all(
    symbol: Symbol = None,
    side: Side = None,
    url: Url = DEFAULT_URL,
    key_file: KeyFile = None,
    as_json: AsJson = False,
) -> None:
    """Cancel all your open orders, or those of a market or a side. Exit code 1: not all of them were cancelled."""
    wanted = {"symbol": None if symbol is None else symbol.upper(), "side": side}
    _cancel_matching(wanted, url, key_file, as_json=as_json)


def _cancel_matching(wanted: dict[str, Any], url: str, key_file: Path | None, *, as_json: bool) -> None:
    from openspot.cli.order_lines import cancelled_lines, json_line

    outcome = run(
        lambda client: client.cancel_orders(**wanted), url, key_file, "repeat the command, which cancels the rest"
    )
    for line in [json_line(outcome)] if as_json else cancelled_lines(outcome):
        typer.echo(line)
    is_missed = wanted.get("client_order_id") is not None and not outcome.cancelled
    raise typer.Exit(REFUSED if outcome.failed or is_missed else 0)


@orders_app.command()
def triggers(
    order_ids: Annotated[list[str], typer.Argument(help="1 to 20 order ids")],
    url: Url = DEFAULT_URL,
    key_file: KeyFile = None,
    as_json: AsJson = False,
) -> None:
    """What fires orders now: that of a trailing stop moves. Those that wait for no price are left out."""
    from openspot.cli.order_lines import json_line, trigger_line

    found = run(lambda client: client.order_triggers(order_ids), url, key_file, lacking=NO_SUCH_ROUTE)
    for trigger in found:
        typer.echo(json_line(trigger) if as_json else trigger_line(trigger))


@orders_app.command()
def timer(
    seconds: Annotated[
        int | None, typer.Argument(help="5 to 86400: set it or renew it; 0: end it; without it: show it")
    ] = None,
    url: Url = DEFAULT_URL,
    key_file: KeyFile = None,
    as_json: AsJson = False,
) -> None:
    """The dead man's switch: all your open orders are cancelled unless you renew it in time."""
    from openspot.cli.order_lines import json_line, timer_line

    state = run(
        lambda client: client.cancel_timer() if seconds is None else client.cancel_all_after(seconds),
        url,
        key_file,
        "look with `openspot orders timer`" if seconds is not None else "",
        NO_SUCH_ROUTE,
    )
    typer.echo(json_line(state) if as_json else timer_line(state))
