"""What can go wrong with a call of the engine.

| Error | Was it done? |
|---|---|
| EngineUnreachableError | no: nothing was sent |
| EngineRefusedError | no: the engine turned the call down as a whole |
| EngineAmbiguousError | unknown: it was sent, and no reply came |

A query changes nothing, so for a query the last two only say what was wrong.
"""


class EngineError(Exception):
    """The engine did not do what it was asked for, or did not say so."""


class EngineUnreachableError(EngineError):
    """There is no connection to the engine. Nothing was sent."""


class EngineRefusedError(EngineError):
    """The engine turned the call down as a whole, or its reply to a query cannot be read."""


class EngineAmbiguousError(EngineError):
    """The call was sent and not answered: it may or may not have happened."""
