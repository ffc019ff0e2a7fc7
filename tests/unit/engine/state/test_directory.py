"""The directory of names and numbers."""

import pytest

from openspot.domain.ids import FEE_ACCOUNT_ID
from openspot.domain.symbol import SymbolSpec
from openspot.engine.core.protocol import spot_account_of
from openspot.engine.core.records import Command, CommandKind
from openspot.engine.state.directory import DESCRIBE_CURRENCY, UNKNOWN_ACCOUNT, Currency, Directory, NameTakenError
from tests.support.engine_state import SEED, cancel, deposit, feed, new_machine, place


def test_the_fee_account_is_number_one_and_others_follow() -> None:
    directory = Directory()
    assert directory.account(FEE_ACCOUNT_ID) == 1
    assert directory.account("alice") == UNKNOWN_ACCOUNT
    assert [directory.account_or_new(name) for name in ("alice", "bob", "alice")] == [2, 3, 2]
    assert [directory.participant(number) for number in (1, 2, 3, 4, UNKNOWN_ACCOUNT, 0)] == [
        FEE_ACCOUNT_ID,
        "alice",
        "bob",
        "",
        "",
        "",
    ]


def test_seeding_names_the_currencies_and_symbols() -> None:
    machine = new_machine()
    feed(machine, SEED)
    assert len(machine.directory.symbols) == 12
    assert machine.directory.currencies["ETH"] == Currency("ETH", 4, "ETH", 18)
    spec = machine.directory.symbol(1)
    assert spec is not None
    assert (spec.symbol, spec.base, spec.quote, spec.tick, spec.lot) == ("BTC-USD", "BTC", "USD", 1, 1)


def test_a_refused_command_adds_no_name() -> None:
    machine = new_machine()
    feed(machine, SEED)
    before = machine.directory.snapshot(1)
    feed(machine, (Command(CommandKind.CREATE_CURRENCY, symbol=1).encode(), [("ZZZ", "ZZZ", "2")]))
    feed(machine, (Command(CommandKind.DELETE_CURRENCY, symbol=1).encode(), [()]))
    feed(machine, (Command(CommandKind.DELETE_SYMBOL, symbol=99).encode(), [()]))
    assert machine.directory.snapshot(1) == before


def test_a_deleted_symbol_is_found_by_number_but_not_by_name() -> None:
    machine = new_machine()
    feed(machine, SEED)
    feed(machine, (Command(CommandKind.DELETE_SYMBOL, symbol=1).encode(), [()]))
    assert "BTC-USD" not in machine.directory.symbols
    spec = machine.directory.symbol(1)
    assert spec is not None
    assert spec.symbol == "BTC-USD"
    assert machine.directory.next_symbol_id() == 13
    machine.directory.check_new_symbol(spec)
    with pytest.raises(NameTakenError, match="symbolId 1 belongs to BTC-USD"):
        machine.directory.check_new_symbol(
            SymbolSpec(
                symbol="BTC-USD",
                symbol_id=1,
                base="BTC",
                quote="USD",
                base_scale_k=10,
                quote_scale_k=10,
                tick=1,
                lot=1,
                taker_fee_bps=0,
                maker_fee_bps=0,
            )
        )
    with pytest.raises(NameTakenError, match="symbol ETH-USD already exists"):
        machine.directory.check_new_symbol(
            SymbolSpec(
                symbol="ETH-USD",
                symbol_id=77,
                base="ETH",
                quote="USD",
                base_scale_k=10,
                quote_scale_k=10,
                tick=1,
                lot=1,
                taker_fee_bps=0,
                maker_fee_bps=0,
            )
        )


def test_a_currency_keeps_its_number_and_its_description_changes() -> None:
    machine = new_machine()
    feed(machine, (Command(CommandKind.CREATE_CURRENCY, symbol=9).encode(), [("AAA", "Aaa", "2")]))
    feed(machine, (Command(DESCRIBE_CURRENCY, symbol=9).encode(), [("AAA", "Triple", "6")]))
    assert machine.directory.currencies["AAA"] == Currency("AAA", 9, "Triple", 6)
    feed(machine, (Command(CommandKind.DELETE_CURRENCY, symbol=9).encode(), [()]))
    assert machine.directory.currencies == {}
    assert machine.directory.currency_text(9) == "AAA"
    with pytest.raises(NameTakenError, match="currencyId 9 belongs to AAA"):
        machine.directory.check_new_currency(Currency("BBB", 9, "B", 2))
    # The same name has a new number, and the old number still belongs to the old symbol.
    feed(machine, (Command(CommandKind.CREATE_CURRENCY, symbol=5).encode(), [("AAA", "Aaa", "2")]))
    again = Directory()
    again.restore(machine.directory.snapshot(1))
    assert again.currencies["AAA"].currency_id == 5
    known = again.currency(9)
    assert known is not None
    assert known.name == "Triple"


def test_a_snapshot_restores_all_durable_names() -> None:
    machine = new_machine()
    for batch in (SEED, deposit(2, "alice", 5), place(1, 2), cancel(1)):
        feed(machine, batch)
    feed(machine, (Command(CommandKind.DELETE_SYMBOL, symbol=3).encode(), [()]))
    directory = machine.directory
    assert directory.account_or_new("on its way") == 3
    again = Directory()
    again.restore(directory.snapshot(2))
    assert again.snapshot(2) == directory.snapshot(2)
    assert (again.symbols, again.currencies) == (directory.symbols, directory.currencies)
    assert again.account("alice") == 2
    assert again.account("on its way") == UNKNOWN_ACCOUNT


@pytest.mark.parametrize("content", [b"", b"\x00", b"\x90", b"\xc1\xff"])
def test_a_malformed_snapshot_is_refused(content: bytes) -> None:
    with pytest.raises(ValueError, match="not a snapshot"):
        Directory().restore(content)


def test_a_margin_account_names_its_user_and_has_a_place_of_its_own() -> None:
    directory = Directory()
    alice, margin, second = (directory.account_or_new(name) for name in ("alice", "margin:alice", "margin:alice:2"))
    assert (alice, margin, second) == (2, 2 << 32 | 3, 2 << 32 | 4)
    assert {spot_account_of(number) for number in (alice, margin, second)} == {alice}
    # One whose user the engine does not know is its own owner.
    stranger = directory.account_or_new("margin:bob")
    assert (stranger, spot_account_of(stranger)) == (5, 5)
    assert directory.margin_accounts == [margin, second, stranger]
    assert directory.stray_margin_accounts == {"bob": ["margin:bob"]}
    restored = Directory()
    restored.restore(directory.snapshot(5))
    assert restored.margin_accounts == directory.margin_accounts
    assert restored.stray_margin_accounts == directory.stray_margin_accounts
    restored.restore(directory.snapshot(4))
    assert (restored.margin_accounts, restored.stray_margin_accounts) == ([margin, second], {})
    assert [directory.participant(number) for number in (2, 2 << 32 | 3, 5)] == ["alice", "margin:alice", "margin:bob"]
    assert [directory.participant(number) for number in (3, 5 << 32 | 3, 2 << 32, UNKNOWN_ACCOUNT)] == [""] * 4


def test_numbers_of_margin_accounts_survive_a_snapshot_and_those_of_older_journals_stay() -> None:
    directory = Directory()
    directory.account_or_new("alice")
    assert directory.register("margin:alice", 3) == 3
    new = directory.account_or_new("margin:alice:2")
    again = Directory()
    again.restore(directory.snapshot(4))
    assert (
        again.accounts == directory.accounts == {"house:fees": 1, "alice": 2, "margin:alice": 3, "margin:alice:2": new}
    )
    assert again.account_or_new("bob") == 5
    assert directory.snapshot(3) != directory.snapshot(4)
