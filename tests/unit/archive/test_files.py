"""A file of the archive says exactly what it was given, and a damaged one is refused with its name."""

import gzip
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from openspot.archive.files import ArchiveError, Manifest, found_rows, manifest_path, manifests, read, set_aside, write
from openspot.archive.kinds import AUDIT, ENTRIES, ORDERS, TRADES

TRADE = (
    "epoch-7", "7", "BTC-USD", "100.5", "0.3", "buy", "order-1", "order-2", "alice", "bob", "0.01", "-0.005", "USD",
    "2025-03-02 10:00:00.123+00",
)  # fmt: skip
LATER = ("epoch-9", "9", "BTC-USD", "0.000000000000000001", "2", *TRADE[5:13], "2025-03-31 23:59:59+00")
ENTRY = ("5", "epoch-7:buyer-base", "alice", "BTC", "0.3", "1.3", "trade", "trade", "epoch-7", "2025-03-02 10:00:01+00")


def test_a_manifest_says_what_the_file_holds(tmp_path: Path) -> None:
    manifest = write(tmp_path, TRADES, "2025-03", [TRADE, LATER])
    assert manifest == Manifest(
        format=1, kind="trades", month="2025-03", file=manifest.file, sha256=manifest.sha256, rows=2,
        first_at="2025-03-02 10:00:00.123+00", last_at="2025-03-31 23:59:59+00",
        totals={
            "fees": {"USD": "0.01"},
            "notional": {"USD": "30.150000000000000002"},
            "quantity": {"BTC": "2.3"},
        },
    )  # fmt: skip
    assert manifest.file.startswith("trades/2025-03/")
    assert manifests(tmp_path) == [manifest]
    assert [tuple(row) for row in read(tmp_path, manifest)] == [TRADE, LATER]


def test_credits_and_debits_of_entries_are_summed_apart_and_what_orders_filled(tmp_path: Path) -> None:
    debit = (*ENTRY[:3], "USD", "-30.15", *ENTRY[5:])
    assert write(tmp_path, ENTRIES, "2025-03", [ENTRY, debit]).totals == {
        "credits": {"BTC": "0.3"}, "debits": {"USD": "-30.15"},
    }  # fmt: skip
    order = (
        "order-1", "3", None, "alice", "BTC-USD", "buy", "limit", "gtc", None, "100", "1", "0.5", "50", "0.5", "0.1",
        "USD", "cancelled", None, "9", "2025-03-02 10:00:00+00", "2025-03-02 10:00:00+00", "f",
        *(None,) * 14,
    )  # fmt: skip
    assert write(tmp_path, ORDERS, "2025-03", [order]).totals == {
        "fee": {"USD": "0.1"}, "filled": {"BTC": "0.5"}, "notional": {"USD": "50"},
    }  # fmt: skip


def test_a_file_of_a_release_with_fewer_columns_is_read_without_those_that_came_since(tmp_path: Path) -> None:
    order = (
        "order-1", "3", None, "alice", "BTC-USD", "buy", "limit", "gtc", None, "100", "1", "0.5", "50", "0.5", "0.1",
        "USD", "cancelled", None, "9", "2025-03-02 10:00:00+00", "2025-03-02 10:00:00+00", "f",
    )  # fmt: skip
    columns = dict(list(ORDERS.columns.items())[: len(order)])
    manifest = write(tmp_path, ORDERS._replace(columns=columns), "2025-03", [order])
    missing = [None] * (len(ORDERS.columns) - len(order))
    assert [list(row) for row in read(tmp_path, manifest)] == [[*order, *missing]]


@pytest.mark.parametrize("text", [None, "", "\\N", "\\", "\\\\N", 'a"b', "a,b", "a\r\nb\n", "ä\u2028", "=1+1"])
def test_every_text_comes_back_as_it_was(tmp_path: Path, text: str | None) -> None:
    row = ("1", "request", text, "GET", "/", "200", "::1", "0.5", "2025-03-02 10:00:00+00")
    assert [tuple(each) for each in read(tmp_path, write(tmp_path, AUDIT, "2025-03", [row]))] == [row]


def _other_content(path: Path) -> None:
    path.write_bytes(gzip.compress(gzip.decompress(path.read_bytes()).replace(b"100.5", b"100.6")))


def _edited(**changes: object) -> Callable[[Path], None]:
    """Changes the manifest beside a file."""

    def edit(path: Path) -> None:
        manifest = path.with_name(path.name.replace(".csv.gz", ".json"))
        manifest.write_bytes(msgspec.json.encode(msgspec.json.decode(manifest.read_bytes()) | changes))

    return edit


@pytest.mark.parametrize(
    ("damage", "reason"),
    [
        (Path.unlink, "the file cannot be read"),
        (_other_content, "its SHA-256 is not the one of the manifest"),
        (lambda path: path.write_bytes(path.read_bytes()[:-1]), "its SHA-256 is not the one of the manifest"),
        (_edited(rows=2), "it has 1 rows, its manifest says 2"),
        (_edited(totals={}), "its totals are"),
        (_edited(format=2), "format 2 of kind 'trades' is not known"),
        (_edited(kind="users"), "format 1 of kind 'users' is not known"),
        (_edited(kind="entries"), "its columns are not those of entries"),
        (_edited(file="trades/../../secrets.csv.gz"), "it is the manifest of another file"),
        (_edited(rows="many"), "the manifest cannot be read"),
    ],
)
def test_a_damaged_file_is_refused_by_name(tmp_path: Path, damage: Callable[[Path], None], reason: str) -> None:
    damage(tmp_path / write(tmp_path, TRADES, "2025-03", [TRADE]).file)
    with pytest.raises(ArchiveError, match=reason) as refused:
        [read(tmp_path, manifest) for manifest in manifests(tmp_path)]
    assert "trades/2025-03/" in str(refused.value)


def test_a_draft_and_a_file_without_a_manifest_are_no_part_of_the_archive(tmp_path: Path) -> None:
    manifest = write(tmp_path, TRADES, "2025-03", [TRADE])
    manifest_path(tmp_path, manifest.file).rename(tmp_path / f"{manifest.file}.json.draft")
    assert manifests(tmp_path) == []


def test_what_is_set_aside_is_kept_and_no_longer_found(tmp_path: Path) -> None:
    manifest = write(tmp_path, TRADES, "2025-03", [TRADE])
    assert [row["trade_id"] for row in found_rows(tmp_path, TRADES, "bob")] == ["epoch-7"]
    target = set_aside(tmp_path, manifest.file)
    assert list(found_rows(tmp_path, TRADES, "bob")) == []
    assert len(list(target.iterdir())) == 2


def test_rows_are_found_by_user_and_time(tmp_path: Path) -> None:
    write(tmp_path, TRADES, "2025-03", [TRADE, LATER])
    assert list(found_rows(tmp_path, TRADES, "carol")) == []
    assert len(list(found_rows(tmp_path, TRADES, "alice"))) == 2
    assert [row["sequence"] for row in found_rows(tmp_path, TRADES, "alice", "2025-03-03")] == ["9"]
    assert [row["sequence"] for row in found_rows(tmp_path, TRADES, "alice", "", "2025-03-31")] == ["7"]
