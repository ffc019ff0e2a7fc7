"""Ids and secrets of API keys. Secrets are sealed, so that a copy of the database gives none away."""

import hmac
from collections.abc import Iterable

from openspot.domain.ids import short_id
from openspot.kit.log import get_logger
from openspot.kit.sealing import Sealer, UnsealError, key_id_of

log = get_logger("api_keys")

KEY_ID_LENGTH = 24
_RANDOM_LENGTH = 16
_TAG_LENGTH = KEY_ID_LENGTH - _RANDOM_LENGTH


def tag_purpose(sealing_key: str) -> str:
    """The purpose under which the tag key of a sealing key is sealed."""
    return f"tag-key:{sealing_key}"


class Vault:
    """Seals the secrets of keys, and makes ids of keys."""

    def __init__(self, current: str, *former: str) -> None:
        """What was sealed with a `former` secret can be opened, too. Raises ValueError without a secret."""
        self._sealer = Sealer(current, *former)
        self._tag_keys = {key_id_of(secret): _tag_key(secret) for secret in (current, *former)}
        self.sealing_key = key_id_of(current)
        """The name of the key that seals from now on."""

    def seal(self, key_id: str, secret: bytes) -> bytes:
        """Encrypt the secret of a key. The result can be opened for that key only."""
        return self._sealer.seal(secret, secret_purpose(key_id))

    def open(self, key_id: str, sealed: bytes) -> bytes:
        """Decrypt the secret of a key. Raises UnsealError."""
        return self._sealer.open(sealed, secret_purpose(key_id))

    def sealed_tag_keys(self) -> dict[str, bytes]:
        """By the name of each sealing key, what says later whether an id was made with it: encrypted.

        A key outlives the sealing secret of its day. Of a secret that is gone, this is what stays.
        """
        return {
            sealing_key: self._sealer.seal(tag_key, tag_purpose(sealing_key))
            for sealing_key, tag_key in self._tag_keys.items()
        }

    def learn(self, sealed_tag_keys: Iterable[tuple[str, bytes]]) -> None:
        """Know ids that were made with earlier sealing secrets, too. What cannot be opened is left out, and logged."""
        for sealing_key, sealed in sealed_tag_keys:
            if sealing_key not in self._tag_keys:
                try:
                    self._tag_keys[sealing_key] = self._sealer.open(sealed, tag_purpose(sealing_key))
                except UnsealError as error:
                    log.error("keys of an earlier sealing secret not usable", key=sealing_key, reason=str(error))

    def make_id(self, random_bytes: bytes) -> str:
        """An id for a new key: random letters, and letters that only this vault can make of them."""
        letters = short_id(random_bytes, _RANDOM_LENGTH)
        return letters + _tag(self._tag_keys[self.sealing_key], letters)

    def made(self, key_id: str) -> bool:
        """Whether `make_id` made this id. Any other id needs no look-up, so strangers cannot cause one."""
        if len(key_id) != KEY_ID_LENGTH or not key_id.isascii():
            return False
        letters, tag = key_id[:_RANDOM_LENGTH], key_id[_RANDOM_LENGTH:]
        return any(hmac.compare_digest(tag, _tag(tag_key, letters)) for tag_key in self._tag_keys.values())


def secret_purpose(key_id: str) -> str:
    """The purpose under which the secret of a key is sealed."""
    return f"api-key:{key_id}"


def _tag_key(secret: str) -> bytes:
    return hmac.digest(secret.encode(), b"ids of API keys", "sha256")


def _tag(tag_key: bytes, letters: str) -> str:
    return short_id(hmac.digest(tag_key, letters.encode(), "sha256"), _TAG_LENGTH)
