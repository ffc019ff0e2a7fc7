"""Published addresses of other people's specifications, as literals: what their checksums say, custody says too.

Bitcoin: BIP-173 and BIP-350 (test vectors of segregated witness addresses), and the examples of the Bitcoin wiki for
Base58Check. Ethereum: the examples of EIP-55. Stellar: SEP-23. Tron and Solana: the addresses of well-known contracts
and programs. Bank accounts: the routing number of the Federal Reserve Bank of Boston, and the example of the IBAN
registry.
"""

import pytest
from bip_utils import SegwitBech32Encoder

from openspot.custody.addresses import AddressError, normalised
from openspot.domain.networks import load_networks

NETWORKS = load_networks()

VALID = [
    # BIP-173 and BIP-350, test network. Upper case is the same address.
    ("bitcoin", "tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx", "tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx"),
    ("bitcoin", "TB1QW508D6QEJXTDG4Y5R3ZARVARY0C5XW7KXPJZSX", "tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx"),
    ("bitcoin", "tb1qrp33g0q5c5txsp9arysrx4k6zdkfs4nce4xj0gdcccefvpysxf3q0sl5k7",
     "tb1qrp33g0q5c5txsp9arysrx4k6zdkfs4nce4xj0gdcccefvpysxf3q0sl5k7"),
    ("bitcoin", "tb1qqqqqp399et2xygdj5xreqhjjvcmzhxw4aywxecjdzew6hylgvsesrxh6hy",
     "tb1qqqqqp399et2xygdj5xreqhjjvcmzhxw4aywxecjdzew6hylgvsesrxh6hy"),
    ("bitcoin", "tb1pqqqqp399et2xygdj5xreqhjjvcmzhxw4aywxecjdzew6hylgvsesf3hn0c",
     "tb1pqqqqp399et2xygdj5xreqhjjvcmzhxw4aywxecjdzew6hylgvsesf3hn0c"),
    # Base58Check, test network: to a public key's hash, to a script's hash.
    ("bitcoin", "mipcBbFg9gMiCh81Kj8tqqdgoZub1ZJRfn", "mipcBbFg9gMiCh81Kj8tqqdgoZub1ZJRfn"),
    ("bitcoin", "2MzQwSSnBHWHqSAqtTVQ6v47XtaisrJa1Vc", "2MzQwSSnBHWHqSAqtTVQ6v47XtaisrJa1Vc"),
    # EIP-55: all upper, all lower, mixed.
    ("ethereum", "0x52908400098527886E0F7030069857D2E4169EE7", "0x52908400098527886E0F7030069857D2E4169EE7"),
    ("ethereum", "0x8617E340B3D01FA5F11F306F4090FD50E238070D", "0x8617E340B3D01FA5F11F306F4090FD50E238070D"),
    ("ethereum", "0xde709f2102306220921060314715629080e2fb77", "0xde709f2102306220921060314715629080e2fb77"),
    ("ethereum", "0x27b1fdb04752bbc536007a920d24acb045561c26", "0x27b1fdb04752bbc536007a920d24acb045561c26"),
    ("ethereum", "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed", "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed"),
    ("ethereum", "0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359", "0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359"),
    ("ethereum", "0xdbF03B407c01E7cD3CBea99509d93f8DDDC8C6FB", "0xdbF03B407c01E7cD3CBea99509d93f8DDDC8C6FB"),
    ("ethereum", "0xD1220A0cf47c7B9Be7A2E6BA89F429762e7b9aDb", "0xD1220A0cf47c7B9Be7A2E6BA89F429762e7b9aDb"),
    # One case carries no checksum, and is kept with one.
    ("ethereum", "0xfb6916095ca1df60bb79ce92ce3ea74c37c5d359", "0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359"),
    # The USDT contract of Tron.
    ("tron", "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t", "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t"),
    # SEP-23.
    ("stellar", "GA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJVSGZ",
     "GA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJVSGZ"),
    # The USDC mint of Solana.
    ("solana", "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v", "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v"),
    ("wire", "011000015:123456789", "011000015:123456789"),
    ("ted", "BR18 0036 0305 0000 1000 9795 493C 1", "BR1800360305000010009795493C1"),
]  # fmt: skip

INVALID = [
    # BIP-350: a checksum of Bech32 instead of Bech32m, and the other way round.
    ("bitcoin", "tb1z0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqglt7rf"),
    ("bitcoin", "tb1q0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vq24jc47"),
    # BIP-350: two cases in one address, and padding that is not zero. BIP-173: the same padding.
    ("bitcoin", "tb1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vq47Zagq"),
    ("bitcoin", "tb1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vpggkg4j"),
    ("bitcoin", "tb1qrp33g0q5c5txsp9arysrx4k6zdkfs4nce4xj0gdcccefvpysxf3pjxtptv"),
    # The main network: BIP-173, and Base58Check.
    ("bitcoin", "BC1QW508D6QEJXTDG4Y5R3ZARVARY0C5XW7KV8F3T4"),
    ("bitcoin", "bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqzk5jj0"),
    ("bitcoin", "17VZNX1SN5NtKa8UQFxwQbFeFc3iqRYhem"),
    ("bitcoin", "3EktnHQD7RiAE6uzMj2ZifT9YgRrkSgzQX"),
    # A wrong check letter.
    ("bitcoin", "mipcBbFg9gMiCh81Kj8tqqdgoZub1ZJRfm"),
    ("bitcoin", "tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsz"),
    # EIP-55: the case of one letter is another.
    ("ethereum", "0x5AAeb6053F3E94C9b9A09f33669435E7Ef1BeAed"),
    ("ethereum", "0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5D359"),
    ("ethereum", "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAedd"),
    ("tron", "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6T"),
    # A secret seed instead of an account, a wrong checksum, small letters.
    ("stellar", "SBU2RRGLXH3E5CQHTD3ODLDF2BWDCYUSSBLLZ5GNW7JXHDIYKXZWHOKR"),
    ("stellar", "GA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJVSGA"),
    ("stellar", "ga7qynf7sowq3glr2bgmzehxavirza4kvwltjjfc7mgxua74p7ujvsgz"),
    # 31 bytes.
    ("solana", "11111111111111111111111111111111"[:-1]),
    ("wire", "011000016:123456789"),
    ("wire", "000000000:123456789"),
    ("ted", "BR19 0036 0305 0000 1000 9795 493C 1"),
    ("ted", "BR1800360305000010009795493D1"),
]


@pytest.mark.parametrize(("network", "published", "kept"), VALID)
def test_a_published_address_is_taken_and_kept_in_its_one_form(network: str, published: str, kept: str) -> None:
    assert normalised(NETWORKS[network], published) == kept


@pytest.mark.parametrize(("network", "published"), INVALID)
def test_a_published_counterexample_is_refused(network: str, published: str) -> None:
    with pytest.raises(AddressError):
        normalised(NETWORKS[network], published)


@pytest.mark.parametrize(("version", "length"), [(1, 20), (1, 40), (2, 32), (16, 2)])
def test_a_witness_program_that_nobody_can_spend_is_refused_whatever_its_checksum(version: int, length: int) -> None:
    address = SegwitBech32Encoder.Encode("tb", version, bytes(range(length)))
    with pytest.raises(AddressError, match="has a witness program of an unknown version or a wrong length"):
        normalised(NETWORKS["bitcoin"], address)


@pytest.mark.parametrize("published", sorted({kept for _, _, kept in VALID}))
def test_an_address_is_one_of_a_single_network(published: str) -> None:
    def is_taken(network: str) -> bool:
        try:
            normalised(NETWORKS[network], published)
        except AddressError:
            return False
        return True

    assert [name for name in NETWORKS if is_taken(name)] == [name for name, _, kept in VALID if kept == published][:1]
