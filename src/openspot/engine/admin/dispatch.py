"""Checks who may call a method, and turns its exceptions into responses. All transports share it."""

import re
from collections.abc import Awaitable, Callable
from typing import Any

import grpc
from google.protobuf.message import Message

from openspot.contracts.gen.exchange.v1 import admin_pb2 as pb
from openspot.engine.admin.acting import reason_of
from openspot.engine.admin.authority import Authority
from openspot.engine.admin.errors import AdminError, FieldError, resource_exhausted, unavailable
from openspot.engine.admin.handlers import Caller, Handlers
from openspot.engine.intake.refusal import IntakeRefusal
from openspot.engine.intake.sequencer import EngineStoppedError
from openspot.kit.log import get_logger

log = get_logger("admin")

SERVICE = pb.DESCRIPTOR.services_by_name["AdminService"]
METHODS = tuple(method.name for method in SERVICE.methods)
OPEN_TO_ALL = frozenset({"Login", "ValidateToken"})
OPEN_TO_SESSIONS = frozenset({"Logout"})
"""All other methods require an administrator."""

Method = Callable[[Any, Caller], Awaitable[Message]]


def snake_case(method: str) -> str:
    """The Python name of a protocol method: GetExchangeStats → get_exchange_stats."""
    return re.sub(r"(?<!^)(?=[A-Z])", "_", method).lower()


class Dispatch:
    """Calls the methods of AdminService for its transports."""

    def __init__(self, authority: Authority, handlers: Handlers) -> None:
        self._authority = authority
        self._methods: dict[str, Method] = {name: getattr(handlers, snake_case(name)) for name in METHODS}

    async def call(self, name: str, request: Message, authorization: str, address: str, reason: str = "") -> Message:
        """Call a method and return its response. Raises only AdminError.

        `authorization` and `reason` are the call's headers; `reason` is percent-encoded.
        """
        try:
            caller = self._admit(name, authorization, address)._replace(reason=reason_of(reason))
            return await self._methods[name](request, caller)
        except AdminError:
            raise
        except FieldError as error:
            return _refused(name, error)
        except IntakeRefusal as refusal:
            raise resource_exhausted(f"{refusal.code.name}: the engine did not accept the command") from refusal
        except EngineStoppedError as error:
            raise unavailable(str(error)) from error
        except Exception as error:
            log.exception("an administrative call failed", method=name)
            raise AdminError(grpc.StatusCode.INTERNAL, "internal error") from error

    def _admit(self, name: str, authorization: str, address: str) -> Caller:
        if name in OPEN_TO_ALL:
            return Caller(address)
        if name in OPEN_TO_SESSIONS:
            return Caller(address, self._authority.bearer(authorization))
        return Caller(address, self._authority.administrator(authorization))


def _refused(name: str, error: FieldError) -> Message:
    """The response that reports the error. Raises AdminError if the response has no field for it."""
    output = SERVICE.methods_by_name[name].output_type
    if "error" not in output.fields_by_name:
        raise AdminError(grpc.StatusCode.INVALID_ARGUMENT, str(error)) from error
    response: Message = getattr(pb, output.name)(success=False, error=str(error))
    return response
