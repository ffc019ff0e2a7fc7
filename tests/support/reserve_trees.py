"""Trees of reserves for tests, and the verifier that users download."""

import importlib.util
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

from openspot.domain.money import amount_to_text
from openspot.domain.reserves import (
    FORMAT,
    Node,
    Statement,
    digest_of,
    leaf,
    packed,
    padding,
    parent,
    path_in_block,
    statement_json,
    unpacked,
)

VERIFIER = Path(__file__).parents[2] / "docs/reserves/verify_reserves.py"


def root_of(node: Node, position: int, path: Sequence[Node], width: int) -> Node:
    """The root that follows from a leaf at `position` and its path."""
    for beside in path:
        node = parent(beside, node, width) if position & 1 else parent(node, beside, width)
        position >>= 1
    return node


def verifier() -> ModuleType:
    """The standalone verifier as a module."""
    spec = importlib.util.spec_from_file_location("verify_reserves", VERIFIER)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def nonce(number: int) -> bytes:
    """A nonce of a test."""
    return number.to_bytes(32, "big")


@dataclass
class SmallTree:
    """A tree of some leaves, each a user with amounts in the assets' smallest units; None is a leaf of nobody."""

    leaves: Sequence[tuple[str, Mapping[int, int]] | None]
    assets: Sequence[str] = ("BTC", "USD")
    nodes: list[Node] = field(init=False)

    def __post_init__(self) -> None:
        width = len(self.assets)
        self.nodes = [
            padding(nonce(place)) if each is None else leaf(each[0], nonce(place), packed(each[1], width), width)
            for place, each in enumerate(self.leaves)
        ]

    @property
    def root(self) -> Node:
        """The root."""
        width = len(self.assets)
        return root_of(self.nodes[0], 0, path_in_block(self.nodes, 0, width), width)

    def statement(self, root: Node | None = None, reserves: Sequence[str] | None = None) -> dict[str, Any]:
        """The published statement, of another root if one is given."""
        top = self.root if root is None else root
        owed = [amount_to_text(each) for each in unpacked(top.sums, len(self.assets))]
        made = Statement(
            "proof-1", "2026-01-02T03:04:05.000Z", "epoch-1", 77, (len(self.leaves) - 1).bit_length(), top.hash.hex(),
            None, self.assets, owed, owed if reserves is None else reserves,
        )  # fmt: skip
        return statement_json(made, digest_of(made).hex())

    def proof(self, user: str) -> dict[str, Any]:
        """The proof of a user, as it is downloaded."""
        width = len(self.assets)
        leaves = []
        for place, each in enumerate(self.leaves):
            if each is not None and each[0] == user:
                path = path_in_block(self.nodes, place, width)
                leaves.append(
                    {
                        "position": place,
                        "nonce": nonce(place).hex(),
                        "balances": [amount_to_text(each[1].get(asset, 0)) for asset in range(width)],
                        "path": [node_json(node, width) for node in path],
                    }
                )
        return {"statement": self.statement(), "userId": user, "leaves": leaves}

    def export(self) -> list[dict[str, Any]]:
        """The export of the whole tree."""
        lines: list[dict[str, Any]] = [self.statement()]
        for place, each in enumerate(self.leaves):
            line: dict[str, Any] = {"userId": None, "nonce": nonce(place).hex()}
            if each is not None:
                balances = [amount_to_text(each[1].get(asset, 0)) for asset in range(len(self.assets))]
                line |= {"userId": each[0], "balances": balances}
            lines.append(line)
        return lines


def node_json(node: Node, width: int) -> dict[str, Any]:
    """A node beside a path."""
    return {"hash": node.hash.hex(), "sums": [amount_to_text(each) for each in unpacked(node.sums, width)]}


__all__ = ["FORMAT", "VERIFIER", "SmallTree", "node_json", "nonce", "parent", "verifier"]
