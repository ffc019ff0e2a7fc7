"""Errors of AdminService."""

import grpc

from openspot.domain.result_code import ResultCode


class AdminError(Exception):
    """The call fails with a gRPC or Connect status; the message says why."""

    def __init__(self, status: grpc.StatusCode, message: str) -> None:
        super().__init__(message)
        self.status = status


class FieldError(ValueError):
    """A field is invalid or a change is refused; the message is "field reason" or "field: reason".

    Responses with `success` and `error` report it there. Lists have neither: they fail with INVALID_ARGUMENT.
    `code` is for responses that also have a result code.
    """

    def __init__(self, message: str, code: ResultCode = ResultCode.UNSUPPORTED_COMMAND) -> None:
        super().__init__(message)
        self.code = code


def unauthenticated(message: str) -> AdminError:
    """The token is missing, invalid, expired or revoked."""
    return AdminError(grpc.StatusCode.UNAUTHENTICATED, message)


def permission_denied(message: str) -> AdminError:
    """The participant of the session may not call this method."""
    return AdminError(grpc.StatusCode.PERMISSION_DENIED, message)


def resource_exhausted(message: str) -> AdminError:
    """A limit is reached. The call may succeed later, or if it asks for less."""
    return AdminError(grpc.StatusCode.RESOURCE_EXHAUSTED, message)


def unavailable(message: str) -> AdminError:
    """The engine cannot do this at present."""
    return AdminError(grpc.StatusCode.UNAVAILABLE, message)
