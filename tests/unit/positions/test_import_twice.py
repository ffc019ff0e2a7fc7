"""Import of transactions that were imported before: a repetition changes nothing, other content is refused."""

import random

from hypothesis import given
from hypothesis import strategies as st

from openspot.domain.money import AMOUNT_SCALE
from openspot.positions.fifo_transaction import FifoTransaction, TransactionKind
from openspot.positions.import_records import Reason, Refused, refusal
from openspot.positions.import_rules import (
    AcceptedTransaction,
    Parsed,
    RepeatedTransaction,
    fingerprint,
    sort_out_known,
)

UNIT = AMOUNT_SCALE
NOON = 1_704_196_800_000
"""2024-01-02 12:00 UTC."""


def batch(*names: str, value: int = 10) -> list[Parsed]:
    return [
        Parsed(line, FifoTransaction(name, NOON, TransactionKind.ACQUISITION, "main", "BTC", UNIT, value))
        for line, name in enumerate(names, start=2)
    ]


def test_an_id_that_is_known_is_a_repetition_or_with_other_content_refused() -> None:
    known = {item.transaction.external_id: fingerprint(item.transaction) for item in batch("a", "b")}
    results = list(sort_out_known([*batch("a", "c", "c"), *batch("b", "c", value=11)], known))
    assert [type(result) for result in results] == [
        RepeatedTransaction,
        AcceptedTransaction,
        RepeatedTransaction,
        Refused,
        Refused,
    ]
    assert results[0] == RepeatedTransaction(2, "a")
    (item,) = batch("c")
    assert results[1] == AcceptedTransaction(3, item.transaction, fingerprint(item.transaction))
    assert results[3] == Refused(2, "b", (Reason("externalId", "was imported before with other content"),))


def test_a_refused_row_does_not_keep_the_others_from_being_imported() -> None:
    (item,) = batch("a")
    refused = refusal(7, "is not valid CSV")
    assert list(sort_out_known([refused, item, refused], {})) == [
        refused,
        AcceptedTransaction(2, item.transaction, fingerprint(item.transaction)),
        refused,
    ]


def test_a_fingerprint_is_the_same_in_every_release() -> None:
    """The fingerprints of earlier imports are in the database."""
    found = fingerprint(FifoTransaction("a", 1, TransactionKind.TRANSFER, "main", "BTC", 5, 0, 1, "BNB", 1, "cold"))
    assert found == "7b9313518c0be173fb4518ba4e5b4d4745179a24299d81d00101dd528977cce0"


@given(st.integers(0, 2**32), st.integers(1, 7))
def test_importing_twice_is_importing_once(seed: int, size: int) -> None:
    """Batches of any size, rows repeated and mixed: what is stored is each transaction once."""
    source = random.Random(seed)
    rows: list[Parsed | Refused] = list(batch(*[f"t{source.randrange(12)}" for _ in range(30)]))
    stored: dict[str, FifoTransaction] = {}
    known: dict[str, str] = {}

    def import_all(items: list[Parsed | Refused]) -> int:
        accepted = 0
        for start in range(0, len(items), size):
            part = items[start : start + size]
            for result in sort_out_known(part, known):
                if isinstance(result, AcceptedTransaction):
                    assert result.transaction.external_id not in stored
                    stored[result.transaction.external_id] = result.transaction
                    accepted += 1
            known.update({name: fingerprint(item) for name, item in stored.items()})
        return accepted

    assert import_all(rows) == len({item.transaction.external_id for item in rows if isinstance(item, Parsed)})
    source.shuffle(rows)
    assert import_all(rows) == 0


def test_every_field_counts_for_the_fingerprint() -> None:
    base = FifoTransaction("a", 1, TransactionKind.TRANSFER, "main", "BTC", 5, 0, 1, "BNB", 1, "cold")
    marks = {fingerprint(base)}
    for changed in (
        FifoTransaction("b", 1, TransactionKind.TRANSFER, "main", "BTC", 5, 0, 1, "BNB", 1, "cold"),
        FifoTransaction("a", 2, TransactionKind.TRANSFER, "main", "BTC", 5, 0, 1, "BNB", 1, "cold"),
        FifoTransaction("a", 1, TransactionKind.TRANSFER, "desk", "BTC", 5, 0, 1, "BNB", 1, "cold"),
        FifoTransaction("a", 1, TransactionKind.TRANSFER, "main", "ETH", 5, 0, 1, "BNB", 1, "cold"),
        FifoTransaction("a", 1, TransactionKind.TRANSFER, "main", "BTC", 6, 0, 1, "BNB", 1, "cold"),
        FifoTransaction("a", 1, TransactionKind.TRANSFER, "main", "BTC", 5, 0, 2, "BNB", 1, "cold"),
        FifoTransaction("a", 1, TransactionKind.TRANSFER, "main", "BTC", 5, 0, 1, "SOL", 1, "cold"),
        FifoTransaction("a", 1, TransactionKind.TRANSFER, "main", "BTC", 5, 0, 1, "BNB", 2, "cold"),
        FifoTransaction("a", 1, TransactionKind.TRANSFER, "main", "BTC", 5, 0, 1, "BNB", 1, "hot"),
        FifoTransaction("a", 1, TransactionKind.DISPOSAL, "main", "BTC", 5, 0, 1, "BNB", 1),
        FifoTransaction("a", 1, TransactionKind.DISPOSAL, "main", "BTC", 5, 3, 1, "BNB", 1),
    ):
        marks.add(fingerprint(changed))
    assert len(marks) == 12
