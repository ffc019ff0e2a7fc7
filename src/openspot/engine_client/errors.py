"""Errors of calls to the engine, and whether the engine carried out the command.

| Error | Carried out? |
|---|---|
| EngineUnreachableError | no: no command was sent, or the engine stores none now |
| EngineRefusedError | no: the engine refused the whole call |
| EngineAmbiguousError | unknown: the call was sent, but no reply tells its outcome |

A query changes nothing, so its error only says what failed.
"""


class EngineError(Exception):
    """A call to the engine failed, or its outcome is unknown."""


class EngineUnreachableError(EngineError):
    """There is no connection to the engine, or a query got no reply, or the engine has no space for commands.

    No command was carried out.
    """


class EngineRefusedError(EngineError):
    """The engine refused the whole call, or its reply to a query cannot be read."""


class EngineAmbiguousError(EngineError):
    """The call was sent, but its outcome is unknown: the engine may have carried it out."""
