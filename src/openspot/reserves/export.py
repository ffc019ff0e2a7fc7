"""Writes a whole proof into a file for an auditor: the statement, then every leaf from left to right, as JSON lines.

The file names every user and balance. docs/reserves/verify_reserves.py checks it with `--whole`.
"""

import json
import secrets
from pathlib import Path

import asyncpg

from openspot.domain.money import amount_to_text
from openspot.domain.reserves import decode_amounts, statement_json
from openspot.kit.database import TRANSIENT_ERRORS
from openspot.reserves.errors import ReservesError
from openspot.reserves.prove import CONNECT_TIMEOUT_S
from openspot.reserves.settings import ReservesSettings
from openspot.reserves.store import LeafRow, ReserveStore, StoredProof


async def listed(settings: ReservesSettings) -> list[StoredProof]:
    """The proofs that are kept, newest first. Raises ReservesError."""
    try:
        connection = await asyncpg.connect(settings.database_url, timeout=CONNECT_TIMEOUT_S)
        try:
            return await ReserveStore(connection).all()
        finally:
            await connection.close(timeout=CONNECT_TIMEOUT_S)
    except (asyncpg.PostgresError, *TRANSIENT_ERRORS) as error:
        raise ReservesError(f"the database does not answer: {error!r}") from error


async def export(settings: ReservesSettings, proof_id: str, target: Path) -> StoredProof:
    """Write the proof, or the newest one for an empty id, into a new file. Raises ReservesError and OSError.

    The file appears under its name when it is complete.
    """
    partial = target.with_name(f"{target.name}.{secrets.token_hex(8)}.part")
    try:
        connection = await asyncpg.connect(settings.database_url, timeout=CONNECT_TIMEOUT_S)
        try:
            async with connection.transaction(isolation="repeatable_read", readonly=True):
                store = ReserveStore(connection)
                proof = await (store.get(proof_id) if proof_id else store.newest())
                if proof is None:
                    raise ReservesError(f"there is no proof {proof_id}" if proof_id else "no proof was made yet")
                width = len(proof.statement.assets)
                with partial.open("x", encoding="utf-8") as lines:
                    lines.write(_line(statement_json(proof.statement, proof.digest)))
                    async for rows in store.leaves(proof.statement.proof_id):
                        lines.writelines(_line(_leaf(row, width)) for row in rows)
        finally:
            await connection.close(timeout=CONNECT_TIMEOUT_S)
        _rename(partial, target)
        return proof
    except FileExistsError as error:
        raise ReservesError(f"{target} is there already") from error
    except (asyncpg.PostgresError, *TRANSIENT_ERRORS) as error:
        raise ReservesError(f"the database does not answer: {error!r}") from error
    finally:
        partial.unlink(missing_ok=True)


def _rename(partial: Path, target: Path) -> None:
    """Give the complete file its name. Raises FileExistsError if there is such a file."""
    target.hardlink_to(partial)


def _leaf(row: LeafRow, width: int) -> dict[str, object]:
    if row.user_id is None:
        return {"userId": None, "nonce": row.nonce.hex()}
    amounts = decode_amounts(row.amounts)
    balances = [amount_to_text(amounts.get(asset, 0)) for asset in range(width)]
    return {"userId": row.user_id, "nonce": row.nonce.hex(), "balances": balances}


def _line(record: dict[str, object]) -> str:
    return f"{json.dumps(record, separators=(',', ':'))}\n"
