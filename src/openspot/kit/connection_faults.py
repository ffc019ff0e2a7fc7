"""Says in words why a server could not be reached, without what the text of an exception may quote."""

import os
import socket
import ssl


def connection_fault(error: BaseException) -> str:
    """Why a connection failed, from the deepest cause of `error` that says it; the name of its class if none does.

    Only the kind of fault is told, never the text of an exception: some quote a URL, a mail or a login.
    """
    causes: list[BaseException] = [error]
    while (cause := causes[-1].__cause__) is not None:
        causes.append(cause)
    return next(filter(None, map(_known, reversed(causes))), type(error).__name__)


def _known(error: BaseException) -> str:
    match error:
        case ssl.SSLCertVerificationError():
            # OpenSSL's own words for the fault, such as "certificate has expired".
            return f"its certificate is not accepted: {error.verify_message}"
        case ssl.SSLError():
            return f"TLS fails: {error.reason or 'no reason given'}"
        case socket.gaierror():
            return "its name is not known"
        case ConnectionRefusedError():
            return "it refuses the connection"
        case ConnectionError():
            return "it closed the connection"
        case TimeoutError():
            return "no answer in time"
        case OSError(errno=int(number)):
            return os.strerror(number)
    return ""
