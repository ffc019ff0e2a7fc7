"""Keys and addresses that the seed stands for. Coins lie on them, so no version may derive others."""

import pytest

from openspot.custody.derivation import deposit_address
from openspot.custody.signatures import sign, transaction_digest, transaction_hash
from openspot.custody.wallet_policy import Wallet
from openspot.domain.networks import load_networks

SEED = b"a seed of thirty-two bytes, fixed"
DIGEST = "b5b38d40ed8fa81e01b69651c9d0aee737e3121049bc9b74c6b37920c0bc5ca7"


@pytest.mark.parametrize(
    ("network", "first", "eighth"),
    [
        ("bitcoin", "tb1qp9689jrjzn54jah7gvrcx6t6avzlt02neex7hp", "tb1qw07jekwst3uprejt5vn3y97pxuaejmmzm5raya"),
        ("ethereum", "0xB56346FD2BfA4A2B1b4aC921d54F2Cd7bfDb1477", "0xF64c1c47988D41C3Ad59D414e724EFed470b2ea4"),
        ("solana", "7U4RoqCtMwTaZtQfC6KHWVQEsED3CkfPGDkULZXuTX4Z", "FtWz7TGJ8foVL2jh1kgsPGp4xJoayqzPm3m169SBnsjB"),
        ("tron", "TDMakY5g3TKTAdLtWMuUeybDXWwQCWW7gy", "TH9iCbuC15Y5Jq6b22SsMKLdo1tVaWpUAR"),
        (
            "stellar",
            "GAGGM6I7QHSUNWEN3Z3DXXRDOQC2IQFTHNJSHQCXSUTUQYH37SUSDNKA",
            "GARGLMYANEVJNPKWYCNIKEQX3GJ6J5QCWLZCGH36GTC2BSOLFUPJP2JE",
        ),
    ],
)
def test_a_number_has_always_had_this_deposit_address(network: str, first: str, eighth: str) -> None:
    chain = load_networks()[network]
    assert (deposit_address(SEED, chain, 0), deposit_address(SEED, chain, 7)) == (first, eighth)


def test_a_withdrawal_has_always_had_this_digest_signature_and_hash() -> None:
    assert transaction_digest("w1", "BTC", "bitcoin", "tb1qaddress", None, "0.5") == DIGEST
    assert sign(SEED, "hot-1", DIGEST) == "1751302de20998b98a644df48d5ef21348d1df0b15d9fa21ff305afb16591637"
    assert transaction_hash(DIGEST, Wallet.HOT) == "0xcf2218e3093ebe7022a2050be64983275e59c0f96f70cd34861c54a65c7b8126"
