"""Every figure of the wallets (facts A8-22 to A8-41), on both sides of its edge."""

import itertools
from decimal import Decimal

import pytest

from openspot.custody.signatures import may_send, sign, transaction_digest, transaction_hash, valid_signatures
from openspot.custody.valuation import value_in_cents
from openspot.custody.wallet_policy import (
    RULES,
    Wallet,
    approvals_needed,
    fits_daily_limit,
    signers_of,
    wallet_for,
    wallet_of_user,
)

SEED = b"seed of a test"


def cents(dollars: str) -> int:
    return value_in_cents(Decimal(dollars), Decimal(1))


@pytest.mark.spec("A8-22", "A8-26", "A8-30", "A8-34")
@pytest.mark.parametrize(
    ("dollars", "wallet"),
    [
        ("0.01", Wallet.HOT),
        ("10000.00", Wallet.HOT),
        ("10000.01", Wallet.WARM),
        ("100000.00", Wallet.WARM),
        ("100000.01", Wallet.TREASURY),
        ("500000.00", Wallet.TREASURY),
        ("500000.01", Wallet.COLD),
        ("1000000.00", Wallet.COLD),
        ("1000000.01", None),
    ],
)
def test_the_smallest_wallet_whose_maximum_fits_sends(dollars: str, wallet: Wallet | None) -> None:
    assert wallet_for(cents(dollars)) is wallet


@pytest.mark.spec("A8-23", "A8-27", "A8-31", "A8-35")
@pytest.mark.parametrize(
    ("wallet", "dollars"),
    [(Wallet.HOT, 100_000), (Wallet.WARM, 1_000_000), (Wallet.TREASURY, 2_000_000), (Wallet.COLD, 5_000_000)],
)
def test_a_wallet_sends_its_daily_limit_and_not_a_cent_more(wallet: Wallet, dollars: int) -> None:
    before = dollars * 100 - 500
    assert fits_daily_limit(wallet, before, 500)
    assert not fits_daily_limit(wallet, before, 501)
    assert not fits_daily_limit(wallet, before + 1, 500)


@pytest.mark.spec("A8-24", "A8-25")
@pytest.mark.parametrize(("dollars", "needed"), [("999.99", 0), ("1000.00", 1), ("999.991", 1), ("10000.00", 1)])
def test_the_hot_wallet_approves_by_itself_below_a_thousand_dollars_only(dollars: str, needed: int) -> None:
    assert approvals_needed(Wallet.HOT, cents(dollars)) == needed


@pytest.mark.spec("A8-28", "A8-29", "A8-32", "A8-33", "A8-36", "A8-37")
@pytest.mark.parametrize(("wallet", "needed"), [(Wallet.WARM, 2), (Wallet.TREASURY, 3), (Wallet.COLD, 4)])
@pytest.mark.parametrize("dollars", ["0.01", "999.99", "1000.00", "100000.00"])
def test_the_other_wallets_never_approve_by_themselves(wallet: Wallet, needed: int, dollars: str) -> None:
    assert approvals_needed(wallet, cents(dollars)) == needed


@pytest.mark.parametrize(
    ("before", "value", "percent", "wallet"),
    [
        (1_500_000, 1_000_000, 25, Wallet.HOT),
        (1_500_001, 1_000_000, 25, Wallet.WARM),
        (2_500_000, 1, 25, Wallet.WARM),
        (0, 1_000_000, 10, Wallet.HOT),
        (0, 1, 0, Wallet.WARM),
        (9_000_000, 1_000_000, 100, Wallet.HOT),
        # Without shares the daily limit of HOT alone decides.
        (9_000_001, 1_000_000, 100, Wallet.HOT),
    ],
)
def test_what_goes_beyond_a_users_share_of_hot_is_sent_by_warm(
    before: int, value: int, percent: int, wallet: Wallet
) -> None:
    assert wallet_of_user(Wallet.HOT, before, value, percent) is wallet


@pytest.mark.parametrize("wallet", [Wallet.WARM, Wallet.TREASURY, Wallet.COLD])
def test_the_other_wallets_know_no_shares(wallet: Wallet) -> None:
    assert wallet_of_user(wallet, RULES[wallet].daily_max, 1, 25) is wallet


@pytest.mark.spec("A8-38", "A8-39", "A8-40", "A8-41")
@pytest.mark.parametrize(
    ("wallet", "needed", "signers"),
    [(Wallet.HOT, 2, 3), (Wallet.WARM, 3, 5), (Wallet.COLD, 4, 7), (Wallet.TREASURY, 3, 5)],
)
def test_m_of_n_signers_send_and_one_less_does_not(wallet: Wallet, needed: int, signers: int) -> None:
    digest = transaction_digest("w1", "BTC", "bitcoin", "tb1q", None, "1")
    names = signers_of(wallet)
    assert len(names) == signers
    given = {name: sign(SEED, name, digest) for name in names}
    assert valid_signatures(SEED, wallet, digest, given) == signers
    assert may_send(SEED, wallet, digest, dict(list(given.items())[:needed]))
    assert not may_send(SEED, wallet, digest, dict(list(given.items())[: needed - 1]))


def test_a_signature_counts_for_its_signer_wallet_and_transaction_only() -> None:
    digest = transaction_digest("w1", "BTC", "bitcoin", "tb1q", None, "1")
    other = transaction_digest("w1", "BTC", "bitcoin", "tb1q", "7", "1")
    first, second = signers_of(Wallet.HOT)[:2]
    right = sign(SEED, first, digest)
    assert valid_signatures(SEED, Wallet.HOT, digest, {first: right, second: right}) == 1
    assert valid_signatures(SEED, Wallet.HOT, other, {first: right}) == 0
    assert valid_signatures(SEED, Wallet.WARM, digest, {first: right}) == 0
    assert valid_signatures(b"another seed", Wallet.HOT, digest, {first: right}) == 0


def test_the_tag_and_every_other_field_change_the_transaction() -> None:
    fields = ("w1", "USDC", "stellar", "GABC", "7", "1.5")
    digests = {transaction_digest(*fields)}
    for place in range(len(fields)):
        changed = list(fields)
        changed[place] += "x"
        digests.add(transaction_digest(*changed))
    assert len(digests) == len(fields) + 1
    assert transaction_hash(transaction_digest(*fields), Wallet.HOT) == transaction_hash(
        transaction_digest(*fields), Wallet.HOT
    )


@pytest.mark.parametrize(
    ("amount", "price", "expected"),
    [
        ("1", "10000", 1_000_000),
        ("0.1", "99999.99", 1_000_000),
        ("0.00000001", "0.000001", 1),
        ("0.333333333333333333", "3", 100),
        ("12345678901234567.89", "1", 1_234_567_890_123_456_789),
    ],
)
def test_a_value_is_exact_and_its_rest_counts_as_a_whole_cent(amount: str, price: str, expected: int) -> None:
    assert value_in_cents(Decimal(amount), Decimal(price)) == expected


def test_a_larger_wallet_never_has_smaller_limits() -> None:
    rules = list(RULES.values())
    for smaller, larger in itertools.pairwise(rules):
        assert smaller.transaction_max < larger.transaction_max
        assert smaller.daily_max < larger.daily_max
        assert smaller.approvals < larger.approvals
