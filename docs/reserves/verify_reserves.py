#!/usr/bin/env python3
"""Checks a proof of reserves of an OpenSpot exchange. Needs Python 3.9 or newer and nothing else.

    python3 verify_reserves.py proof.json --user YOUR_USER_ID [--digest HEX] [--expect BTC=1.5]
    python3 verify_reserves.py --whole export.jsonl [--digest HEX]

The first form checks what one user has downloaded: that each of the user's leaves leads to the root which the exchange
has published, that all sums on the way are sums, and that what the root states is owed is what it adds up to. Give the
digest that you have from elsewhere, such as another user: an exchange that shows different users different trees has
different digests. The second form checks the whole tree from the export that an exchange gives to an auditor.

Exit code 0: everything holds. 1: something does not, and the message says what. 2: the call was not understood.
"""

import argparse
import hashlib
import hmac
import json
import re
import sys

FORMAT = "openspot-reserves-1"
PLACES = 18
SUM_BYTES = 32
SUM_LIMIT = 1 << 192
DEPTH_MAX = 40
LINE_BYTES_MAX = 1 << 24
AMOUNT = re.compile(r"(0|[1-9][0-9]{0,39})(\.[0-9]{1,18})?")
HASH = re.compile(r"[0-9a-f]{64}")
ASSET = re.compile(r"[A-Z0-9]{1,16}")
WORD = re.compile(r"[\x21-\x7e]{1,64}")


class ProofError(Exception):
    """The proof does not hold. The message says why."""


def require(condition, message):
    """Raise ProofError with the message unless the condition holds."""
    if not condition:
        raise ProofError(message)


def field(record, name, kind):
    """A field of a JSON object, of that kind."""
    require(isinstance(record, dict), "a part of the proof is no JSON object")
    value = record.get(name)
    fits = isinstance(value, kind) and not (kind is int and isinstance(value, bool))
    require(fits, f"{name} is missing, or of another kind")
    return value


def text(record, name, pattern):
    """A field that is a text of that form."""
    value = field(record, name, str)
    require(pattern.fullmatch(value), f"{name} has another form: {value[:80]!r}")
    return value


def amount(value, name):
    """An amount as an integer with 18 places. It is never negative, and no number of JSON."""
    require(
        isinstance(value, str) and AMOUNT.fullmatch(value), f"{name} is no amount of 0 or more: {str(value)[:80]!r}"
    )
    whole, _, fraction = value.partition(".")
    number = int(whole + fraction.ljust(PLACES, "0"))
    require(number < SUM_LIMIT, f"{name} is too large")
    return number


def amounts(record, name, width):
    """A list of one amount for each asset."""
    values = field(record, name, list)
    require(len(values) == width, f"{name} has {len(values)} amounts for {width} assets")
    return [amount(value, f"{name}[{place}]") for place, value in enumerate(values)]


def shown(number):
    """An amount as text."""
    digits = str(number).rjust(PLACES + 1, "0")
    return (digits[:-PLACES] + "." + digits[-PLACES:]).rstrip("0").rstrip(".")


def encoded(sums):
    """The sums of a node as bytes."""
    return b"".join(each.to_bytes(SUM_BYTES, "big") for each in sums)


def leaf_hash(user, nonce, sums):
    """The hash of a user's leaf."""
    name = user.encode()
    require(1 <= len(name) <= 255, "the user id is empty or too long")
    return hashlib.sha256(b"\x00" + nonce + bytes([len(name)]) + name + encoded(sums)).digest()


def joined(left, right):
    """The node above two nodes, each a hash and its sums. The sums are added here and never taken from the proof."""
    content = b"\x01" + left[0] + encoded(left[1]) + right[0] + encoded(right[1])
    sums = [one + other for one, other in zip(left[1], right[1])]
    require(all(each < SUM_LIMIT for each in sums), "a sum is too large")
    return hashlib.sha256(content).digest(), sums


def checked_statement(statement, digest):
    """The depth, assets, root hash and liabilities of a statement whose digest is right, and is the expected one."""
    require(field(statement, "format", str) == FORMAT, f"the format is not {FORMAT}")
    depth, sequence = field(statement, "depth", int), field(statement, "sequence", int)
    require(1 <= depth <= DEPTH_MAX, f"a tree of depth {depth} cannot be")
    require(sequence >= 0, "sequence is negative")
    assets = field(statement, "assets", list)
    rows = []
    for place, asset in enumerate(assets):
        text(asset, "asset", ASSET)
        amount(asset.get("liabilities"), f"assets[{place}].liabilities")
        amount(asset.get("reserves"), f"assets[{place}].reserves")
        rows.append(f"{asset['asset']} {asset['liabilities']} {asset['reserves']}")
    names = [asset["asset"] for asset in assets]
    require(names == sorted(set(names)), "the assets are not in their order, or one is there twice")
    previous = None if statement.get("previous") is None else text(statement, "previous", HASH)
    lines = [
        FORMAT, text(statement, "id", WORD), text(statement, "takenAt", WORD), text(statement, "epoch", WORD),
        str(sequence), str(depth), text(statement, "rootHash", HASH), previous or "-", *rows,
    ]  # fmt: skip
    own = hashlib.sha256("".join(f"{line}\n" for line in lines).encode()).hexdigest()
    require(hmac.compare_digest(own, text(statement, "digest", HASH)), "the digest is not that of the statement")
    if digest:
        require(own == digest.lower(), f"the digest is {own}, not the expected one: you are shown another tree")
    liabilities = [amount(asset["liabilities"], "liabilities") for asset in assets]
    return depth, names, bytes.fromhex(statement["rootHash"]), liabilities


def check_user(proof, user, digest=None):
    """Check a user's proof. Returns what it says the user is owed, by asset. Raises ProofError."""
    depth, assets, root, liabilities = checked_statement(field(proof, "statement", dict), digest)
    require(field(proof, "userId", str) == user, "the proof is that of another user id")
    leaves = field(proof, "leaves", list)
    require(leaves, "the proof has no leaf: the tree does not say that you are owed anything")
    total, positions = [0] * len(assets), set()
    for leaf in leaves:
        position = field(leaf, "position", int)
        require(0 <= position < 1 << depth, "a leaf is beside the tree")
        require(position not in positions, "the same leaf is there twice")
        positions.add(position)
        owed = amounts(leaf, "balances", len(assets))
        node = leaf_hash(user, bytes.fromhex(text(leaf, "nonce", HASH)), owed), owed
        path = field(leaf, "path", list)
        require(len(path) == depth, f"a path has {len(path)} nodes in a tree of depth {depth}")
        for step in path:
            beside = bytes.fromhex(text(step, "hash", HASH)), amounts(step, "sums", len(assets))
            node = joined(beside, node) if position & 1 else joined(node, beside)
            position >>= 1
        require(node[0] == root, "a leaf does not lead to the root that was published")
        require(node[1] == liabilities, "the sums of the root are not what the statement says is owed")
        total = [one + other for one, other in zip(total, owed)]
    return dict(zip(assets, total))


def check_whole(lines, digest=None):
    """Check the whole tree of an export. Returns the statement and the number of users. Raises ProofError."""
    statement = parsed(next(lines, ""))
    depth, assets, root, liabilities = checked_statement(statement, digest)
    waiting, count, users, last = [None] * (depth + 1), 0, set(), None
    for line in lines:
        require(count < 1 << depth, "there are more leaves than the tree has places")
        record = parsed(line)
        nonce = bytes.fromhex(text(record, "nonce", HASH))
        if record.get("userId") is None:
            node = hashlib.sha256(b"\x02" + nonce).digest(), [0] * len(assets)
        else:
            owed = amounts(record, "balances", len(assets))
            node = leaf_hash(field(record, "userId", str), nonce, owed), owed
            users.add(hashlib.sha256(record["userId"].encode()).digest()[:12])
        count, level = count + 1, 0
        while level < depth and waiting[level] is not None:
            node, waiting[level], level = joined(waiting[level], node), None, level + 1
        waiting[level] = node
        last = node
    require(count == 1 << depth, f"there are {count} leaves, the tree has {1 << depth}")
    require(last == waiting[depth] and last[0] == root, "the leaves do not make the root that was published")
    require(last[1] == liabilities, "the sums of the leaves are not what the statement says is owed")
    return statement, len(users)


def parsed(line):
    """A JSON object. Raises ProofError for anything else."""
    require(len(line) <= LINE_BYTES_MAX, "a line is too long")
    try:
        value = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise ProofError(f"this is no JSON: {error}") from error
    require(isinstance(value, dict), "this is no JSON object")
    return value


def report(statement):
    """Lines about what the statement says is owed and held."""
    yield f"digest  {statement['digest']}"
    yield f"taken   {statement['takenAt']}, after the engine's event {statement['sequence']} of {statement['epoch']}"
    for asset in statement["assets"]:
        owed, held = amount(asset["liabilities"], "liabilities"), amount(asset["reserves"], "reserves")
        share = held * 10_000 // owed if owed else 10_000
        warning = "  LESS THAN IS OWED" if held < owed else ""
        yield f"{asset['asset']:8} owed {shown(owed)}, held {shown(held)}, {share // 100}.{share % 100:02} %{warning}"


def expectations(values):
    """What the user expects, by asset, from arguments such as BTC=1.5."""
    found = {}
    for value in values:
        asset, _, number = value.partition("=")
        found[asset] = amount(number, f"--expect {asset}")
    return found


def main(arguments=None):
    """Run the command; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", help="the proof that you have downloaded, or with --whole the export")
    parser.add_argument("--user", help="your user id")
    parser.add_argument("--whole", action="store_true", help="check the whole tree of an export")
    parser.add_argument("--digest", help="the digest that you know from elsewhere")
    parser.add_argument("--expect", action="append", default=[], metavar="ASSET=AMOUNT", help="what you are owed")
    given = parser.parse_args(arguments)
    if not given.whole and not given.user:
        parser.error("--user is needed: the id of your account, from the exchange's page of your account")
    try:
        with open(given.file, encoding="utf-8") as source:
            if given.whole:
                statement, users = check_whole(iter(lambda: source.readline(LINE_BYTES_MAX + 1), ""), given.digest)
                print(f"The tree holds: {users} users in {1 << statement['depth']} leaves.")
            else:
                proof = parsed(source.read(LINE_BYTES_MAX + 1))
                owed = check_user(proof, given.user, given.digest)
                statement = proof["statement"]
                print("The proof holds. The tree says that you are owed:")
                for asset, number in owed.items():
                    print(f"{asset:8} {shown(number)}")
                for asset, number in expectations(given.expect).items():
                    difference = f"you expect {shown(number)} {asset}, the tree has {shown(owed.get(asset, 0))}"
                    require(owed.get(asset, 0) == number, difference)
    except ProofError as error:
        print(f"THE PROOF DOES NOT HOLD: {error}", file=sys.stderr)
        return 1
    except OSError as error:
        print(f"{given.file} cannot be read: {error}", file=sys.stderr)
        return 2
    except ValueError as error:
        print(f"THE PROOF DOES NOT HOLD: it cannot be read: {error}", file=sys.stderr)
        return 1
    for line in report(statement):
        print(line)
    return 0


if __name__ == "__main__":
    sys.exit(main())
