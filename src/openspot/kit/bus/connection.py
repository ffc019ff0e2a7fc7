"""The connection to the bus: credentials, TLS, the first connect, reconnects, and the health check."""

import asyncio
import re
import ssl
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit, urlunsplit

import nats.errors
import nkeys
from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.js import JetStreamContext

from openspot.contracts.subjects import inbox_of
from openspot.kit.bus.errors import BusUnavailableError
from openspot.kit.bus.inbox import ReplyInbox
from openspot.kit.log import get_logger
from openspot.kit.settings import Settings
from openspot.kit.tasks import cancellable, end_tasks

log = get_logger("bus")

PING_INTERVAL_S = 10
"""Seconds between two pings. After three without an answer, the client connects again."""
RECONNECT_PAUSE_S = 0.25
CONNECT_TIMEOUT_S = 2
CLOSE_TIMEOUT_S = 5.0
PENDING_BYTES_MAX = 64 * 1024 * 1024
"""While the connection is down, at most this many bytes wait to be sent."""
OWN_API_PREFIX = "$JS.API"
"""Where a server takes requests about the streams of the user's own account."""
_REFUSED_CREDENTIALS = "authorization violation"

OnGap = Callable[[str], None]
"""Called with the reason when core subscriptions may have missed events."""


class Connection:
    """An open connection. `Connection.open` opens it, `close` ends it."""

    def __init__(self, client: Client, settings: Settings) -> None:
        self.client = client
        self.settings = settings
        self.inbox = ReplyInbox(client)
        self.api_prefix = settings.nats_api_prefix or OWN_API_PREFIX
        self.jetstream: JetStreamContext = client.jetstream(timeout=settings.request_timeout_s, prefix=self.api_prefix)
        self._on_reconnect: list[Callable[[], None]] = []
        self._on_gap: OnGap | None = None

    @classmethod
    async def open(cls, settings: Settings, name: str, on_gap: OnGap | None = None) -> "Connection":
        """Connect. Waits without limit for a server that is not up yet; a caller may set a timeout.

        Raises BusUnavailableError if the server is up and refuses the connection, or if a setting of the connection
        cannot be used. Calls `on_gap` when the connection is lost, and when this process falls behind and the client
        library drops events.
        """
        client = Client()
        connection = cls(client, settings)
        options = _credentials(settings, client) | {"tls": _tls_context(settings)}
        refused: asyncio.Future[str] = asyncio.get_running_loop().create_future()

        async def note_error(error: Exception) -> None:
            if isinstance(error, nats.errors.SlowConsumerError):
                connection.note_gap("this process fell behind the bus")
                return
            log.warning("bus connection", error=repr(error))
            reason = _refusal(error)
            if reason is not None and not refused.done():
                refused.set_result(reason)

        async def note_disconnect() -> None:
            connection.note_gap("the connection to the bus was lost")

        async def note_reconnect() -> None:
            log.info("bus reconnected")
            for callback in connection._on_reconnect:
                callback()

        connecting = asyncio.ensure_future(
            client.connect(
                [_without_credentials(address) for address in settings.nats_servers],
                name=f"openspot-{name}",
                inbox_prefix=_inbox_prefix(settings),
                connect_timeout=CONNECT_TIMEOUT_S,
                reconnect_time_wait=RECONNECT_PAUSE_S,  # type: ignore[arg-type]
                max_reconnect_attempts=-1,
                allow_reconnect=True,
                error_cb=note_error,
                disconnected_cb=note_disconnect,
                reconnected_cb=note_reconnect,
                pending_size=PENDING_BYTES_MAX,
                ping_interval=PING_INTERVAL_S,
                **options,
            )
        )
        try:
            # The library would try again and again, even if the server refuses the connection.
            await asyncio.wait((connecting, refused), return_when=asyncio.FIRST_COMPLETED)
            if not connecting.done():
                raise BusUnavailableError(refused.result())
            connecting.result()
        except (OSError, nats.errors.Error, TimeoutError) as error:
            raise BusUnavailableError(f"NATS_URL: no bus at the given address: {error!r}") from error
        finally:
            # The library may ignore the cancellation. The task has nothing to clean up, so it is cancelled again soon.
            await end_tasks(connecting, again_s=0.05)
            if not client.is_connected:
                await cancellable(client.close())
        if options["tls"] is not None and not _speaks_tls(client):
            await cancellable(client.close())
            raise BusUnavailableError(_NO_TLS)
        await connection.inbox.open()
        connection._on_gap = on_gap
        return connection

    @property
    def is_connected(self) -> bool:
        """Whether there is a connection now."""
        return bool(self.client.is_connected)

    @property
    def makes_streams(self) -> bool:
        """Whether this process makes the streams, consumers and buckets that it misses. Else somebody else does."""
        return not self.settings.nats_api_prefix

    @property
    def reconnects(self) -> int:
        """How often the connection was lost and restored."""
        return int(self.client.stats["reconnects"])

    def on_reconnect(self, callback: Callable[[], None]) -> None:
        """Call `callback` each time the connection is restored."""
        self._on_reconnect.append(callback)

    def note_gap(self, reason: str) -> None:
        """Report that core subscriptions may have missed events."""
        if self._on_gap is not None:
            self._on_gap(reason)

    async def storage(self) -> tuple[int, int]:
        """See Bus.storage."""
        try:
            account = await self.jetstream.account_info()
        except (nats.errors.Error, nats.js.errors.Error) as error:
            raise BusUnavailableError(f"the bus does not say how much its streams take: {error!r}") from error
        limit = account.limits.max_storage
        return account.storage, limit if limit and limit > 0 else 0

    async def check(self) -> None:
        """Raise BusUnavailableError unless the server answers on this connection within a second.

        Publishes to its own inbox and waits for the message. Two simpler ways fail. A request to a subject without a
        provider: while an operator listens to all subjects, the server does not report that nobody replies. The
        library's `flush`: if it times out, it leaves a cancelled future behind; the late answer then raises in the
        library's read loop, which ends for good.
        """
        if not self.is_connected:
            raise BusUnavailableError("not connected")
        returned = asyncio.Event()

        async def note(_: Msg) -> None:
            returned.set()

        inbox = self.client.new_inbox()
        try:
            subscription = await self.client.subscribe(inbox, cb=note)
            try:
                await self.client.publish(inbox, b"")
                async with asyncio.timeout(self.settings.check_timeout_s / 2):
                    await returned.wait()
            finally:
                await subscription.unsubscribe()
        except Exception as error:
            raise BusUnavailableError(repr(error)) from error

    async def close(self) -> None:
        """Send pending messages, then close."""
        self._on_gap = None
        try:
            if self.client.is_connected:
                async with asyncio.timeout(CLOSE_TIMEOUT_S):
                    await cancellable(self.client.drain())
        except (nats.errors.Error, OSError, TimeoutError) as error:
            log.warning("bus connection closed before it was drained", error=repr(error))
        with suppress(nats.errors.Error, OSError):
            if not self.client.is_closed:
                await cancellable(self.client.close())


_NO_TLS = "NATS_URL: the server does not speak TLS, and the settings ask for it"
_SUBJECT_TOKEN = re.compile(r"[A-Za-z0-9_-]+")
_CREDENTIAL_PARTS = ("BEGIN NATS USER JWT", "BEGIN USER NKEY SEED")


class _NoTlsError(nats.errors.Error):
    """The server does not offer TLS, so the client must not send it a secret."""

    def __str__(self) -> str:
        return _NO_TLS


def _refusal(error: Exception) -> str | None:
    """Why the server will always refuse this connection; None for an error that may pass."""
    # The protocol has no code for this, only a text.
    if isinstance(error, nats.errors.AuthorizationError) or _REFUSED_CREDENTIALS in str(error).lower():
        return "NATS_URL: the server refuses these credentials"
    if isinstance(error, _NoTlsError):
        return str(error)
    if isinstance(error, ssl.SSLError):
        return f"NATS_URL: no TLS connection: {error}"
    return None


def _without_credentials(address: str) -> str:
    parts = urlsplit(address if "://" in address else f"nats://{address}")
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))


def _credentials(settings: Settings, client: Client) -> dict[str, Any]:
    """The options of the client library that hold the credentials. Raises BusUnavailableError."""
    if settings.nats_credentials_file:
        _check_credentials_file(Path(settings.nats_credentials_file))
        return {"user_credentials": settings.nats_credentials_file}
    if settings.nats_nkey_seed:
        try:
            nkeys.from_seed(bytearray(settings.nats_nkey_seed.strip().encode()))
        except Exception as error:
            raise BusUnavailableError("OPENSPOT_NATS_NKEY_SEED is not the seed of an nkey") from error
        return {"nkeys_seed_str": settings.nats_nkey_seed}
    given = {_user_and_password(address) for address in settings.nats_servers} - {None}
    if len(given) > 1:
        raise BusUnavailableError("NATS_URL: all addresses must have the same user and password")
    if not given:
        return {}
    user, password = next(iter(given)) or ("", None)
    needs_tls = _asks_for_tls(settings)

    def in_confidence(secret: str) -> Callable[[], str]:
        def reveal() -> str:
            # The library calls this after the server's INFO. Without TLS, others could read the secret.
            if needs_tls and not _speaks_tls(client):
                raise _NoTlsError
            return secret

        return reveal

    if password is None:
        return {"token": in_confidence(user)}
    return {"user": user, "password": in_confidence(password)}


def _inbox_prefix(settings: Settings) -> str:
    """The prefix of reply subjects: the user's own if the user's name fits into a subject, else `_INBOX`."""
    found = _user_and_password(settings.nats_servers[0])
    user = found[0] if found is not None and found[1] is not None else ""
    return inbox_of(user) if _SUBJECT_TOKEN.fullmatch(user) else "_INBOX"


def _user_and_password(address: str) -> tuple[str, str | None] | None:
    """(user, password) of an address, without percent-encoding; (token, None) if there is no password."""
    userinfo, found, _ = urlsplit(address if "://" in address else f"nats://{address}").netloc.rpartition("@")
    if not found:
        return None
    user, has_password, password = userinfo.partition(":")
    return unquote(user), unquote(password) if has_password else None


def _asks_for_tls(settings: Settings) -> bool:
    return bool(settings.nats_ca_file or settings.nats_certificate_file) or any(
        address.startswith("tls://") for address in settings.nats_servers
    )


def _tls_context(settings: Settings) -> ssl.SSLContext | None:
    """The TLS context of the settings; None if they want no TLS. Raises BusUnavailableError for an unusable file."""
    if not _asks_for_tls(settings):
        return None
    try:
        context = ssl.create_default_context(cafile=settings.nats_ca_file or None)
        if settings.nats_certificate_file:
            context.load_cert_chain(settings.nats_certificate_file, settings.nats_key_file or None)
    except (OSError, ssl.SSLError) as error:
        raise BusUnavailableError(
            f"OPENSPOT_NATS_CA_FILE, OPENSPOT_NATS_CERTIFICATE_FILE or OPENSPOT_NATS_KEY_FILE cannot be used: {error}"
        ) from error
    return context


def _speaks_tls(client: Client) -> bool:
    # The library has no public method for this. It encrypts if, and only if, the server's INFO has this field.
    return bool(client._server_info.get("tls_required"))


def _check_credentials_file(path: Path) -> None:
    """Raise BusUnavailableError if the file lacks a part: the library would search for that part forever."""
    try:
        text = path.read_text("utf-8", "replace")
    except OSError as error:
        raise BusUnavailableError(f"OPENSPOT_NATS_CREDENTIALS_FILE cannot be read: {error}") from error
    if any(part not in text for part in _CREDENTIAL_PARTS):
        raise BusUnavailableError(f"OPENSPOT_NATS_CREDENTIALS_FILE: {path} holds no user JWT and nkey seed")
