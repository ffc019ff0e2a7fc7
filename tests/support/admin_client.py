"""A client of exchange.v1.AdminService for tests, over gRPC or over Connect JSON, with the same calls and answers."""

import json
from typing import Any, Literal
from urllib.parse import quote

import grpc
from google.protobuf.json_format import MessageToDict, ParseDict

from openspot.contracts.gen.exchange.v1 import admin_pb2, admin_pb2_grpc
from tests.support.engine_client import EngineClient

Transport = Literal["grpc", "connect"]
PATH = "/exchange.v1.AdminService"


class CallFailedError(Exception):
    """A call that failed as a whole: its status in Connect's spelling, and its message."""

    def __init__(self, status: str, message: str) -> None:
        super().__init__(f"{status}: {message}")
        self.status = status
        self.message = message


class AdminClient:
    """Calls methods by name, with the fields of its request; answers are JSON objects with every field."""

    def __init__(self, engine: EngineClient, transport: Transport) -> None:
        self.engine = engine
        self.transport = transport
        self.token = ""
        self.reason = ""
        """Sent beside each call, percent-encoded, if it is not empty."""
        self._stub = admin_pb2_grpc.AdminServiceStub(engine.channel)

    def with_token(self, token: str) -> "AdminClient":
        """The same client with another token."""
        other = AdminClient(self.engine, self.transport)
        other.token = token
        return other

    async def login(self, participant_id: str = "", password: str = "") -> "AdminClient":
        """Log in and return this client. Without names, log in as the first administrator. Fails if the login does."""
        settings = self.engine.settings
        answer = await self.call(
            "Login",
            participantId=participant_id or settings.admin_id,
            password=password or settings.admin_password,
        )
        assert answer["success"], answer
        self.token = answer["token"]
        return self

    async def call(self, method: str, /, **fields: Any) -> dict[str, Any]:
        """Call a method and return its reply. Raises CallFailedError."""
        if self.transport == "connect":
            status, answer = await self.post(method, fields)
            if status != 200:
                raise CallFailedError(answer["code"], answer["message"])
            return answer
        input_name = admin_pb2.DESCRIPTOR.services_by_name["AdminService"].methods_by_name[method].input_type.name
        request = ParseDict(fields, getattr(admin_pb2, input_name)())
        metadata = tuple((name.lower(), value) for name, value in self._headers().items())
        try:
            response = await getattr(self._stub, method)(request, metadata=metadata)
        except grpc.aio.AioRpcError as error:
            raise CallFailedError(error.code().name.lower(), error.details() or "") from error
        return MessageToDict(response, always_print_fields_with_no_presence=True)

    def _headers(self) -> dict[str, str]:
        token = {"Authorization": f"Bearer {self.token}"} if self.token else {}
        return token | ({"X-Operator-Reason": quote(self.reason)} if self.reason else {})

    async def post(self, method: str, body: Any, headers: dict[str, str] | None = None) -> tuple[int, Any]:
        """(HTTP status, body) of a Connect call. A body of bytes is sent unchanged."""
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        sent = {"Content-Type": "application/json", "Accept": "application/json"} | self._headers()
        async with self.engine.http.post(
            f"{self.engine.url}{PATH}/{method}", data=data, headers=sent | (headers or {})
        ) as response:
            text = await response.text()
            return response.status, json.loads(text) if response.content_type == "application/json" else text
