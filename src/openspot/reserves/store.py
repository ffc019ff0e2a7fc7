"""The tables of proofs: a proof, its leaves, and the nodes above the blocks of leaves.

A proof is written in one transaction: it is there as a whole, or not at all.
"""

import json
from collections.abc import AsyncIterator, Iterable, Sequence
from datetime import datetime
from typing import NamedTuple

import asyncpg

from openspot.domain.reserves import KeptNode, Statement, statement_json, statement_of

MAKING_LOCK = 0x0905_5052
"""The key of the advisory lock that lets one proof be made at a time."""
ROWS_AT_A_TIME = 4096

_ADD_PROOF = """
    INSERT INTO reserve_proofs (proof_id, taken_at, statement, digest, depth, width, user_count)
    VALUES ($1, $2, $3::jsonb, $4, $5, $6, $7)
"""
_PROOF = "SELECT statement::text AS statement, digest, user_count FROM reserve_proofs"
_DELETE = (
    "DELETE FROM reserve_leaves WHERE proof_id = ANY ($1::text[])",
    "DELETE FROM reserve_nodes WHERE proof_id = ANY ($1::text[])",
    "DELETE FROM reserve_proofs WHERE proof_id = ANY ($1::text[])",
)
_TOO_OLD = "SELECT proof_id FROM reserve_proofs ORDER BY taken_at DESC, proof_id DESC OFFSET $1"


class LeafRow(NamedTuple):
    """A leaf. `user_id` is None for a leaf of nobody; `amounts` is what `encode_amounts` wrote."""

    position: int
    user_id: str | None
    nonce: bytes
    amounts: bytes


class StoredProof(NamedTuple):
    """A proof: what it states, the digest of that, and for how many users it was made."""

    statement: Statement
    digest: str
    users: int


class ReserveStore:
    """Reads and writes proofs in the transaction of one connection. Its methods raise what asyncpg raises."""

    def __init__(self, connection: asyncpg.Connection) -> None:
        self._connection = connection

    async def lock(self) -> bool:
        """Let no other process make a proof until the connection ends. False if another one makes one now."""
        return bool(await self._connection.fetchval("SELECT pg_try_advisory_lock($1)", MAKING_LOCK))

    async def newest(self) -> StoredProof | None:
        """The newest proof, None before the first."""
        row = await self._connection.fetchrow(f"{_PROOF} ORDER BY taken_at DESC, proof_id DESC LIMIT 1")
        return None if row is None else _proof_of(row)

    async def get(self, proof_id: str) -> StoredProof | None:
        """A proof, None if there is none of that id."""
        row = await self._connection.fetchrow(f"{_PROOF} WHERE proof_id = $1", proof_id)
        return None if row is None else _proof_of(row)

    async def all(self) -> list[StoredProof]:
        """All proofs, newest first."""
        rows = await self._connection.fetch(f"{_PROOF} ORDER BY taken_at DESC, proof_id DESC")
        return [_proof_of(row) for row in rows]

    async def add(self, proof: StoredProof, taken_at: datetime) -> None:
        """Write a proof."""
        statement = proof.statement
        await self._connection.execute(
            _ADD_PROOF,
            statement.proof_id,
            taken_at,
            json.dumps(statement_json(statement, proof.digest)),
            proof.digest,
            statement.depth,
            len(statement.assets),
            proof.users,
        )

    async def add_leaves(self, proof_id: str, leaves: Iterable[LeafRow]) -> None:
        """Write leaves of the proof."""
        await self._connection.copy_records_to_table(
            "reserve_leaves",
            records=((proof_id, *leaf) for leaf in leaves),
            columns=("proof_id", "position", "user_id", "nonce", "amounts"),
        )

    async def add_nodes(self, proof_id: str, nodes: Iterable[KeptNode], sum_bytes: int) -> None:
        """Write nodes of the proof, their sums in so many bytes."""
        await self._connection.copy_records_to_table(
            "reserve_nodes",
            records=(
                (proof_id, level, position, node.hash, node.sums.to_bytes(sum_bytes, "big"))
                for level, position, node in nodes
            ),
            columns=("proof_id", "level", "position", "hash", "sums"),
        )

    async def leaves(self, proof_id: str) -> AsyncIterator[Sequence[LeafRow]]:
        """All leaves of the proof from left to right, in parts."""
        query = "SELECT position, user_id, nonce, amounts FROM reserve_leaves WHERE proof_id = $1 ORDER BY position"
        rows = await self._connection.cursor(query, proof_id)
        while part := await rows.fetch(ROWS_AT_A_TIME):
            yield [LeafRow(*row.values()) for row in part]

    async def delete_all_but(self, kept: int) -> list[str]:
        """Delete the oldest proofs so that `kept` remain; returns the ids of those that are gone."""
        gone = [row["proof_id"] for row in await self._connection.fetch(_TOO_OLD, kept)]
        for delete in _DELETE:
            await self._connection.execute(delete, gone)
        return gone


def _proof_of(row: asyncpg.Record) -> StoredProof:
    return StoredProof(statement_of(json.loads(row["statement"])), row["digest"], row["user_count"])
