"""The base of the replies that may be refusals."""

from copy import copy
from typing import Any, ClassVar, Self

from openspot.contracts.messages.message import Message
from openspot.contracts.refusals import Refusal, RefusalCode


class RefusableReply(Message, frozen=True, kw_only=True):
    """A reply. A refusal has `error` and `code`, and nothing else."""

    NOTHING: ClassVar[tuple[Any, ...]] = ()
    """The values of a refusal's fields that have no default."""

    error: str | None = None
    code: RefusalCode | None = None

    @classmethod
    def refused(cls, refusal: Refusal) -> Self:
        """A reply with this refusal."""
        return cls(*map(copy, cls.NOTHING), error=refusal.message, code=refusal.code)
