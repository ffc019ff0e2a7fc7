"""Reads proofs of reserves. `openspot reserves prove` writes them."""

from collections.abc import Sequence
from typing import NamedTuple

from openspot.domain.reserves import (
    BLOCK,
    BLOCK_DEPTH,
    PORTIONS,
    Node,
    decode_amounts,
    leaf,
    packed,
    padding,
    path_in_block,
)
from openspot.kit.database import Connection, Pool

LISTED_MAX = 100

_STATEMENTS = "SELECT statement::text FROM reserve_proofs ORDER BY taken_at DESC, proof_id DESC LIMIT $1"
_PROOF = "SELECT statement::text AS statement, depth, width FROM reserve_proofs WHERE proof_id = $1"
_OWN = """
    SELECT position, nonce, amounts FROM reserve_leaves WHERE user_id = $1 AND proof_id = $2 ORDER BY position LIMIT $3
"""
_BLOCK = """
    SELECT user_id, nonce, amounts FROM reserve_leaves
    WHERE proof_id = $1 AND position >= $2 AND position < $3 ORDER BY position
"""
_ABOVE = """
    SELECT node.hash, node.sums FROM unnest($2::integer[], $3::bigint[]) AS wanted (level, position)
    JOIN reserve_nodes AS node ON node.proof_id = $1 AND node.level = wanted.level AND node.position = wanted.position
    ORDER BY node.level
"""


class OwnLeaf(NamedTuple):
    """A leaf of a user: its place, nonce, amounts by the number of the asset, and the nodes beside its way up."""

    position: int
    nonce: bytes
    amounts: dict[int, int]
    path: Sequence[Node]


class OwnProof(NamedTuple):
    """A proof's statement as JSON, the number of its assets, and the user's leaves."""

    statement: str
    width: int
    leaves: list[OwnLeaf]


class ReserveStore:
    """Proofs of reserves, for everybody and for one user."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def statements(self) -> list[str]:
        """What the newest proofs state, newest first, each as JSON."""
        return [row["statement"] for row in await self._pool.fetch(_STATEMENTS, LISTED_MAX)]

    async def own(self, proof_id: str, user_id: str) -> OwnProof | None:
        """A user's part of a proof; None if there is no such proof, or not any more."""
        async with (
            self._pool.acquire() as connection,
            connection.transaction(isolation="repeatable_read", readonly=True),
        ):
            proof = await connection.fetchrow(_PROOF, proof_id)
            if proof is None:
                return None
            depth, width = proof["depth"], proof["width"]
            leaves = [
                OwnLeaf(
                    row["position"],
                    row["nonce"],
                    decode_amounts(row["amounts"]),
                    await _path(connection, proof_id, row["position"], depth, width),
                )
                for row in await connection.fetch(_OWN, user_id, proof_id, PORTIONS)
            ]
        return OwnProof(proof["statement"], width, leaves)


async def _path(connection: Connection, proof_id: str, position: int, depth: int, width: int) -> list[Node]:
    """The nodes beside the way from a leaf to the root: computed within its block, and read above it."""
    first = position - position % BLOCK
    rows = await connection.fetch(_BLOCK, proof_id, first, first + BLOCK)
    nodes = [
        padding(row["nonce"])
        if row["user_id"] is None
        else leaf(row["user_id"], row["nonce"], packed(decode_amounts(row["amounts"]), width), width)
        for row in rows
    ]
    path = path_in_block(nodes, position - first, width)
    levels = range(BLOCK_DEPTH, depth)
    above = await connection.fetch(_ABOVE, proof_id, list(levels), [(position >> level) ^ 1 for level in levels])
    return path + [Node(row["hash"], int.from_bytes(row["sums"], "big")) for row in above]
