"""The request `entitlements.get` of the services that hold the limits of plans."""

from openspot.contracts import subjects
from openspot.contracts.messages import GetEntitlements, GetEntitlementsReply
from openspot.kit.bus import Bus
from openspot.subscriptions.billing import Billing


class EntitlementRequests:
    """Answers what users may use now."""

    def __init__(self, billing: Billing) -> None:
        self._billing = billing

    async def serve(self, bus: Bus) -> None:
        """Serve the request on `bus`."""
        await bus.serve(
            subjects.ENTITLEMENTS_GET,
            subjects.SUBSCRIPTIONS_QUEUE,
            GetEntitlements,
            self.entitlements,
            GetEntitlementsReply.refused,
        )

    async def entitlements(self, request: GetEntitlements) -> GetEntitlementsReply:
        """The limits of the user's plan, or those of everybody."""
        found = await self._billing.entitlements(request.user_id)
        return GetEntitlementsReply(found.plan_id, found.limits)
