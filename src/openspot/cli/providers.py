"""Commands that play providers outside the platform (development)."""

import asyncio
import re
from typing import Annotated, Literal

import typer

from openspot.cli.common import fail, running_settings

kyc_app = typer.Typer(no_args_is_help=True, help="Play the provider of verification (development).")


@kyc_app.command()
def review(
    user_id: Annotated[str, typer.Argument(help="User id")],
    answer: Annotated[str, typer.Argument(help="GREEN or RED")],
    final: Annotated[bool, typer.Option("--final", help="With RED: the user may not try again.")] = False,
) -> None:
    """Send the outcome of a user's check to the webhook, signed as a provider signs it."""
    from openspot.rest_edge.common.signed_events import EventError
    from openspot.rest_edge.funds.kyc.development import review as send_review
    from openspot.rest_edge.settings import RestEdgeSettings

    if answer.upper() not in ("GREEN", "RED"):
        raise fail("ANSWER must be GREEN or RED")
    try:
        applied = asyncio.run(send_review(running_settings(RestEdgeSettings), user_id, answer.upper(), final=final))
    except EventError as error:
        raise fail(str(error)) from error
    typer.echo("applied" if applied else "changed nothing: this user has no check, or a newer event came before")
    raise typer.Exit(0 if applied else 1)


payments_app = typer.Typer(no_args_is_help=True, help="Play the provider of payments (development).")
PaymentId = Annotated[str, typer.Argument(help="Id of the payment, as `POST /payments/session` returns it")]


@payments_app.command()
def complete(payment_id: PaymentId) -> None:
    """Tell the edge that a payment is paid, signed as a provider signs it. The user is credited once."""
    _report_payment(payment_id, "paid")


@payments_app.command("fail")
def fail_payment(payment_id: PaymentId) -> None:
    """Tell the edge that a payment failed, signed as a provider signs it."""
    _report_payment(payment_id, "failed")


def _report_payment(payment_id: str, outcome: Literal["paid", "failed"]) -> None:
    from openspot.rest_edge.common.signed_events import EventError
    from openspot.rest_edge.products.payments.development import report
    from openspot.rest_edge.settings import RestEdgeSettings

    if not re.fullmatch("[A-Za-z0-9]{1,40}", payment_id):
        raise fail("PAYMENT_ID must be 1 to 40 letters and digits")
    try:
        is_new = asyncio.run(report(running_settings(RestEdgeSettings), payment_id, outcome))
    except EventError as error:
        raise fail(str(error)) from error
    typer.echo(f"{payment_id} is {outcome}" if is_new else f"{payment_id}: the edge was told before; nothing changed")
