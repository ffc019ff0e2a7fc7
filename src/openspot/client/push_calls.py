"""The calls about the devices that the user is notified on."""

from collections.abc import Mapping

from openspot.client.calls import Calls, Done, segment
from openspot.client.gen.records import PushKey, PushSubscription


class PushCalls(Calls):
    """Devices that are notified by Web Push, each until the session ends that added it."""

    async def push_subscriptions(self) -> list[PushSubscription]:
        """The user's devices, newest first."""
        return await self._call("GET", "/push-subscriptions", list[PushSubscription])

    async def push_key(self) -> PushKey:
        """The key that a device subscribes with at its push service."""
        return await self._call("GET", "/push-subscriptions/key", PushKey)

    async def add_push_subscription(self, endpoint: str, *, p256dh: str, auth: str) -> PushSubscription:
        """Be notified on a device. `p256dh` is its public key, `auth` its secret, both in base64url.

        Raises ApiError 400 for an endpoint of a push service that the exchange does not send to, 409 at the bound.
        """
        body = {"endpoint": endpoint, "keys": {"p256dh": p256dh, "auth": auth}}
        return await self._call("POST", "/push-subscriptions", PushSubscription, body=body)

    async def renew_push_subscription(self, old: Mapping[str, str], *, endpoint: str, p256dh: str, auth: str) -> None:
        """Replace a subscription by a renewed one; it stays with its session. `old`: its endpoint, p256dh and auth.

        It needs no session. Raises ApiError 404 if no device has the old one.
        """
        before = {"endpoint": old["endpoint"], "keys": {"p256dh": old["p256dh"], "auth": old["auth"]}}
        renewed = {"endpoint": endpoint, "keys": {"p256dh": p256dh, "auth": auth}}
        await self._call("POST", "/push-subscriptions/renewal", Done, body={"old": before, "renewed": renewed})

    async def send_test_push(self, subscription_id: str) -> None:
        """Send a test message to a device. Raises ApiError 404 for a device that the user does not have."""
        await self._call("POST", f"/push-subscriptions/{segment(subscription_id)}/test", Done)

    async def delete_push_subscription(self, subscription_id: str) -> None:
        """Be notified on a device no more. Raises ApiError 404 for a device that the user does not have."""
        await self._call("DELETE", f"/push-subscriptions/{segment(subscription_id)}", Done)
