"""Commands of the custody: decide on withdrawals, send deposits on the simulated chains."""

import asyncio
import secrets
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Annotated, Any

import typer

from openspot.cli.common import fail, running_settings

if TYPE_CHECKING:
    from openspot.custody.operator import Operator


custody_app = typer.Typer(no_args_is_help=True, help="Decide on withdrawals; send deposits on the simulated chains.")
Why = Annotated[str, typer.Option("--reason", help="Why; the trail of operators keeps it")]
WithdrawalId = Annotated[str, typer.Argument(help="Id of the withdrawal, as `openspot custody list` shows it")]


def _as_operator(command: Callable[["Operator"], Awaitable[Any]]) -> Any:
    """Carry out a command of the custody's operator; ends with its reason if it is refused."""
    from openspot.custody.operator import OperatorError, operator
    from openspot.custody.settings import CustodySettings

    async def carry_out() -> Any:
        async with operator(running_settings(CustodySettings)) as commands:
            return await command(commands)

    try:
        return asyncio.run(carry_out())
    except OperatorError as error:
        raise fail(str(error)) from error


@custody_app.command("list")
def list_withdrawals() -> None:
    """Show the withdrawals that are not settled, and what each waits for."""
    from openspot.custody.hold import hold_reason
    from openspot.kit.settings import Settings

    if reason := hold_reason(running_settings(Settings).data_dir):
        typer.echo(f"withdrawals are held ({reason}); `openspot custody release` lets them go on")
    lines = _as_operator(lambda commands: commands.listed())
    typer.echo("\n".join(lines) or "no withdrawal is open")


@custody_app.command()
def hold(reason: Annotated[str, typer.Option(help="Why; `openspot custody list` shows it")]) -> None:
    """Hold all withdrawals: none is approved, signed or sent until `openspot custody release`."""
    from openspot.custody.hold import hold_withdrawals
    from openspot.kit.settings import Settings

    try:
        hold_withdrawals(running_settings(Settings).data_dir, reason)
    except OSError as error:
        raise fail(str(error)) from error
    typer.echo("withdrawals are held")


@custody_app.command()
def release() -> None:
    """Let held withdrawals go on. After a restore: only when each open one was compared with its chain."""
    from openspot.custody.hold import release_withdrawals
    from openspot.kit.settings import Settings

    try:
        was_held = release_withdrawals(running_settings(Settings).data_dir)
    except OSError as error:
        raise fail(str(error)) from error
    typer.echo("withdrawals go on" if was_held else "withdrawals were not held")


@custody_app.command()
def approve(
    withdrawal_id: WithdrawalId, approver: Annotated[str, typer.Option("--as", help="Who approves")], reason: Why
) -> None:
    """Approve a withdrawal. Approvers must be different people, and not the one who withdraws."""
    typer.echo(_as_operator(lambda commands: commands.approve(withdrawal_id, approver, reason)))


@custody_app.command()
def sign(
    withdrawal_id: WithdrawalId,
    signer: Annotated[str, typer.Option(help="Signer of the wallet, for example warm-1")],
    reason: Why,
) -> None:
    """Sign an approved withdrawal with the key of one of its wallet's signers."""
    typer.echo(_as_operator(lambda commands: commands.sign(withdrawal_id, signer, reason)))


@custody_app.command()
def reject(
    withdrawal_id: WithdrawalId,
    operator: Annotated[str, typer.Option("--as", help="Who rejects")],
    reason: Annotated[str, typer.Option(help="Why; the user sees it")],
) -> None:
    """Reject a withdrawal that is not being sent yet. Its funds and its quota come back."""
    typer.echo(_as_operator(lambda commands: commands.reject(withdrawal_id, operator, reason)))


@custody_app.command("deposit")
def deposit_on_chain(
    address: Annotated[str, typer.Argument(help="Deposit address of a user")],
    asset: Annotated[str, typer.Argument(help="For example BTC")],
    amount: Annotated[str, typer.Argument(help="A decimal number, for example 0.5")],
    network: Annotated[str, typer.Option(help="For example bitcoin")],
    tx_hash: Annotated[str, typer.Option(help="Transaction hash; the same one counts once")] = "",
) -> None:
    """Send a deposit on a simulated chain; it counts after the network's number of blocks."""
    from openspot.custody.deposits import ChainDeposit

    sent = ChainDeposit(tx_hash or f"0x{secrets.token_hex(32)}", network, address, asset.upper(), amount)
    typer.echo(_as_operator(lambda commands: commands.deposit(sent)))


@custody_app.command()
def audit() -> None:
    """Check the hash chain of the audit trail. Exit code 1: an entry was changed, or entries are missing."""
    count = _as_operator(lambda commands: commands.verified_audit())
    typer.echo(f"{count} entries, unbroken")
