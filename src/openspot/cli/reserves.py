"""`openspot reserves`: prove what is owed to everybody, list the proofs, export one for an auditor."""

import asyncio
import json
from collections.abc import Coroutine
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from openspot.cli.common import database_settings, fail
from openspot.kit.log import configure_log

if TYPE_CHECKING:
    from openspot.reserves.settings import ReservesSettings
    from openspot.reserves.store import StoredProof

Value = TypeVar("Value")

reserves_app = typer.Typer(
    no_args_is_help=True, help="Prove what the exchange owes its users, so that each user can check it."
)


@reserves_app.command()
def prove(
    wait: Annotated[float, typer.Option(help="Seconds that the ledger gets to catch up with the engine", min=0)] = 30,
    as_json: Annotated[bool, typer.Option("--json", help="The published statement as one line of JSON.")] = False,
) -> None:
    """Make a proof of all balances after one event of the engine, and publish it; the oldest ones are deleted.

    Exit code 0: published. 1: not made, and nothing was changed.
    """
    from openspot.domain.reserves import statement_json
    from openspot.reserves.prove import prove as make

    made = _ended(make(_settings(), wait))
    if as_json:
        typer.echo(json.dumps(statement_json(made.proof.statement, made.proof.digest)))
        return
    typer.echo(_line(made.proof))
    statement = made.proof.statement
    for asset, owed, held in zip(statement.assets, statement.liabilities, statement.reserves, strict=True):
        typer.echo(f"  {asset:8} owed {owed}, held {held}")
    if made.unbooked:
        typer.echo(
            f"note: the ledger lacks {made.unbooked} adjustments of the engine; what they gave is counted. Book them: "
            "`openspot ledger book-adjustments`"
        )
    for proof_id in made.deleted:
        typer.echo(f"deleted {proof_id}")


@reserves_app.command("list")
def list_proofs() -> None:
    """Show the proofs that are kept, newest first."""
    from openspot.reserves.export import listed

    proofs = _ended(listed(_settings()))
    typer.echo("\n".join(map(_line, proofs)) or "no proof was made yet")


@reserves_app.command()
def export(
    file: Annotated[Path, typer.Argument(help="A new file; it names every user and balance")],
    proof: Annotated[str, typer.Option(help="Id of the proof; without it the newest")] = "",
) -> None:
    """Write every leaf of a proof into a file, for an auditor: `verify_reserves.py --whole FILE` checks it."""
    from openspot.reserves.export import export as write

    written = _ended(write(_settings(), proof, file))
    typer.echo(f"{written.statement.proof_id} is in {file}")


def _settings() -> "ReservesSettings":
    from openspot.reserves.settings import ReservesSettings

    settings = database_settings(ReservesSettings)
    configure_log(settings.model_copy(update={"log_level": "ERROR"}), "reserves")
    return settings


def _ended(work: Coroutine[Any, Any, Value]) -> Value:
    from openspot.reserves.errors import ReservesError

    try:
        return asyncio.run(work)
    except (ReservesError, OSError) as error:
        raise fail(str(error)) from error


def _line(proof: "StoredProof") -> str:
    statement = proof.statement
    return (
        f"{statement.proof_id}  {statement.taken_at}  event {statement.sequence:,}  {proof.users:,} users  "
        f"digest {proof.digest}"
    )
