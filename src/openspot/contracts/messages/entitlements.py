"""Entitlements: what a user's plan allows, for services that hold a limit of it."""

import msgspec

from openspot.contracts.messages.message import Message
from openspot.contracts.messages.reply import RefusableReply


class GetEntitlements(Message, frozen=True):
    """Request `entitlements.get`: the limits that a user has now."""

    user_id: str


class GetEntitlementsReply(RefusableReply, frozen=True):
    """Reply of `entitlements.get`. Without a plan, `plan_id` is None and the limits are those of everybody.

    A refusal has `error` and `code`, and no limits.
    """

    plan_id: str | None = None
    limits: dict[str, int] = msgspec.field(default_factory=dict)
