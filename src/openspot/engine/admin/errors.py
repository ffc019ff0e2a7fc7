"""What an administration call can be refused with."""

import grpc

from openspot.domain.result_code import ResultCode


class AdminError(Exception):
    """A call is refused as a whole: a status of gRPC and Connect, and why."""

    def __init__(self, status: grpc.StatusCode, message: str) -> None:
        super().__init__(message)
        self.status = status


class FieldError(ValueError):
    """A field cannot be taken, or a change not be made; the message is "field reason" or "field: reason".

    An answer with `success` and `error` carries it there; a list, which has neither, fails with INVALID_ARGUMENT.
    `code` is for answers that also have a result code.
    """

    def __init__(self, message: str, code: ResultCode = ResultCode.UNSUPPORTED_COMMAND) -> None:
        super().__init__(message)
        self.code = code


def unauthenticated(message: str) -> AdminError:
    """Nobody, or nobody any more, is logged in with this token."""
    return AdminError(grpc.StatusCode.UNAUTHENTICATED, message)


def permission_denied(message: str) -> AdminError:
    """The session's participant may not do this."""
    return AdminError(grpc.StatusCode.PERMISSION_DENIED, message)


def resource_exhausted(message: str) -> AdminError:
    """A bound is reached; the same call may succeed later, or with less asked."""
    return AdminError(grpc.StatusCode.RESOURCE_EXHAUSTED, message)


def unavailable(message: str) -> AdminError:
    """The engine cannot do this now."""
    return AdminError(grpc.StatusCode.UNAVAILABLE, message)
