"""Deposit addresses, derived from custody's seed by BIP 32, one account for each number. Pure."""

import hashlib

from bip_utils import Bip44, Bip44Changes, Bip44Coins, Bip84, Bip84Coins

from openspot.domain.networks import Network


def deposit_address(seed: bytes, network: Network, number: int) -> str:
    """The deposit address `number` (0 to 2^31 - 1) on `network`. Raises ValueError for a fiat network."""
    if network.is_fiat:
        raise ValueError(f"{network.name} has no addresses of its own")
    key = hashlib.sha512(b"addresses:" + seed).digest()
    if network.family == "bitcoin":
        account = Bip84.FromSeed(key, Bip84Coins.BITCOIN_TESTNET).Purpose().Coin().Account(number)
        return str(account.Change(Bip44Changes.CHAIN_EXT).AddressIndex(0).PublicKey().ToAddress())
    coin = {
        "ethereum": Bip44Coins.ETHEREUM,
        "solana": Bip44Coins.SOLANA,
        "tron": Bip44Coins.TRON,
        "stellar": Bip44Coins.STELLAR,
    }[network.family]
    account = Bip44.FromSeed(key, coin).Purpose().Coin().Account(number)
    if network.family == "stellar":
        # Its wallets use the account's own key (SEP-5).
        return str(account.PublicKey().ToAddress())
    return str(account.Change(Bip44Changes.CHAIN_EXT).AddressIndex(0).PublicKey().ToAddress())
