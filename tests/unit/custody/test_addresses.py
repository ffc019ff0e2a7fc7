"""Addresses: what each chain takes, in which form it is kept, and what a wrong letter does."""

import re

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from openspot.custody.addresses import AddressError, checked_tag, normalised
from openspot.custody.derivation import deposit_address
from openspot.domain.networks import Network, load_networks

NETWORKS = load_networks()
CHAINS = [network for network in NETWORKS.values() if not network.is_fiat]

P2WPKH = "tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx"
P2WSH = "tb1qrp33g0q5c5txsp9arysrx4k6zdkfs4nce4xj0gdcccefvpysxf3q0sl5k7"
TAPROOT = "tb1pqqqqp399et2xygdj5xreqhjjvcmzhxw4aywxecjdzew6hylgvsesf3hn0c"
MIXED_ETHEREUM = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed"

VALID = [
    ("bitcoin", P2WPKH, P2WPKH),
    ("bitcoin", P2WPKH.upper(), P2WPKH),
    ("bitcoin", P2WSH, P2WSH),
    ("bitcoin", TAPROOT, TAPROOT),
    ("bitcoin", "mipcBbFg9gMiCh81Kj8tqqdgoZub1ZJRfn", "mipcBbFg9gMiCh81Kj8tqqdgoZub1ZJRfn"),
    ("bitcoin", "2MzQwSSnBHWHqSAqtTVQ6v47XtaisrJa1Vc", "2MzQwSSnBHWHqSAqtTVQ6v47XtaisrJa1Vc"),
    ("ethereum", MIXED_ETHEREUM, MIXED_ETHEREUM),
    # One case is legal: it carries no checksum.
    ("ethereum", MIXED_ETHEREUM.lower(), MIXED_ETHEREUM),
    ("ethereum", "0x" + MIXED_ETHEREUM[2:].upper(), MIXED_ETHEREUM),
    ("wire", "021000021:100200300", "021000021:100200300"),
    ("ted", "br18 0036 0305 0000 1000 9795 493C 1", "BR1800360305000010009795493C1"),
]

INVALID = [
    ("bitcoin", "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4"),  # the main network
    ("bitcoin", "1BoatSLRHtKNngkdXEeobR76b53LETtpyT"),
    ("bitcoin", P2WPKH[:-1] + "q"),
    ("bitcoin", "tb1Qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx"),  # two cases
    ("ethereum", MIXED_ETHEREUM.replace("A", "a", 1)),
    ("ethereum", MIXED_ETHEREUM[:-1]),
    ("ethereum", MIXED_ETHEREUM[2:]),
    ("wire", "021000020:100200300"),
    ("wire", "000000000:100200300"),
    ("wire", "021000021:123"),
    ("ted", "BR1800360305000010009795493C2"),
    ("ted", "BR18"),
    ("bitcoin", ""),
    ("bitcoin", "é" * 10),
    ("solana", "x" * 129),
    ("tron", "T\n"),
]


@pytest.mark.parametrize(("network", "text", "kept"), VALID)
def test_an_address_is_taken_and_kept_in_one_form(network: str, text: str, kept: str) -> None:
    assert normalised(NETWORKS[network], text) == kept
    assert normalised(NETWORKS[network], kept) == kept


@pytest.mark.parametrize(("network", "text"), INVALID)
def test_what_is_no_address_of_the_network_is_refused(network: str, text: str) -> None:
    with pytest.raises(AddressError) as refusal:
        normalised(NETWORKS[network], text)
    # Words of ours, not of the library's code.
    assert re.match("must be |must have |has |is no |is an IBAN with wrong", str(refusal.value))
    assert not re.search("substring|Invalid|expected", str(refusal.value))


@pytest.mark.spec("B4.3-17")
@pytest.mark.parametrize("network", CHAINS, ids=lambda network: network.name)
def test_derived_addresses_are_valid_stable_and_all_different(network: Network) -> None:
    addresses = [deposit_address(b"seed", network, number) for number in range(5)]
    assert addresses == [deposit_address(b"seed", network, number) for number in range(5)]
    assert len(set(addresses)) == 5
    assert deposit_address(b"another seed", network, 0) not in addresses
    for address in addresses:
        assert normalised(network, address) == address


CHECKSUMMED = [network for network in CHAINS if network.name in ("bitcoin", "tron", "stellar")]


@pytest.mark.parametrize("network", CHECKSUMMED, ids=lambda network: network.name)
def test_a_changed_letter_is_found(network: Network) -> None:
    address = deposit_address(b"seed", network, 1)
    for place in range(4, len(address)):
        other = "3" if address[place] != "3" else "4"
        with pytest.raises(AddressError):
            normalised(network, address[:place] + other + address[place + 1 :])


@pytest.mark.parametrize("one", CHAINS, ids=lambda network: network.name)
@pytest.mark.parametrize("other", list(NETWORKS.values()), ids=lambda network: network.name)
def test_an_address_of_one_chain_is_none_of_another(one: Network, other: Network) -> None:
    address = deposit_address(b"seed", one, 3)
    if one is other:
        assert normalised(other, address) == address
    else:
        with pytest.raises(AddressError):
            normalised(other, address)


def test_a_fiat_network_has_no_deposit_addresses() -> None:
    with pytest.raises(ValueError, match="wire has no addresses"):
        deposit_address(b"seed", NETWORKS["wire"], 0)


def test_a_tag_is_kept_where_the_network_takes_one_and_refused_elsewhere() -> None:
    assert checked_tag(NETWORKS["stellar"], "12345") == "12345"
    assert checked_tag(NETWORKS["stellar"], "x" * 28) == "x" * 28
    assert checked_tag(NETWORKS["bitcoin"], None) is None
    for network, tag in (("bitcoin", "1"), ("stellar", ""), ("stellar", "x" * 29), ("stellar", "a b")):
        reason = "takes? none" if network == "bitcoin" else "must be 1 to 28 visible ASCII characters"
        with pytest.raises(AddressError, match=f"{reason}$"):
            checked_tag(NETWORKS[network], tag)


@pytest.mark.parametrize("network", list(NETWORKS.values()), ids=lambda network: network.name)
@hypothesis_settings(max_examples=40)
@given(st.one_of(st.text(max_size=140), st.from_regex(r"(tb1|0x|T|G|m|2)[0-9A-Za-z]{20,62}", fullmatch=True)))
def test_any_text_is_taken_or_refused_and_never_breaks_the_check(network: Network, text: str) -> None:
    try:
        kept = normalised(network, text)
    except AddressError:
        return
    assert normalised(network, kept) == kept


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('family = "dogecoin"\nconfirmations = 1\ntag = false\nassets = {}', "family must be one of"),
        (
            'family = "bitcoin"\nconfirmations = 1\ntag = false\n[networks.x.assets.BTC]\nfee = "1"\nminimum = "1"\n'
            'deposit_minimum = "1"',
            "minimum of BTC must be greater than its fee",
        ),
        ('family = "iban"\nconfirmations = 0\ntag = false\nassets = {}', "a fiat network needs a bank"),
    ],
)
def test_a_wrong_configuration_is_refused_with_its_reason(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        load_networks(f"[networks.x]\n{text}")
