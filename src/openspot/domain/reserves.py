"""A Merkle sum tree over what the exchange owes: its nodes, its leaves, a leaf's path, and the statement of a proof.

A node is a hash and the sum of each asset. A parent commits to the hash and to the sums of *both* children, and its
sums are those of the children added up. A parent that commits to the total alone, or whose sum is anything but the
addition, would let an exchange leave out what it owes (Chalkias and others, "Broken proofs of solvency").

Amounts are integers with 18 places. They are never negative, and all sums of a node are held in one integer with 256
bits for each asset, the first asset in the highest: adding two of them adds every asset at once. An amount of a leaf is
below 2^128, so no sum of fewer than 2^64 leaves runs into its neighbour.

docs/guides/proof-of-reserves.md says the same in words, docs/reserves/verify_reserves.py once more without this code.
"""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

FORMAT = "openspot-reserves-1"
SUM_BYTES = 32
LEAF_AMOUNT_BYTES = 16
NONCE_BYTES = 32
PORTIONS = 2
"""What a user is owed is divided at random among this many leaves: a neighbour sees a part of somebody's balance."""
DEPTH_MAX = 40
BLOCK_DEPTH = 8
"""The nodes of this level and above are kept; those below are computed from the 256 leaves of a block."""
BLOCK = 2**BLOCK_DEPTH

_LEAF, _NODE, _PADDING = b"\x00", b"\x01", b"\x02"
_USER_BYTES_MAX = 255


class Node(NamedTuple):
    """A node of the tree. `sums` has 256 bits for each asset, the first asset in the highest."""

    hash: bytes
    sums: int


class KeptNode(NamedTuple):
    """A node with its place: `level` 0 are the leaves, `position` counts from the left."""

    level: int
    position: int
    node: Node


class Statement(NamedTuple):
    """What a proof states. Times are ISO 8601 in UTC, amounts plain decimal texts, hashes in hexadecimal.

    `liabilities` and `reserves` are by asset, in the order of `assets`. `previous` is the digest of the proof before
    this one, None for the first.
    """

    proof_id: str
    taken_at: str
    epoch: str
    sequence: int
    depth: int
    root_hash: str
    previous: str | None
    assets: Sequence[str]
    liabilities: Sequence[str]
    reserves: Sequence[str]


def packed(amounts: Mapping[int, int], width: int) -> int:
    """The sums of a leaf: `amounts` by the number of the asset, of `width` assets.

    Raises ValueError for an amount that is negative or too large.
    """
    sums = 0
    for asset, amount in amounts.items():
        if not 0 <= amount < 2 ** (8 * LEAF_AMOUNT_BYTES):
            raise ValueError(f"the amount {amount} of asset {asset} is negative or too large for a leaf")
        sums |= amount << (8 * SUM_BYTES * (width - 1 - asset))
    return sums


def unpacked(sums: int, width: int) -> list[int]:
    """The sum of each of `width` assets."""
    content = sums.to_bytes(SUM_BYTES * width, "big")
    return [int.from_bytes(content[at : at + SUM_BYTES], "big") for at in range(0, len(content), SUM_BYTES)]


def leaf(user_id: str, nonce: bytes, sums: int, width: int) -> Node:
    """A leaf of a user. Raises ValueError for an id that is empty or too long."""
    name = user_id.encode()
    if not 1 <= len(name) <= _USER_BYTES_MAX:
        raise ValueError(f"the user id {user_id!r} has {len(name)} bytes")
    content = _LEAF + nonce + bytes((len(name),)) + name + sums.to_bytes(SUM_BYTES * width, "big")
    return Node(hashlib.sha256(content).digest(), sums)


def padding(nonce: bytes) -> Node:
    """A leaf of nobody, with nothing."""
    return Node(hashlib.sha256(_PADDING + nonce).digest(), 0)


def parent(left: Node, right: Node, width: int) -> Node:
    """The node above two others."""
    size = SUM_BYTES * width
    content = b"".join(
        (_NODE, left.hash, left.sums.to_bytes(size, "big"), right.hash, right.sums.to_bytes(size, "big"))
    )
    return Node(hashlib.sha256(content).digest(), left.sums + right.sums)


class TreeBuilder:
    """Makes the tree from its leaves, given from left to right. Holds one node of each level.

    `add` yields the nodes that are complete with this leaf, of the levels from `kept_from` on.
    """

    def __init__(self, depth: int, width: int, kept_from: int = 0) -> None:
        self._depth = depth
        self._width = width
        self._kept_from = kept_from
        self._waiting: list[Node | None] = [None] * (depth + 1)
        self._count = 0

    def add(self, node: Node) -> Iterator[KeptNode]:
        """Take the next leaf. Raises ValueError if the tree is full."""
        if self._count >> self._depth:
            raise ValueError("the tree is full")
        position, level = self._count, 0
        self._count += 1
        while True:
            if level >= self._kept_from:
                yield KeptNode(level, position, node)
            left = self._waiting[level]
            if left is None:
                self._waiting[level] = node
                return
            self._waiting[level] = None
            node, position, level = parent(left, node, self._width), position >> 1, level + 1

    def root(self) -> Node:
        """The root. Raises ValueError if leaves are missing."""
        root = self._waiting[self._depth]
        if root is None:
            raise ValueError(f"the tree has {self._count} of its {1 << self._depth} leaves")
        return root


def path_in_block(leaves: Sequence[Node], index: int, width: int) -> list[Node]:
    """The nodes beside the way of leaf `index` up to the top of a block, whose size is a power of two."""
    path, level = [], list(leaves)
    while len(level) > 1:
        path.append(level[index ^ 1])
        level = [parent(level[at], level[at + 1], width) for at in range(0, len(level), 2)]
        index >>= 1
    return path


def depth_for(leaves: int) -> int:
    """The depth of a tree for so many leaves and at least one of nobody.

    Raises ValueError if verifiers would refuse a tree of that depth.
    """
    depth = max(1, leaves.bit_length())
    if depth > DEPTH_MAX:
        raise ValueError(f"{leaves} leaves need more than {DEPTH_MAX} levels")
    return depth


def digest_of(statement: Statement) -> bytes:
    """The SHA-256 of the statement's lines. Whoever knows the digest of one has been shown the same as all others."""
    lines = [
        FORMAT,
        statement.proof_id,
        statement.taken_at,
        statement.epoch,
        str(statement.sequence),
        str(statement.depth),
        statement.root_hash,
        statement.previous or "-",
        *(
            f"{asset} {owed} {held}"
            for asset, owed, held in zip(statement.assets, statement.liabilities, statement.reserves, strict=True)
        ),
    ]
    return hashlib.sha256("".join(f"{line}\n" for line in lines).encode()).digest()


def encode_amounts(amounts: Mapping[int, int]) -> bytes:
    """The amounts of a leaf as they are stored: for each asset that is not 0, its number and its amount."""
    return b"".join(
        asset.to_bytes(2, "big") + amount.to_bytes(LEAF_AMOUNT_BYTES, "big")
        for asset, amount in amounts.items()
        if amount
    )


def decode_amounts(content: bytes) -> dict[int, int]:
    """The amounts that `encode_amounts` wrote."""
    size = 2 + LEAF_AMOUNT_BYTES
    return {
        int.from_bytes(content[at : at + 2], "big"): int.from_bytes(content[at + 2 : at + size], "big")
        for at in range(0, len(content), size)
    }


def statement_json(statement: Statement, digest: str) -> dict[str, object]:
    """A statement and its digest as JSON, as users and auditors get it."""
    return {
        "format": FORMAT,
        "id": statement.proof_id,
        "takenAt": statement.taken_at,
        "epoch": statement.epoch,
        "sequence": statement.sequence,
        "depth": statement.depth,
        "rootHash": statement.root_hash,
        "previous": statement.previous,
        "assets": [
            {"asset": asset, "liabilities": owed, "reserves": held}
            for asset, owed, held in zip(statement.assets, statement.liabilities, statement.reserves, strict=True)
        ],
        "digest": digest,
    }


def statement_of(record: Mapping[str, Any]) -> Statement:
    """The opposite of `statement_json`. Raises KeyError for a field that is missing."""
    assets = record["assets"]
    return Statement(
        proof_id=record["id"],
        taken_at=record["takenAt"],
        epoch=record["epoch"],
        sequence=record["sequence"],
        depth=record["depth"],
        root_hash=record["rootHash"],
        previous=record["previous"],
        assets=[each["asset"] for each in assets],
        liabilities=[each["liabilities"] for each in assets],
        reserves=[each["reserves"] for each in assets],
    )
