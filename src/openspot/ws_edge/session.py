"""The sessions of clients: their messages and the replies (facts B4.2-01 to B4.2-09)."""

from http import HTTPStatus
from typing import cast

import msgspec
from websockets.asyncio.server import ServerConnection
from websockets.exceptions import ConnectionClosed

from openspot.http.api_keys.checker import ApiKeyChecker, SignedRequest
from openspot.http.errors import HttpError
from openspot.kit.bus import BusUnavailableError
from openspot.kit.clock import NANOSECONDS_PER_MS, Clock
from openspot.kit.database import TRANSIENT_ERRORS
from openspot.kit.log import get_logger
from openspot.kit.tokens import Claims, InvalidTokenError
from openspot.ws_edge.channels import PER_USER_CHANNELS, Channel, UnknownChannelError, market_channel
from openspot.ws_edge.connection import (
    TOKEN_EXPIRED,
    TOO_MANY_MESSAGES,
    TRY_AGAIN_LATER,
    EdgeConnection,
    text_frame,
)
from openspot.ws_edge.hub import API_KEY_ENDED, Hub
from openspot.ws_edge.login import FAILED_LOGINS_MAX, METHOD, PATH, TokenChecker, claims_of, login
from openspot.ws_edge.metrics import CONNECTIONS
from openspot.ws_edge.schemas import (
    Action,
    Answer,
    Authenticated,
    ClientMessage,
    ClientMessageError,
    ErrorCode,
    ErrorReply,
    Pong,
    SignedMessage,
    Subscribed,
    TokenMessage,
    Unsubscribed,
    parse_client_message,
)
from openspot.ws_edge.settings import WsEdgeSettings

MessageId = str | int | None

log = get_logger("ws_edge")
_encode = msgspec.json.Encoder().encode


class Sessions:
    """Serves clients after the upgrade. Time comes from `clock`."""

    def __init__(
        self, settings: WsEdgeSettings, hub: Hub, clock: Clock, tokens: TokenChecker, keys: ApiKeyChecker | None
    ) -> None:
        """`keys` is None for an edge without a database, which takes no API keys."""
        self._channels_max = settings.ws_channels_max
        self._has_complete_rules = settings.has_complete_rules
        self._hub = hub
        self._clock = clock
        self._tokens = tokens
        self._keys = keys

    async def handle(self, connection: ServerConnection) -> None:
        """Serve one client until its connection ends."""
        client = cast(EdgeConnection, connection)
        client.note_upgrade()
        self._hub.join(client)
        CONNECTIONS.inc()
        try:
            client.watch_deadlines()
            await self._end_if_key_changed(client)
            while True:
                data = await client.recv()
                if not client.note_message():
                    return
                client.push(text_frame(_encode(await self._answer(client, data))))
                if client.failed_logins >= FAILED_LOGINS_MAX:
                    client.end(TOO_MANY_MESSAGES, "too many wrong credentials")
                    return
        except ConnectionClosed:
            log.debug("connection closed", code=client.close_code)
        finally:
            self._hub.leave(client)
            CONNECTIONS.dec()

    async def _end_if_key_changed(self, client: EdgeConnection) -> None:
        """Close a connection whose API key changed before it joined the hub, which is told of changes."""
        if client.api_key is None or self._keys is None:
            return
        try:
            if not await self._keys.is_current(client.api_key):
                client.end(TOKEN_EXPIRED, API_KEY_ENDED)
        except TRANSIENT_ERRORS as error:
            log.warning("connection closed: its API key cannot be looked up", error=repr(error))
            client.end(TRY_AGAIN_LATER, "API keys cannot be looked up now")

    async def _answer(self, client: EdgeConnection, data: str | bytes) -> Answer:
        try:
            message = parse_client_message(data)
            credential, message_id = message.credential, message.message_id
            if isinstance(credential, TokenMessage):
                return await self._authenticate_by_token(client, credential.token, message_id)
            if credential is not None:
                return await self._authenticate_by_key(client, credential, message_id)
            return self._obey(client, message)
        except ClientMessageError as error:
            return ErrorReply(error.code, str(error), error.message_id)

    # Credentials

    async def _authenticate_by_token(self, client: EdgeConnection, token: str, message_id: MessageId) -> Answer:
        """Give an anonymous connection to the token's user, or renew the token of a connection's user."""
        if client.api_key is not None:
            reason = "this connection speaks for the user of an API key, and does not expire"
            raise ClientMessageError(ErrorCode.ALREADY_AUTHENTICATED, reason, message_id)
        try:
            claims = await self._tokens.check(token)
        except BusUnavailableError as error:
            raise ClientMessageError(ErrorCode.UNAVAILABLE, str(error), message_id) from error
        except InvalidTokenError as error:
            client.failed_logins += 1
            raise ClientMessageError(ErrorCode.INVALID_TOKEN, str(error), message_id) from error
        if client.claims is not None and client.claims.user_id != claims.user_id:
            reason = "this connection speaks for another user"
            raise ClientMessageError(ErrorCode.ALREADY_AUTHENTICATED, reason, message_id)
        self._let_in(client, claims)
        return Authenticated(claims.user_id, claims.expires_at, message_id)

    async def _authenticate_by_key(self, client: EdgeConnection, given: SignedMessage, message_id: MessageId) -> Answer:
        if client.claims is not None:
            reason = "this connection speaks for a user already"
            raise ClientMessageError(ErrorCode.ALREADY_AUTHENTICATED, reason, message_id)
        signed = SignedRequest(
            given.api_key, given.timestamp, given.signature, METHOD, PATH.encode(), b"", client.address
        )
        try:
            key = await login(self._keys, signed)
        except HttpError as error:
            if error.status_code == HTTPStatus.SERVICE_UNAVAILABLE:
                raise ClientMessageError(ErrorCode.UNAVAILABLE, str(error.message), message_id) from error
            client.failed_logins += 1
            raise ClientMessageError(ErrorCode(error.code), str(error.message), message_id) from error
        client.api_key = key
        self._let_in(client, claims_of(key))
        await self._end_if_key_changed(client)
        return Authenticated(key.identity.user_id, None, message_id)

    def _let_in(self, client: EdgeConnection, claims: Claims) -> None:
        client.failed_logins = 0
        self._hub.authenticate(client, claims)
        client.watch_deadlines()

    # Channels

    def _obey(self, client: EdgeConnection, message: ClientMessage) -> Answer:
        message_id = message.message_id
        if message.action is Action.PING:
            return Pong(self._clock() // NANOSECONDS_PER_MS, message_id)
        channel = _channel_of(message, has_complete_rules=self._has_complete_rules)
        if message.action is Action.UNSUBSCRIBE:
            self._hub.unsubscribe(client, channel.name)
            return Unsubscribed(channel.name, message_id)
        if len(client.channels) >= self._channels_max and channel.name not in client.channels:
            reason = f"a connection has at most {self._channels_max} channels"
            raise ClientMessageError(ErrorCode.TOO_MANY_CHANNELS, reason, message_id)
        self._hub.subscribe(client, channel)
        return Subscribed(channel.name, message_id)


def _channel_of(message: ClientMessage, *, has_complete_rules: bool) -> Channel:
    """The channel that a message names. Raises ClientMessageError."""
    name, message_id = message.channel, message.message_id
    if name in PER_USER_CHANNELS:
        reason = f"the events of {name} come with a token, without subscribing"
        raise ClientMessageError(ErrorCode.UNKNOWN_CHANNEL, reason, message_id)
    try:
        return market_channel(name, has_complete_rules=has_complete_rules)
    except UnknownChannelError as error:
        raise ClientMessageError(ErrorCode.UNKNOWN_CHANNEL, str(error), message_id) from error
