"""Backups in a bucket of storage that speaks S3, through obstore (docs/adr/0096-backups-speak-s3-through-obstore.md).

Every object is one PUT, so it is there whole or not at all, and a killed backup leaves no parts behind. A request that
gets no answer, or one of the server's faults (5xx, 429), is repeated RETRIES times, with growing pauses.
"""

import re
from collections.abc import Callable, Iterable
from datetime import timedelta
from typing import TypeVar

from obstore.exceptions import AlreadyExistsError, BaseError, NotSupportedError
from obstore.store import S3Store

from openspot.backup.storage import StorageError

RETRIES = 4
RETRY_S_MAX = 300
"""Nothing is repeated after so many seconds."""
CONNECT_TIMEOUT_S = 10
_STATUS = re.compile(r"status code: (\d{3}[A-Za-z ]*)")
_CODE = re.compile(r"<Code>([^<]{1,100})</Code>")
_MESSAGE = re.compile(r"<Message>([^<]{1,300})</Message>")
_CAUSE = re.compile(r'message: "([^"]{1,200})"')
"""The system's own word for why there was no answer, among the causes of an error."""
_NOT_SUPPORTED = re.compile(r"status code: 501|<Code>NotImplemented</Code>")

Value = TypeVar("Value")


class S3Storage:
    """The objects below a prefix of a bucket.

    Without keys, those of the environment count (`AWS_ACCESS_KEY_ID`, a role of the machine). `timeout_s` bounds each
    attempt of a request.
    """

    def __init__(
        self,
        bucket: str,
        prefix: str,
        *,
        region: str,
        endpoint: str = "",
        access_key: str = "",
        secret_key: str = "",
        timeout_s: float = 60.0,
    ) -> None:
        self.where = f"s3://{bucket}/{prefix}".rstrip("/")
        given = {"endpoint": endpoint, "access_key_id": access_key, "secret_access_key": secret_key}
        self._store = S3Store(
            bucket,
            prefix=prefix or None,
            region=region,
            client_options={
                "allow_http": endpoint.startswith("http://"),
                "timeout": timedelta(seconds=timeout_s),
                "connect_timeout": timedelta(seconds=min(timeout_s, CONNECT_TIMEOUT_S)),
            },
            retry_config={"max_retries": RETRIES, "retry_timeout": timedelta(seconds=RETRY_S_MAX)},
            **{name: value for name, value in given.items() if value},  # type: ignore[arg-type]
        )

    def sizes(self, folder: str) -> dict[str, int]:
        """See Storage. The answer comes in pages."""
        return self._told(
            f"does not list {folder}",
            lambda: {str(meta["path"]): int(meta["size"]) for page in self._store.list(f"{folder}/") for meta in page},
        )

    def read(self, name: str, bytes_max: int) -> bytes:
        """See Storage."""

        def get() -> bytes:
            found = self._store.get(name)
            if found.meta["size"] > bytes_max:
                raise StorageError(f"{self.where}/{name} has {found.meta['size']} bytes, more than {bytes_max}")
            return bytes(found.bytes())

        return self._told(f"does not give {name}", get)

    def write(self, name: str, content: bytes) -> None:
        """See Storage."""
        self._told(f"does not take {name}", lambda: self._store.put(name, content, use_multipart=False))

    def write_new(self, name: str, content: bytes) -> None:
        """See Storage. A storage without conditional writes gets an ordinary one."""
        try:
            self._store.put(name, content, use_multipart=False, mode="create")
        except AlreadyExistsError as error:
            # The answer to an earlier attempt may have been lost.
            if self.read(name, len(content) + 1) != content:
                raise FileExistsError(f"{self.where}/{name} is there already") from error
        except (BaseError, OSError) as error:
            if not isinstance(error, NotSupportedError) and not _NOT_SUPPORTED.search(str(error)):
                raise self._fault(f"does not take {name}", error) from None
            self.write(name, content)

    def remove(self, names: Iterable[str]) -> None:
        """See Storage."""
        if found := list(names):
            self._told("does not remove old objects", lambda: self._store.delete(found))

    def remove_drafts(self) -> None:
        """Do nothing: there are no drafts."""

    def _told(self, what: str, work: Callable[[], Value]) -> Value:
        try:
            return work()
        except StorageError:
            raise
        except (BaseError, OSError) as error:
            raise self._fault(what, error) from None

    def _fault(self, what: str, error: Exception) -> OSError:
        reason = reason_of(str(error))
        if isinstance(error, FileNotFoundError) and "NoSuchBucket" not in reason:
            return FileNotFoundError(f"{self.where} {what}: {reason}")
        return StorageError(f"{self.where} {what}: {reason}")


def reason_of(text: str) -> str:
    """What a storage said, in one line: its status and its own words. They hold no secret, as headers could."""
    head = text.partition("\n\nDebug source")[0]
    parts = [found[1].strip() for pattern in (_STATUS, _CODE, _MESSAGE) if (found := pattern.search(head))]
    if not parts:
        cause = _CAUSE.search(text)
        parts = [head.partition("\n")[0].rpartition(" - ")[2] or "no reason given", *([cause[1]] if cause else [])]
    return ", ".join(parts)
