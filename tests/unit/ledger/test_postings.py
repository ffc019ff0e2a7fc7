"""What a trade posts."""

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openspot.contracts.messages import ExecutedTransfer, TradeFee, TradeFees, TransferMovement
from openspot.domain.accounts import AccountKey
from openspot.domain.ids import FEE_ACCOUNT_ID
from openspot.domain.money import AMOUNT_MAX, AMOUNT_SCALE, amount_to_text, parse_decimal, to_amount
from openspot.domain.transfer import MOVEMENTS_MAX, REFERENCE_LENGTH_MAX
from openspot.ledger.postings import (
    POSTING_NAMES,
    JournalEntry,
    Posting,
    PostingError,
    changes_of,
    is_house,
    lock_order,
    running_balances,
    settlement_marker,
    sums,
    trade_entry,
    transfer_entry,
)
from tests.support.ledger import trade


def amounts(postings: tuple[Posting, ...]) -> list[tuple[str, str, str, str]]:
    return [
        (posting.transaction_id.rpartition(":")[2], *posting.account, amount_to_text(posting.amount))
        for posting in postings
    ]


@pytest.mark.spec("A1-04", "A1.2-03", "A2.4-10", "A2.4-11", "A2.4-12", "A2.4-13", "A2.4-14", "A2.4-15")
def test_a_trade_posts_the_six_postings_of_the_document_and_the_houses_side_of_the_fees() -> None:
    entry = trade_entry(trade(price="100", qty="2", buyer_fee="0.5", seller_fee="0.3"))
    assert amounts(entry.postings) == [
        ("buyer-quote", "ann", "USD", "-200"),
        ("buyer-base", "ann", "BTC", "2"),
        ("seller-base", "bob", "BTC", "-2"),
        ("seller-quote", "bob", "USD", "200"),
        ("buyer-fee", "ann", "USD", "-0.5"),
        ("seller-fee", "bob", "USD", "-0.3"),
    ]
    assert amounts(entry.house_postings) == [
        ("house-buyer-fee", FEE_ACCOUNT_ID, "USD", "0.5"),
        ("house-seller-fee", FEE_ACCOUNT_ID, "USD", "0.3"),
    ]
    names = [posting.transaction_id.rpartition(":")[2] for posting in (*entry.postings, *entry.house_postings)]
    assert tuple(names) == POSTING_NAMES


def test_postings_are_numbered_by_the_trades_id_and_the_first_one_marks_it_as_settled() -> None:
    entry = trade_entry(trade(7))
    assert [posting.transaction_id for posting in entry.postings] == [f"epoch-7:{name}" for name in POSTING_NAMES[:6]]
    assert entry.postings[0].transaction_id == settlement_marker("epoch-7")
    assert {(posting.reference_type, posting.reference_id) for posting in entry.postings} == {("trade", "epoch-7")}


@pytest.mark.spec("A1.2-03")
def test_a_rebate_is_credited_to_the_maker_and_debited_from_the_house() -> None:
    entry = trade_entry(trade(seller_fee="-0.04"))
    fee, house_fee = entry.postings[5], entry.house_postings[1]
    assert (amount_to_text(fee.amount), fee.entry_type) == ("0.04", "rebate")
    assert (amount_to_text(house_fee.amount), house_fee.entry_type) == ("-0.04", "rebate")


def test_a_fee_of_zero_is_posted_too() -> None:
    entry = trade_entry(trade(buyer_fee="0", seller_fee="0.0"))
    assert [posting.amount for posting in (*entry.postings[4:], *entry.house_postings)] == [0, 0, 0, 0]


def test_fees_in_another_asset_than_the_quote_are_posted_in_theirs() -> None:
    fees = TradeFees(TradeFee("ann", "1", "TOK"), TradeFee("bob", "0.3", "USD"))
    entry = trade_entry(trade(fees=fees))
    assert entry.postings[4].account == ("ann", "TOK")
    assert entry.house_postings[0].account == (FEE_ACCOUNT_ID, "TOK")
    assert not any(sums(changes_of((*entry.postings, *entry.house_postings))).values())


def test_the_smallest_quantity_is_posted() -> None:
    smallest = "0.000000000000000001"
    entry = trade_entry(trade(price="1", qty=smallest, buyer_fee="0", seller_fee="0"))
    assert amounts(entry.postings)[:4] == [
        ("buyer-quote", "ann", "USD", "-" + smallest),
        ("buyer-base", "ann", "BTC", smallest),
        ("seller-base", "bob", "BTC", "-" + smallest),
        ("seller-quote", "bob", "USD", smallest),
    ]


def test_a_trade_with_oneself_changes_nothing_but_the_fees() -> None:
    entry = trade_entry(trade(buyer="ann", seller="ann"))
    assert changes_of(entry.postings) == {("ann", "USD"): -8 * 10**17, ("ann", "BTC"): 0}


def test_postings_of_a_participant_that_is_the_house_are_among_the_houses() -> None:
    entry = trade_entry(trade(buyer="house:desk"))
    assert {posting.account[0] for posting in entry.postings} == {"bob"}
    assert {posting.account[0] for posting in entry.house_postings} == {"house:desk", FEE_ACCOUNT_ID}
    assert len(entry.postings) + len(entry.house_postings) == len(POSTING_NAMES)


@pytest.mark.spec("A2.4-02")
def test_amounts_are_exact_to_the_eighteenth_place() -> None:
    entry = trade_entry(trade(price="0.000000001", qty="0.000000001", buyer_fee="0.000000000000000001", seller_fee="0"))
    assert entry.postings[0].amount == -1
    assert entry.postings[4].amount == -1
    wide = trade_entry(trade(price="9999999999.999999999", qty="999999999.999999999"))
    assert amount_to_text(-wide.postings[0].amount) == "9999999999999999989.000000000000000001"


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"price": "abc"}, "price is not a decimal number"),
        ({"price": "NaN"}, "price is not a decimal number"),
        ({"price": "Infinity"}, "price is not a decimal number"),
        ({"price": ""}, "price is not a decimal number"),
        ({"price": "٣"}, "price is not a decimal number"),  # a digit of another script
        ({"price": "-1"}, "price must be positive"),
        ({"price": "0"}, "price must be positive"),
        ({"price": "1e30"}, "price is too large"),
        ({"price": "1e-19"}, "price has more than 18 decimal places"),
        ({"qty": "-0"}, "qty must be positive"),
        ({"qty": "1,5"}, "qty is not a decimal number"),
        ({"qty": "0.0000000000000000001"}, "qty has more than 18 decimal places"),
        ({"price": "1.0000000001", "qty": "1.0000000001"}, "price × qty has more than 18 decimal places"),
        ({"price": "1e10", "qty": "1e18"}, "price × qty is too large"),
        ({"price": "5e18", "qty": "2.000000000000000001"}, "price × qty is too large"),
        ({"buyer_id": "a.b"}, "buyerId is not a participant id"),
        ({"seller_id": ""}, "sellerId is not a participant id"),
        ({"seller_id": "bob\n"}, "sellerId is not a participant id"),
        ({"base_asset": "btc"}, "baseAsset is not an asset name"),
        ({"quote_asset": "US-D"}, "quoteAsset is not an asset name"),
        ({"quote_asset": "BTC"}, "baseAsset and quoteAsset are the same"),
        ({"id": ""}, "id must be"),
        ({"id": "a\tb"}, "id must be"),
        ({"id": "a\\b"}, "id must be"),
        ({"id": "\x00"}, "id must be"),
        ({"id": "x" * 201}, "id must be"),
        ({"fees": TradeFees(TradeFee("bob", "1", "USD"), TradeFee("bob", "1", "USD"))}, "fees.buyer.userId"),
        ({"fees": TradeFees(TradeFee("ann", "1", "USD"), TradeFee("bob", "x", "USD"))}, "fees.seller.amount is not"),
        ({"fees": TradeFees(TradeFee("ann", "1", "usd"), TradeFee("bob", "1", "USD"))}, "fees.buyer.currency is not"),
    ],
)
def test_a_trade_that_is_not_sound_is_refused_naming_field_and_reason(change: dict[str, object], reason: str) -> None:
    with pytest.raises(PostingError) as error:
        trade_entry(trade(**change))  # type: ignore[arg-type]
    assert str(error.value).startswith(reason)


@given(
    st.integers(1, 10**12),
    st.integers(1, 10**12),
    st.integers(-(10**20), 10**20),
    st.integers(-(10**20), 10**20),
    st.sampled_from(["ann", "bob", "house:fees", "house:desk"]),
    st.sampled_from(["ann", "bob", "house:fees"]),
)
def test_every_trade_sums_to_zero_in_each_asset(
    price: int, qty: int, buyer_fee: int, seller_fee: int, buyer: str, seller: str
) -> None:
    entry = trade_entry(
        trade(
            price=amount_to_text(price * 10**9),
            qty=amount_to_text(qty * 10**9),
            buyer_fee=amount_to_text(buyer_fee),
            seller_fee=amount_to_text(seller_fee),
            buyer=buyer,
            seller=seller,
        )
    )
    postings = (*entry.postings, *entry.house_postings)
    assert len(postings) == len(POSTING_NAMES)
    assert set(sums(changes_of(postings)).values()) == {0}


@given(st.one_of(st.from_regex(r"-?[0-9]{0,25}\.?[0-9]{0,20}", fullmatch=True), st.text(max_size=8)))
def test_the_quick_way_of_reading_amounts_agrees_with_the_exact_one(text: str) -> None:
    def exact() -> int | None:
        try:
            value = to_amount(parse_decimal(text))
        except ValueError:
            return None
        return value if value > 0 else None

    def quick() -> int | None:
        try:
            return trade_entry(trade(qty=text, price="1")).postings[1].amount
        except PostingError:
            return None

    expected = exact()
    if expected is not None and expected > AMOUNT_MAX:
        expected = None
    assert quick() == expected


def test_running_balances_begin_from_the_totals_and_go_posting_by_posting() -> None:
    entries = [trade_entry(trade(number, price="1", qty="1")) for number in (1, 2)]
    postings = [posting for one in entries for posting in one.postings]
    start = dict.fromkeys(changes_of(postings), 10 * AMOUNT_SCALE)
    balances = [amount_to_text(balance) for balance in running_balances(postings, start)]
    assert balances == ["9", "11", "9", "11", "8.5", "10.7", "7.5", "12", "8", "11.7", "7", "11.4"]


def test_a_posting_without_an_account_is_a_fault() -> None:
    with pytest.raises(KeyError):
        running_balances(trade_entry(trade()).postings, {})


def test_the_house_is_locked_last() -> None:
    accounts = [
        AccountKey("house:fees", "BTC"),
        AccountKey("zoe", "USD"),
        AccountKey("house:external", "USD"),
        AccountKey("ann", "USD"),
        AccountKey("ann", "BTC"),
    ]
    assert sorted(accounts, key=lock_order) == [
        AccountKey("ann", "BTC"),
        AccountKey("ann", "USD"),
        AccountKey("zoe", "USD"),
        AccountKey("house:external", "USD"),
        AccountKey("house:fees", "BTC"),
    ]


def moved(*movements: TransferMovement, **change: Any) -> JournalEntry:
    fields: dict[str, Any] = {"id": "t1", "kind": "conversion", "sequence": 1, "timestamp": 1} | change
    return transfer_entry(ExecutedTransfer(movements=list(movements), **fields))


ONE_USD = TransferMovement("ann", "bob", "USD", "1")


def test_a_transfer_debits_each_source_and_credits_each_destination() -> None:
    entry = moved(ONE_USD, TransferMovement("bob", "house:conversions", "BTC", "0.5"), id="c7")
    common = ("conversion", "transfer", "c7")
    assert entry == JournalEntry(
        "c7",
        "c7:1:transfer-debit",
        (
            Posting("c7:1:transfer-debit", AccountKey("ann", "USD"), -AMOUNT_SCALE, *common),
            Posting("c7:1:transfer-credit", AccountKey("bob", "USD"), AMOUNT_SCALE, *common),
            Posting("c7:2:transfer-debit", AccountKey("bob", "BTC"), -AMOUNT_SCALE // 2, *common),
        ),
        (
            Posting("c7:2:transfer-credit", AccountKey("house:conversions", "BTC"), AMOUNT_SCALE // 2, *common),
        ),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("movements", "change", "reason"),
    [
        ([], {}, f"movements must be 1 to {MOVEMENTS_MAX}"),
        ([ONE_USD] * (MOVEMENTS_MAX + 1), {}, f"movements must be 1 to {MOVEMENTS_MAX}"),
        ([ONE_USD, TransferMovement("ann", "ann", "USD", "1")], {}, "movements[1].toId is the payer"),
        ([TransferMovement("ann", "bob", "USD", "0")], {}, "movements[0].amount must be positive"),
        ([TransferMovement("ann", "bob", "USD", "-1")], {}, "movements[0].amount must be positive"),
        ([TransferMovement("a b", "bob", "USD", "1")], {}, "movements[0].fromId is not a participant id"),
        ([TransferMovement("ann", "b b", "USD", "1")], {}, "movements[0].toId is not a participant id"),
        ([TransferMovement("ann", "bob", "usd", "1")], {}, "movements[0].asset is not an asset name"),
        ([ONE_USD], {"kind": "Conversion"}, "kind must be 1 to 32 small letters or -"),
        ([ONE_USD], {"sequence": -1}, "sequence must be between 0 and 9223372036854775807"),
        ([ONE_USD], {"sequence": 2**63}, "sequence must be between 0 and 9223372036854775807"),
        ([ONE_USD], {"id": ""}, f"id must be 1 to {REFERENCE_LENGTH_MAX} visible ASCII characters"),
        ([ONE_USD], {"id": "x" * (REFERENCE_LENGTH_MAX + 1)}, f"id must be 1 to {REFERENCE_LENGTH_MAX}"),
    ],
)
def test_a_transfer_that_is_not_sound_is_refused_naming_field_and_reason(
    movements: list[TransferMovement], change: dict[str, Any], reason: str
) -> None:
    with pytest.raises(PostingError, match=f"^{re.escape(reason)}"):
        moved(*movements, **change)


def test_the_bounds_of_a_transfer_are_themselves_allowed() -> None:
    entry = moved(*[ONE_USD] * MOVEMENTS_MAX, id="x" * REFERENCE_LENGTH_MAX, sequence=2**63 - 1)
    assert len(entry.postings) == 2 * MOVEMENTS_MAX
    assert trade_entry(trade(sequence=2**63 - 1)).postings
    with pytest.raises(PostingError, match=r"^sequence must be between 0 and 9223372036854775807$"):
        trade_entry(trade(sequence=2**63))


@pytest.mark.parametrize("side", ["buyer", "seller"])
def test_a_side_that_is_the_house_is_posted_among_the_houses(side: str) -> None:
    entry = trade_entry(trade(**{side: "house:insurance"}))
    assert not any(is_house(posting.account.user_id) for posting in entry.postings)
    assert all(is_house(posting.account.user_id) for posting in entry.house_postings)
    assert (len(entry.postings), len(entry.house_postings)) == (3, 5)


def test_a_fee_of_zero_is_a_fee_and_no_rebate() -> None:
    entry = trade_entry(trade(buyer_fee="0", seller_fee="0.0"))
    assert {posting.entry_type for posting in (*entry.postings[4:], *entry.house_postings)} == {"fee"}


@pytest.mark.parametrize("price", ["1" + "0" * 20, "9" * 21 + ".5"])
def test_an_amount_of_more_digits_than_there_are_is_refused(price: str) -> None:
    with pytest.raises(PostingError, match=r"^price "):
        trade_entry(trade(price=price, qty="0.000000000000000001"))


def test_the_sellers_fee_too_is_posted_in_its_own_asset() -> None:
    fees = TradeFees(TradeFee("ann", "1", "USD"), TradeFee("bob", "0.3", "TOK"))
    entry = trade_entry(trade(fees=fees))
    assert entry.postings[5].account == ("bob", "TOK")
    assert entry.house_postings[1].account == (FEE_ACCOUNT_ID, "TOK")


def test_the_largest_notional_is_posted() -> None:
    assert trade_entry(trade(price="5e18", qty="2", buyer_fee="0")).postings[0].amount == -AMOUNT_MAX


def test_each_posting_of_a_trade_is_exactly_this() -> None:
    entry = trade_entry(trade(7, price="100", qty="2", buyer_fee="0.5", seller_fee="-0.04"))
    common = ("trade", "epoch-7")
    ann_usd, bob_usd, fees_usd = (AccountKey(user, "USD") for user in ("ann", "bob", "house:fees"))
    assert entry == JournalEntry(
        "epoch-7",
        "epoch-7:buyer-quote",
        (
            Posting("epoch-7:buyer-quote", ann_usd, -200 * AMOUNT_SCALE, "trade", *common),
            Posting("epoch-7:buyer-base", AccountKey("ann", "BTC"), 2 * AMOUNT_SCALE, "trade", *common),
            Posting("epoch-7:seller-base", AccountKey("bob", "BTC"), -2 * AMOUNT_SCALE, "trade", *common),
            Posting("epoch-7:seller-quote", bob_usd, 200 * AMOUNT_SCALE, "trade", *common),
            Posting("epoch-7:buyer-fee", ann_usd, -AMOUNT_SCALE // 2, "fee", *common),
            Posting("epoch-7:seller-fee", bob_usd, AMOUNT_SCALE // 25, "rebate", *common),
        ),
        (
            Posting("epoch-7:house-buyer-fee", fees_usd, AMOUNT_SCALE // 2, "fee", *common),
            Posting("epoch-7:house-seller-fee", fees_usd, -AMOUNT_SCALE // 25, "rebate", *common),
        ),
    )
