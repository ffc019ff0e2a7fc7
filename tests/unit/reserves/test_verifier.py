"""The standalone verifier takes what the platform proves, and refuses every way of proving too little."""

import copy
import hashlib
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from openspot.domain.reserves import Node, digest_of, leaf, packed, statement_json, statement_of
from tests.support.reserve_trees import VERIFIER, SmallTree, node_json, nonce, verifier

UNIT = 10**18
VERIFY = verifier()
TREE = SmallTree(
    [
        ("alice", {0: 3 * UNIT, 1: 5}),
        ("bob", {1: 100 * UNIT}),
        None,
        ("carol", {0: 7}),
        ("alice", {0: UNIT // 2}),
        None,
        ("bob", {}),
        ("carol", {1: UNIT}),
    ]
)


def refusal(proof: dict[str, Any], user: str = "alice", digest: str | None = None) -> str:
    with pytest.raises(VERIFY.ProofError) as refused:
        VERIFY.check_user(proof, user, digest)
    return str(refused.value)


def restated(statement: dict[str, Any], **changed: Any) -> dict[str, Any]:
    """The statement with other fields, and the digest that belongs to them."""
    changed_statement = statement | changed
    return changed_statement | {"digest": digest_of(statement_of(changed_statement)).hex()}


def test_a_user_finds_the_sum_of_all_own_leaves() -> None:
    assert VERIFY.check_user(TREE.proof("alice"), "alice") == {"BTC": 3 * UNIT + UNIT // 2, "USD": 5}
    assert VERIFY.check_user(TREE.proof("bob"), "bob") == {"BTC": 0, "USD": 100 * UNIT}


def test_the_whole_tree_of_an_export_holds_and_counts_its_users() -> None:
    lines = (json.dumps(line) for line in TREE.export())
    statement, users = VERIFY.check_whole(lines)
    assert (statement["assets"][0]["liabilities"], users) == ("3.500000000000000007", 3)


def test_two_users_cannot_be_shown_the_same_leaf() -> None:
    shared = TREE.proof("alice") | {"userId": "mallory"}
    assert refusal(shared, "mallory") == "a leaf does not lead to the root that was published"
    assert refusal(TREE.proof("alice"), "mallory") == "the proof is that of another user id"


def test_a_leaf_counts_once() -> None:
    proof = TREE.proof("alice")
    proof["leaves"].append(copy.deepcopy(proof["leaves"][0]))
    assert refusal(proof) == "the same leaf is there twice"


@pytest.mark.parametrize("amount", ["-1", "-0", "+1", "1e3", "01", "1.", ".5", "", " 1", "NaN", 1, None, "1" * 41])
def test_an_amount_is_a_plain_number_of_zero_or_more(amount: object) -> None:
    for place in (("balances",), ("path", 0, "sums")):
        proof = TREE.proof("alice")
        part = proof["leaves"][0]
        for step in place:
            part = part[step]
        part[1] = amount
        assert "is no amount of 0 or more" in refusal(proof)


def test_a_negative_balance_beside_a_user_is_refused_although_every_hash_and_sum_fits() -> None:
    """The exchange makes a leaf of -100 USD, as two's complement, so that the sum is small."""
    wrapped = 2**256 - 100 * UNIT
    alice = leaf("alice", nonce(0), packed({1: 100 * UNIT}, 2), 2)
    content = b"\x00" + nonce(1) + b"\x03bob" + (0).to_bytes(32, "big") + wrapped.to_bytes(32, "big")
    bob = Node(hashlib.sha256(content).digest(), wrapped)
    size = 64
    joined = b"\x01" + alice.hash + alice.sums.to_bytes(size, "big") + bob.hash + bob.sums.to_bytes(size, "big")
    root = Node(hashlib.sha256(joined).digest(), 0)
    tree = SmallTree([("alice", {1: 100 * UNIT}), None])
    proof = tree.proof("alice") | {"statement": tree.statement(root)}
    for told in ("-100", str(wrapped // UNIT) + ".000000000000000000"):
        proof["leaves"][0]["path"][0] = {"hash": bob.hash.hex(), "sums": ["0", told]}
        assert "is no amount" in refusal(proof)
    proof["leaves"][0]["path"][0] = {"hash": bob.hash.hex(), "sums": ["0", str(2**192 // UNIT - 1)]}
    assert refusal(proof) == "a sum is too large"


def test_sums_that_run_over_are_refused() -> None:
    proof = TREE.proof("alice")
    largest = VERIFY.shown(2**192 - 1)
    proof["leaves"][0]["path"][0]["sums"] = [largest, largest]
    assert refusal(proof) in ("a sum is too large", "balances[0] is too large")


def inner(combine: Callable[[int, int], int], *, commits_to_children: bool) -> tuple[SmallTree, Node]:
    """A tree of two leaves whose root has another sum than that of both, and perhaps commits to the total alone."""
    tree = SmallTree([("alice", {1: 60 * UNIT}), ("bob", {1: 40 * UNIT})])
    left, right = tree.nodes
    total = combine(left.sums, right.sums)
    parts = (
        (b"\x01", left.hash, left.sums.to_bytes(64, "big"), right.hash, right.sums.to_bytes(64, "big"))
        if commits_to_children
        else (b"\x01", left.hash, right.hash, total.to_bytes(64, "big"))
    )
    return tree, Node(hashlib.sha256(b"".join(parts)).digest(), total)


def test_a_root_that_states_the_larger_child_in_place_of_the_sum_is_refused() -> None:
    tree, root = inner(max, commits_to_children=True)
    assert tree.statement(root)["assets"][1]["liabilities"] == "60"
    for user in ("alice", "bob"):
        proof = tree.proof(user) | {"statement": tree.statement(root)}
        assert refusal(proof, user) == "the sums of the root are not what the statement says is owed"


def test_a_node_that_commits_to_the_total_alone_is_refused() -> None:
    """The broken sum tree of Maxwell's scheme: each user is shown another sum beside their own."""
    tree, root = inner(max, commits_to_children=False)
    alice, bob = (tree.proof(user) | {"statement": tree.statement(root)} for user in ("alice", "bob"))
    alice["leaves"][0]["path"][0]["sums"] = ["0", "0"]
    bob["leaves"][0]["path"][0]["sums"] = ["0", "20"]
    assert refusal(alice) == "a leaf does not lead to the root that was published"
    assert refusal(bob, "bob") == "a leaf does not lead to the root that was published"


def test_sums_cannot_move_between_assets_or_nodes() -> None:
    proof = TREE.proof("alice")
    sums = proof["leaves"][0]["path"][1]["sums"]
    sums.reverse()
    assert refusal(proof) == "a leaf does not lead to the root that was published"


def test_an_inner_node_is_no_leaf_and_a_path_has_the_depth_of_the_tree() -> None:
    proof = TREE.proof("alice")
    proof["leaves"][0]["path"].pop()
    assert refusal(proof) == "a path has 2 nodes in a tree of depth 3"
    proof = TREE.proof("alice")
    proof["leaves"][0]["position"] = 8
    assert refusal(proof) == "a leaf is beside the tree"
    proof = TREE.proof("alice")
    proof["leaves"][0]["position"] = 1
    assert refusal(proof) == "a leaf does not lead to the root that was published"


def test_another_tree_than_others_see_has_another_digest() -> None:
    proof, others = TREE.proof("alice"), TREE.statement()["digest"]
    assert VERIFY.check_user(proof, "alice", others.upper())
    own_tree = SmallTree([("alice", {0: 3 * UNIT + UNIT // 2, 1: 5}), None])
    assert "you are shown another tree" in refusal(own_tree.proof("alice"), digest=others)


@pytest.mark.parametrize(
    ("field", "value", "reason"),
    [
        ("rootHash", "0" * 64, "a leaf does not lead to the root that was published"),
        ("depth", 4, "a path has 3 nodes in a tree of depth 4"),
        ("depth", 41, "a tree of depth 41 cannot be"),
        ("depth", True, "depth is missing, or of another kind"),
        ("sequence", -1, "sequence is negative"),
        ("id", "a b", "id has another form: 'a b'"),
        ("takenAt", "now\nBTC 0 0", "takenAt has another form: 'now\\nBTC 0 0'"),
    ],
)
def test_a_statement_that_was_changed_is_refused(field: str, value: object, reason: str) -> None:
    proof = TREE.proof("alice")
    proof["statement"] = restated(proof["statement"], **{field: value})
    assert refusal(proof) == reason


def test_what_the_statement_says_is_owed_is_bound_to_the_digest_and_to_the_root() -> None:
    proof = TREE.proof("alice")
    proof["statement"]["assets"][0]["liabilities"] = "1"
    assert refusal(proof) == "the digest is not that of the statement"
    proof["statement"] = restated(proof["statement"])
    assert refusal(proof) == "the sums of the root are not what the statement says is owed"
    proof["statement"] = restated(TREE.statement(), assets=TREE.statement()["assets"][::-1])
    assert refusal(proof) == "the assets are not in their order, or one is there twice"


def test_a_proof_without_leaves_proves_nothing() -> None:
    assert refusal(TREE.proof("nobody"), "nobody").startswith("the proof has no leaf")


@pytest.mark.parametrize("cut", ["statement", "userId", "leaves"])
def test_a_proof_with_a_part_missing_is_refused_by_name(cut: str) -> None:
    proof = TREE.proof("alice")
    del proof[cut]
    assert refusal(proof) == f"{cut} is missing, or of another kind"


def changed_export(change: Callable[[list[dict[str, Any]]], object]) -> str:
    lines = TREE.export()
    change(lines)
    with pytest.raises(VERIFY.ProofError) as refused:
        VERIFY.check_whole(json.dumps(line) for line in lines)
    return str(refused.value)


def test_an_export_that_lacks_or_changes_a_leaf_is_refused() -> None:
    other = "the leaves do not make the root that was published"
    assert changed_export(lambda lines: lines.pop()) == "there are 7 leaves, the tree has 8"
    assert changed_export(lambda lines: lines.append(lines[1])) == "there are more leaves than the tree has places"
    assert changed_export(lambda lines: lines.insert(1, lines.pop())) == other
    assert changed_export(lambda lines: lines[1].update(userId="mallory")) == other
    assert changed_export(lambda lines: lines[1].update(userId=None)) == other
    assert "is no amount of 0 or more" in changed_export(lambda lines: lines[1].update(balances=["-1", "0"]))


def run(*arguments: str) -> tuple[int, str, str]:
    ended = subprocess.run(
        [sys.executable, "-I", str(VERIFIER), *arguments], capture_output=True, text=True, timeout=60, check=False
    )
    return ended.returncode, ended.stdout, ended.stderr


def test_as_a_command_it_says_what_holds_and_what_does_not(tmp_path: Path) -> None:
    good, bad, whole = tmp_path / "good.json", tmp_path / "bad.json", tmp_path / "whole.jsonl"
    proof = TREE.proof("alice")
    good.write_text(json.dumps(proof | {"statement": TREE.statement(reserves=["3", "200"])}))
    whole.write_text("".join(f"{json.dumps(line)}\n" for line in TREE.export()))
    code, said, _ = run(str(good), "--user", "alice", "--expect", "BTC=3.5")
    assert code == 0
    assert "BTC      3.5\n" in said
    assert "BTC      owed 3.500000000000000007, held 3, 85.71 %  LESS THAN IS OWED\n" in said
    assert "USD      owed 101.000000000000000005, held 200, 198.01 %\n" in said
    code, _, error = run(str(good), "--user", "alice", "--expect", "BTC=3.6")
    assert (code, "you expect 3.6 BTC, the tree has 3.5" in error) == (1, True)
    proof["leaves"][0]["balances"][0] = "2"
    bad.write_text(json.dumps(proof))
    code, _, error = run(str(bad), "--user", "alice")
    assert (code, error) == (1, "THE PROOF DOES NOT HOLD: a leaf does not lead to the root that was published\n")
    bad.write_text("[" * 100_000)
    assert run(str(bad), "--user", "alice")[0] == 1
    assert run(str(tmp_path / "none"), "--user", "alice")[0] == 2
    assert run(str(good))[0] == 2
    code, said, _ = run("--whole", str(whole), "--digest", TREE.statement()["digest"])
    assert (code, said.splitlines()[0]) == (0, "The tree holds: 3 users in 8 leaves.")


def test_the_statement_reads_back_as_it_was_written() -> None:
    statement = TREE.statement()
    assert statement_json(statement_of(statement), statement["digest"]) == statement
    assert node_json(TREE.nodes[0], 2)["sums"] == ["3", "0.000000000000000005"]


def test_the_browser_is_tested_with_the_same_proof() -> None:
    example = Path(__file__).parents[3] / "web/trade/src/reserves/example.json"
    assert json.loads(example.read_text()) == TREE.proof("alice")
