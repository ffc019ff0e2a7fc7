"""The file of networks: each figure comes from its own field, and a network that contradicts itself is refused."""

from decimal import Decimal

import pytest

from openspot.domain.networks import BankAccount, Network, NetworkAsset, load_networks

CHAIN = """
[networks.ripples]
family = "stellar"
confirmations = 7
tag = true
assets.XLM = { fee = "0.01", minimum = "2", deposit_minimum = "0.5" }
assets.USDC = { fee = "0", minimum = "0.1", deposit_minimum = "3" }
"""
BANK = """
[networks.wire]
family = "aba"
confirmations = 1
tag = false
assets.USD = { fee = "25", minimum = "100", deposit_minimum = "10" }
bank = { name = "First Bank", account_name = "OpenSpot", account = "021000021:1234" }
"""


def test_each_figure_of_a_network_comes_from_its_own_field() -> None:
    assert load_networks(CHAIN + BANK) == {
        "ripples": Network(
            "ripples",
            "stellar",
            7,
            True,
            {
                "XLM": NetworkAsset("XLM", Decimal("0.01"), Decimal(2), Decimal("0.5")),
                "USDC": NetworkAsset("USDC", Decimal(0), Decimal("0.1"), Decimal(3)),
            },
        ),
        "wire": Network(
            "wire",
            "aba",
            1,
            False,
            {"USD": NetworkAsset("USD", Decimal(25), Decimal(100), Decimal(10))},
            BankAccount("First Bank", "OpenSpot", "021000021:1234"),
        ),
    }


def test_without_a_text_the_file_of_the_package_is_read() -> None:
    assert list(load_networks()) == ["bitcoin", "ethereum", "solana", "tron", "stellar", "wire", "ted"]


@pytest.mark.parametrize(
    ("text", "before", "after", "reason"),
    [
        (CHAIN, '"stellar"', '"ripple"', r"ripples: family must be one of aba, bitcoin, ethereum, iban, solana, "),
        (CHAIN, 'minimum = "0.1"', 'minimum = "0"', "ripples: minimum of USDC must be greater than its fee"),
        (CHAIN, 'fee = "0.01"', 'fee = "2"', "ripples: minimum of XLM must be greater than its fee"),
        (CHAIN, 'fee = "0.01"', 'fee = "-0.01"', "ripples: minimum of XLM must be greater than its fee"),
        (CHAIN, '"stellar"', '"iban"', "ripples: a fiat network needs a bank, and no other network has one"),
        (BANK, '"aba"', '"solana"', "wire: a fiat network needs a bank, and no other network has one"),
    ],
)
def test_a_network_that_contradicts_itself_is_refused(text: str, before: str, after: str, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        load_networks(text.replace(before, after))
