"""Addresses of the simulated chains: their rules, and the form in which custody stores them. Pure.

Bitcoin, Tron and Stellar addresses and bank accounts carry a checksum. An Ethereum address carries it in the case of
its letters; in upper or lower case alone it has none. A Solana address has none: a wrong letter is found only if the
result is not a point on the curve. Bitcoin addresses must be of the test network. On the other chains, an address looks
the same on both networks.
"""

import re
from collections.abc import Callable

from bip_utils import (
    Base58ChecksumError,
    Base58Decoder,
    Bech32ChecksumError,
    EthAddrDecoder,
    Kekkak256,
    SegwitBech32Decoder,
    SolAddrDecoder,
    TrxAddrDecoder,
    XlmAddrDecoder,
)

from openspot.domain.networks import Network

ADDRESS_LENGTH_MAX = 128
TAG_TEXT = re.compile(r"[!-~]{1,28}")
"""A Stellar memo has at most 28 bytes."""

_LIBRARY_ERRORS = (ValueError, TypeError, IndexError, OverflowError, Base58ChecksumError, Bech32ChecksumError)
_BITCOIN_PREFIX = "tb"
_BITCOIN_VERSIONS = (0x6F, 0xC4)
"""Base58 versions of the test network: pay to public key hash, pay to script hash."""
_HASH_LENGTH = 20
_WITNESS_LENGTHS = {0: (20, 32), 1: (32,)}
"""Lengths of a witness program by its version: BIP 141, BIP 341."""
_ABA_TEXT = re.compile(r"([0-9]{9}):([0-9]{4,17})")
_ABA_WEIGHTS = (3, 7, 1, 3, 7, 1, 3, 7, 1)
_IBAN_TEXT = re.compile(r"[A-Z]{2}[0-9]{2}[A-Z0-9]{11,30}")
_IBAN_REMAINDER = 1


class AddressError(ValueError):
    """An address or a tag is not valid on its network. The message is a predicate, such as "has a wrong checksum"."""


def normalised(network: Network, address: str) -> str:
    """The form in which custody stores `address`. Raises AddressError if it is not valid on `network`."""
    if not 1 <= len(address) <= ADDRESS_LENGTH_MAX or not address.isascii() or not address.isprintable():
        raise AddressError(f"must be 1 to {ADDRESS_LENGTH_MAX} visible ASCII characters")
    try:
        return _NORMALISERS[network.family](address)
    except AddressError:
        raise
    except _LIBRARY_ERRORS as error:
        # The library's message is about its code, such as "substring not found", and helps no user.
        raise AddressError(
            f"is no {network.name} address: its prefix, its length, its checksum or a character is wrong"
        ) from error


def checked_tag(network: Network, tag: str | None) -> str | None:
    """Return `tag`. Raises AddressError if the network takes no tag, or if this one breaks its rule."""
    if tag is None:
        return None
    if not network.takes_tag:
        raise AddressError(f"must be absent: {network.name} addresses take none")
    if not TAG_TEXT.fullmatch(tag):
        raise AddressError("must be 1 to 28 visible ASCII characters")
    return tag


def _bitcoin(address: str) -> str:
    if address.lower().startswith(_BITCOIN_PREFIX + "1"):
        # Upper case is legal: it makes smaller QR codes.
        text = address.lower() if address in (address.lower(), address.upper()) else address
        version, program = SegwitBech32Decoder.Decode(_BITCOIN_PREFIX, text)
        if len(program) not in _WITNESS_LENGTHS.get(version, ()):
            raise AddressError("has a witness program of an unknown version or a wrong length")
        return text
    decoded = Base58Decoder.CheckDecode(address)
    if len(decoded) != 1 + _HASH_LENGTH or decoded[0] not in _BITCOIN_VERSIONS:
        raise AddressError("is no address of Bitcoin's test network")
    return address


def _ethereum(address: str) -> str:
    digits = address[2:]
    has_checksum = digits not in (digits.lower(), digits.upper())
    EthAddrDecoder.DecodeAddr(address, skip_chksum_enc=not has_checksum)
    return "0x" + _mixed_case(digits.lower())


def _mixed_case(digits: str) -> str:
    """The letters in upper case where the hash of `digits` says so (EIP-55)."""
    digest = Kekkak256.QuickDigest(digits).hex()
    return "".join(
        digit.upper() if int(place, 16) >= 8 else digit for digit, place in zip(digits, digest, strict=False)
    )


def _decoded_by(decode: Callable[[str], bytes]) -> Callable[[str], str]:
    def normalise(address: str) -> str:
        decode(address)
        return address

    return normalise


def _aba(address: str) -> str:
    found = _ABA_TEXT.fullmatch(address)
    if found is None:
        raise AddressError("must be a routing number of 9 digits, a colon, and an account number of 4 to 17 digits")
    if (
        sum(int(digit) * weight for digit, weight in zip(found[1], _ABA_WEIGHTS, strict=True)) % 10
        or found[1] == "0" * 9
    ):
        raise AddressError("has a routing number with a wrong check digit")
    return address


def _iban(address: str) -> str:
    text = address.replace(" ", "").upper()
    if not _IBAN_TEXT.fullmatch(text):
        raise AddressError("must be an IBAN")
    turned = text[4:] + text[:4]
    if int("".join(str(int(character, 36)) for character in turned)) % 97 != _IBAN_REMAINDER:
        raise AddressError("is an IBAN with wrong check digits")
    return text


_NORMALISERS: dict[str, Callable[[str], str]] = {
    "bitcoin": _bitcoin,
    "ethereum": _ethereum,
    "solana": _decoded_by(SolAddrDecoder.DecodeAddr),
    "tron": _decoded_by(TrxAddrDecoder.DecodeAddr),
    "stellar": _decoded_by(XlmAddrDecoder.DecodeAddr),
    "aba": _aba,
    "iban": _iban,
}
