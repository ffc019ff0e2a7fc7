"""Entitlements: what a user's plan allows, for services that hold a limit of it."""

from typing import Self

import msgspec

from openspot.contracts.messages.message import Message
from openspot.contracts.refusals import Refusal, RefusalCode


class GetEntitlements(Message, frozen=True):
    """Request `entitlements.get`: the limits that a user has now."""

    user_id: str


class GetEntitlementsReply(Message, frozen=True):
    """Reply of `entitlements.get`. Without a plan, `plan_id` is None and the limits are those of everybody.

    A refusal has `error` and `code`, and no limits.
    """

    plan_id: str | None = None
    limits: dict[str, int] = msgspec.field(default_factory=dict)
    error: str | None = None
    code: RefusalCode | None = None

    @classmethod
    def refused(cls, refusal: Refusal) -> Self:
        """A reply with this refusal."""
        return cls(error=refusal.message, code=refusal.code)
