"""The limits of users: those that an operator gave to one user, else those of plans.

What a user has already stays when a plan ends: a limit holds for what is added. The subscription service knows the
plans. If it does not answer, or there is none, the platform's own bound holds.
"""

from openspot.contracts import subjects
from openspot.contracts.messages import GetEntitlements, GetEntitlementsReply
from openspot.kit.bus import Bus, RequestFailedError
from openspot.kit.database import Pool
from openspot.kit.log import get_logger
from openspot.rest_edge.common.user_limits import UserLimits, limits_of

log = get_logger("plans")

API_KEYS = "api_keys"
SAVED_ADDRESSES = "saved_addresses"
PRICE_ALERTS = "price_alerts"


class PlanLimits:
    """Asks for limits by their names in plans.toml."""

    def __init__(self, bus: Bus, pool: Pool) -> None:
        self._bus = bus
        self._pool = pool

    async def of_user(self, user_id: str, name: str, default: int) -> int:
        """How many the user may have; `default` if neither an operator nor the subscription service says."""
        own = _own(await limits_of(self._pool, user_id), name)
        if own is not None:
            return own
        try:
            reply = await self._bus.request(
                subjects.ENTITLEMENTS_GET, GetEntitlements(user_id), GetEntitlementsReply, self._bus.read_timeout_s
            )
        except RequestFailedError as error:
            log.warning("the platform's own bound holds: the plan is not known", limit=name, error=str(error))
            return default
        return reply.limits.get(name, default)


def _own(limits: UserLimits, name: str) -> int | None:
    return {API_KEYS: limits.api_keys_max, SAVED_ADDRESSES: limits.saved_addresses_max}.get(name)
