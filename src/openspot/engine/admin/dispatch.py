"""Who may call which method, and what becomes of what a method raises: the same for every transport."""

import re
from collections.abc import Awaitable, Callable
from typing import Any

import grpc
from google.protobuf.message import Message

from openspot.contracts.gen.exchange.v1 import admin_pb2 as pb
from openspot.engine.admin.authority import Authority
from openspot.engine.admin.errors import AdminError, FieldError, resource_exhausted, unavailable
from openspot.engine.admin.handlers import Caller, Handlers
from openspot.engine.intake.command_intake import Refusal
from openspot.engine.intake.sequencer import EngineStoppedError
from openspot.kit.log import get_logger

log = get_logger("admin")

SERVICE = pb.DESCRIPTOR.services_by_name["AdminService"]
METHODS = tuple(method.name for method in SERVICE.methods)
OPEN_TO_ALL = frozenset({"Login", "ValidateToken"})
OPEN_TO_SESSIONS = frozenset({"Logout"})
"""All other methods are for administrators."""

Method = Callable[[Any, Caller], Awaitable[Message]]


def snake_case(method: str) -> str:
    """The name of a method of the protocol in Python: GetExchangeStats → get_exchange_stats."""
    return re.sub(r"(?<!^)(?=[A-Z])", "_", method).lower()


class Dispatch:
    """Calls the methods of one engine for the transports."""

    def __init__(self, authority: Authority, handlers: Handlers) -> None:
        self._authority = authority
        self._methods: dict[str, Method] = {name: getattr(handlers, snake_case(name)) for name in METHODS}

    async def call(self, name: str, request: Message, authorization: str, address: str) -> Message:
        """The response of a method; `authorization` is the header of the call. Raises AdminError, nothing else."""
        try:
            caller = self._admit(name, authorization, address)
            return await self._methods[name](request, caller)
        except AdminError:
            raise
        except FieldError as error:
            return _refused(name, error)
        except Refusal as refusal:
            raise resource_exhausted(f"{refusal.code.name}: the engine did not take the command") from refusal
        except EngineStoppedError as error:
            raise unavailable(str(error)) from error
        except Exception as error:
            log.exception("an administration call failed", method=name)
            raise AdminError(grpc.StatusCode.INTERNAL, "internal error") from error

    def _admit(self, name: str, authorization: str, address: str) -> Caller:
        if name in OPEN_TO_ALL:
            return Caller(address)
        if name in OPEN_TO_SESSIONS:
            return Caller(address, self._authority.bearer(authorization))
        return Caller(address, self._authority.administrator(authorization))


def _refused(name: str, error: FieldError) -> Message:
    """The answer that carries the reason. Raises AdminError where the response has no place for it."""
    output = SERVICE.methods_by_name[name].output_type
    if "error" not in output.fields_by_name:
        raise AdminError(grpc.StatusCode.INVALID_ARGUMENT, str(error)) from error
    response: Message = getattr(pb, output.name)(success=False, error=str(error))
    return response
