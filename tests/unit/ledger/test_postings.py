"""What a trade posts."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openspot.contracts.messages import TradeFee, TradeFees
from openspot.domain.accounts import AccountKey
from openspot.domain.ids import FEE_ACCOUNT_ID
from openspot.domain.money import AMOUNT_MAX, AMOUNT_SCALE, amount_to_text, parse_decimal, to_amount
from openspot.ledger.postings import (
    LEG_NAMES,
    Leg,
    PostingError,
    changes_of,
    lock_order,
    mark_of,
    running_balances,
    sums,
    trade_postings,
)
from tests.support.ledger import trade


def amounts(legs: tuple[Leg, ...]) -> list[tuple[str, str, str, str]]:
    return [(leg.transaction_id.rpartition(":")[2], *leg.account, amount_to_text(leg.amount)) for leg in legs]


@pytest.mark.spec("A1-04", "A1.2-03", "A2.4-10", "A2.4-11", "A2.4-12", "A2.4-13", "A2.4-14", "A2.4-15")
def test_a_trade_posts_the_six_legs_of_the_document_and_the_houses_side_of_the_fees() -> None:
    postings = trade_postings(trade(price="100", qty="2", buyer_fee="0.5", seller_fee="0.3"))
    assert amounts(postings.legs) == [
        ("buyer-quote", "ann", "USD", "-200"),
        ("buyer-base", "ann", "BTC", "2"),
        ("seller-base", "bob", "BTC", "-2"),
        ("seller-quote", "bob", "USD", "200"),
        ("buyer-fee", "ann", "USD", "-0.5"),
        ("seller-fee", "bob", "USD", "-0.3"),
    ]
    assert amounts(postings.house_legs) == [
        ("house-buyer-fee", FEE_ACCOUNT_ID, "USD", "0.5"),
        ("house-seller-fee", FEE_ACCOUNT_ID, "USD", "0.3"),
    ]
    names = [leg.transaction_id.rpartition(":")[2] for leg in (*postings.legs, *postings.house_legs)]
    assert tuple(names) == LEG_NAMES


def test_legs_are_numbered_by_the_trades_id_and_the_first_one_marks_it_as_settled() -> None:
    postings = trade_postings(trade(7))
    assert [leg.transaction_id for leg in postings.legs] == [f"epoch-7:{name}" for name in LEG_NAMES[:6]]
    assert postings.legs[0].transaction_id == mark_of("epoch-7")
    assert {(leg.reference_type, leg.reference_id) for leg in postings.legs} == {("trade", "epoch-7")}


@pytest.mark.spec("A1.2-03")
def test_a_rebate_is_credited_to_the_maker_and_debited_from_the_house() -> None:
    postings = trade_postings(trade(seller_fee="-0.04"))
    fee, house_fee = postings.legs[5], postings.house_legs[1]
    assert (amount_to_text(fee.amount), fee.entry_type) == ("0.04", "rebate")
    assert (amount_to_text(house_fee.amount), house_fee.entry_type) == ("-0.04", "rebate")


def test_a_fee_of_zero_is_posted_too() -> None:
    postings = trade_postings(trade(buyer_fee="0", seller_fee="0.0"))
    assert [leg.amount for leg in (*postings.legs[4:], *postings.house_legs)] == [0, 0, 0, 0]


def test_fees_in_another_asset_than_the_quote_are_posted_in_theirs() -> None:
    fees = TradeFees(TradeFee("ann", "1", "TOK"), TradeFee("bob", "0.3", "USD"))
    postings = trade_postings(trade(fees=fees))
    assert postings.legs[4].account == ("ann", "TOK")
    assert postings.house_legs[0].account == (FEE_ACCOUNT_ID, "TOK")
    assert not any(sums(changes_of((*postings.legs, *postings.house_legs))).values())


def test_a_trade_with_oneself_changes_nothing_but_the_fees() -> None:
    postings = trade_postings(trade(buyer="ann", seller="ann"))
    assert changes_of(postings.legs) == {("ann", "USD"): -8 * 10**17, ("ann", "BTC"): 0}


def test_legs_of_a_participant_that_is_the_house_are_among_the_houses() -> None:
    postings = trade_postings(trade(buyer="house:desk"))
    assert {leg.account[0] for leg in postings.legs} == {"bob"}
    assert {leg.account[0] for leg in postings.house_legs} == {"house:desk", FEE_ACCOUNT_ID}
    assert len(postings.legs) + len(postings.house_legs) == len(LEG_NAMES)


@pytest.mark.spec("A2.4-02")
def test_amounts_are_exact_to_the_eighteenth_place() -> None:
    postings = trade_postings(
        trade(price="0.000000001", qty="0.000000001", buyer_fee="0.000000000000000001", seller_fee="0")
    )
    assert postings.legs[0].amount == -1
    assert postings.legs[4].amount == -1
    wide = trade_postings(trade(price="9999999999.999999999", qty="999999999.999999999"))
    assert amount_to_text(-wide.legs[0].amount) == "9999999999999999989.000000000000000001"


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
        trade_postings(trade(**change))  # type: ignore[arg-type]
    assert reason in str(error.value)


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
    postings = trade_postings(
        trade(
            price=amount_to_text(price * 10**9),
            qty=amount_to_text(qty * 10**9),
            buyer_fee=amount_to_text(buyer_fee),
            seller_fee=amount_to_text(seller_fee),
            buyer=buyer,
            seller=seller,
        )
    )
    legs = (*postings.legs, *postings.house_legs)
    assert len(legs) == len(LEG_NAMES)
    assert set(sums(changes_of(legs)).values()) == {0}


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
            return trade_postings(trade(qty=text, price="1")).legs[1].amount
        except PostingError:
            return None

    expected = exact()
    if expected is not None and expected > AMOUNT_MAX:
        expected = None
    assert quick() == expected


def test_running_balances_begin_from_the_totals_and_go_leg_by_leg() -> None:
    postings = [trade_postings(trade(number, price="1", qty="1")) for number in (1, 2)]
    legs = [leg for one in postings for leg in one.legs]
    start = dict.fromkeys(changes_of(legs), 10 * AMOUNT_SCALE)
    balances = [amount_to_text(balance) for balance in running_balances(legs, start)]
    assert balances == ["9", "11", "9", "11", "8.5", "10.7", "7.5", "12", "8", "11.7", "7", "11.4"]


def test_a_leg_without_an_account_is_a_fault() -> None:
    with pytest.raises(KeyError):
        running_balances(trade_postings(trade()).legs, {})


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
