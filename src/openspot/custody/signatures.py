"""Signatures of the wallets' signers over a withdrawal's transaction. Pure.

The simulator derives each signer's key from the custody seed. Whoever has the seed can sign for all.
"""

import hashlib
import hmac
from collections.abc import Mapping

import msgspec

from openspot.custody.wallet_policy import RULES, Wallet, signers_of


def transaction_digest(withdrawal_id: str, asset: str, network: str, address: str, tag: str | None, amount: str) -> str:
    """The hex digest of the transaction that sends `amount` to `address`. A withdrawal always has the same digest."""
    return hashlib.sha256(msgspec.json.encode([withdrawal_id, asset, network, address, tag, amount])).hexdigest()


def sign(seed: bytes, signer: str, digest: str) -> str:
    """The signer's signature over `digest`, in hex."""
    key = hmac.digest(seed, b"signer:" + signer.encode(), "sha256")
    return hmac.digest(key, digest.encode(), "sha256").hex()


def valid_signatures(seed: bytes, wallet: Wallet, digest: str, given: Mapping[str, str]) -> int:
    """How many of the `given` signatures (by signer) are correct and made by a signer of this wallet."""
    signers = signers_of(wallet)
    return sum(
        signer in signers and hmac.compare_digest(signature, sign(seed, signer, digest))
        for signer, signature in given.items()
    )


def may_send(seed: bytes, wallet: Wallet, digest: str, given: Mapping[str, str]) -> bool:
    """Whether enough signers of the wallet have signed `digest`."""
    return valid_signatures(seed, wallet, digest, given) >= RULES[wallet].signatures


def transaction_hash(digest: str, wallet: Wallet) -> str:
    """The chain's hash of the transaction. It contains nothing random, so a second send has the same hash."""
    return "0x" + hashlib.sha256(f"{digest}:{wallet.value}".encode()).hexdigest()
