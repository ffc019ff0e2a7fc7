"""The rules of the tree: sums of all assets at once, nodes as they are made, leaves as they are stored."""

import pytest

from openspot.domain.reserves import (
    Node,
    TreeBuilder,
    decode_amounts,
    depth_for,
    encode_amounts,
    leaf,
    packed,
    padding,
    path_in_block,
    unpacked,
)
from tests.support.reserve_trees import nonce, root_of

LARGEST = 2**128 - 1


def leaves_of(count: int) -> list[Node]:
    return [leaf(f"user-{number}", nonce(number), packed({0: number, 2: LARGEST}, 3), 3) for number in range(count)]


def test_sums_of_the_largest_amounts_do_not_touch_their_neighbours() -> None:
    sums = sum(node.sums for node in leaves_of(1024))
    assert unpacked(sums, 3) == [1023 * 1024 // 2, 0, 1024 * LARGEST]


@pytest.mark.parametrize("amount", [-1, LARGEST + 1])
def test_a_leaf_takes_no_negative_amount_and_none_that_is_too_large(amount: int) -> None:
    with pytest.raises(ValueError, match="negative or too large"):
        packed({0: amount}, 1)


@pytest.mark.parametrize("user", ["", "x" * 256])
def test_a_leaf_names_its_user(user: str) -> None:
    with pytest.raises(ValueError, match="the user id"):
        leaf(user, nonce(1), 0, 1)


@pytest.mark.parametrize("depth", [1, 2, 5, 10])
def test_every_leaf_leads_to_the_root_that_the_builder_makes(depth: int) -> None:
    leaves = leaves_of(1 << depth)
    tree = TreeBuilder(depth, 3)
    kept = [each for node in leaves for each in tree.add(node)]
    assert len(kept) == (2 << depth) - 1
    assert kept[-1].node == tree.root()
    for place in {0, 1, (1 << depth) // 2, (1 << depth) - 1}:
        path = path_in_block(leaves, place, 3)
        assert root_of(leaves[place], place, path, 3) == tree.root()
    assert unpacked(tree.root().sums, 3)[2] == LARGEST << depth


def test_the_builder_yields_the_nodes_of_the_kept_levels_and_wants_every_leaf() -> None:
    tree = TreeBuilder(3, 3, 2)
    leaves = leaves_of(8)
    kept = [(each.level, each.position) for node in leaves[:7] for each in tree.add(node)]
    assert kept == [(2, 0)]
    with pytest.raises(ValueError, match="7 of its 8 leaves"):
        tree.root()
    assert [(each.level, each.position) for each in tree.add(leaves[7])] == [(2, 1), (3, 0)]
    with pytest.raises(ValueError, match="full"):
        next(iter(tree.add(leaves[0])))


def test_a_tree_always_has_a_leaf_of_nobody() -> None:
    assert [(count, depth_for(count)) for count in (0, 1, 2, 3, 4, 7, 8)] == [
        (0, 1), (1, 1), (2, 2), (3, 2), (4, 3), (7, 3), (8, 4),
    ]  # fmt: skip
    assert padding(nonce(1)) != padding(nonce(2))
    assert padding(nonce(1)).sums == 0


def test_amounts_are_stored_without_those_that_are_zero() -> None:
    amounts = {0: 5, 3: 0, 65_535: LARGEST}
    assert decode_amounts(encode_amounts(amounts)) == {0: 5, 65_535: LARGEST}
    assert encode_amounts({}) == b""
