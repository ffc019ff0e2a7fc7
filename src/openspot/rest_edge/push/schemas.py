"""Request and response bodies of the devices that a user is notified on."""

from typing import Annotated

from pydantic import Field, StringConstraints

from openspot.contracts.messages.message import Message, TimeText
from openspot.http.validation import Body, example
from openspot.rest_edge.push.endpoints import ENDPOINT_LENGTH_MAX

SUBSCRIPTION_ID_PATTERN = r"^[A-Za-z0-9]{1,16}$"

Endpoint = Annotated[str, StringConstraints(min_length=1, max_length=ENDPOINT_LENGTH_MAX)]
DeviceKey = Annotated[str, StringConstraints(min_length=1, max_length=120, pattern=r"^[A-Za-z0-9_-]+={0,2}$")]


class PushKeysBody(Body):
    """The keys of a subscription, in base64url: the device's public key and its secret."""

    # The name that browsers give it, which is not in camel case.
    p256dh: DeviceKey = Field(alias="p256dh")
    auth: DeviceKey


class PushSubscriptionBody(Body):
    """A subscription as the browser gives it: endpoint and keys of `PushSubscription.toJSON()`."""

    model_config = example(
        {
            "endpoint": "https://updates.push.services.mozilla.com/wpush/v2/gAAAAABk",
            "keys": {
                "p256dh": "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4",
                "auth": "BTBZMqHH6r4Tts7J_aSIgg",
            },
        }
    )

    endpoint: Endpoint
    keys: PushKeysBody


class PushRenewalBody(Body):
    """A subscription that the browser has replaced by another one. Whoever names all of the old one may replace it."""

    model_config = example(
        {
            "old": {
                "endpoint": "https://updates.push.services.mozilla.com/wpush/v2/gAAAAABk",
                "keys": {
                    "p256dh": (
                        "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4"
                    ),
                    "auth": "BTBZMqHH6r4Tts7J_aSIgg",
                },
            },
            "renewed": {
                "endpoint": "https://updates.push.services.mozilla.com/wpush/v2/gAAAAABm",
                "keys": {
                    "p256dh": (
                        "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4"
                    ),
                    "auth": "k8JV6sjdbhAi1n3_LDBLvA",
                },
            },
        }
    )

    old: PushSubscriptionBody
    renewed: PushSubscriptionBody


class PushSubscription(Message, frozen=True):
    """A device that you are notified on. `reached_at` is when its push service last took a message, null if never.

    `endpoint` is what the browser knows the subscription by, `current` says whether it is of the session that asks, and
    `user_agent` is that of the login.
    """

    id: str
    endpoint: str
    current: bool
    user_agent: str
    created_at: TimeText
    reached_at: TimeText | None


class PushKey(Message, frozen=True):
    """The key that a browser subscribes with (`applicationServerKey`), null if this exchange notifies no devices."""

    public_key: str | None


class PushDone(Message, frozen=True):
    """The request is done; a test message is queued."""

    success: bool
