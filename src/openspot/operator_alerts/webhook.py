"""The webhook of operators' alerts: its address, its signature and one call of it.

The signature is HMAC-SHA256 over the time, a point and the body, in `OpenSpot-Signature: t=<seconds>,v1=<hex>`. So a
receiver knows who sent the call, and refuses one that somebody has kept for later.
"""

import hashlib
import hmac

import aiohttp

from openspot.kit.connection_faults import connection_fault
from openspot.operator_alerts.webhook_url import shown_url

SIGNATURE_HEADER = "OpenSpot-Signature"
ID_HEADER = "OpenSpot-Message-Id"
TIMEOUT_S = 10.0
RESPONSE_BYTES_MAX = 4096
FINAL_STATUSES = frozenset({400, 401, 403, 404, 405, 410, 413, 415, 422})
"""The receiver will never take this call."""


class WebhookError(Exception):
    """The call was not taken. The message says why; `is_final` that another attempt is useless."""

    def __init__(self, message: str, *, is_final: bool = False) -> None:
        super().__init__(message)
        self.is_final = is_final


def signature(secret: str, at: int, body: bytes) -> str:
    """The value of SIGNATURE_HEADER for a call `at` that many seconds since 1970."""
    digest = hmac.new(secret.encode(), f"{at}.".encode() + body, hashlib.sha256).hexdigest()
    return f"t={at},v1={digest}"


class Webhook:
    """Calls the receiver at `url`."""

    def __init__(self, client: aiohttp.ClientSession, url: str, secret: str, timeout_s: float = TIMEOUT_S) -> None:
        self._client = client
        self._url = url
        self._secret = secret
        self._timeout = aiohttp.ClientTimeout(total=timeout_s)

    async def call(self, message_id: str, body: bytes, at: int) -> None:
        """Make one call. Raises WebhookError unless the receiver answers with 2xx. Redirects are not followed."""
        headers = {
            "Content-Type": "application/json",
            "User-Agent": "OpenSpot-alerts",
            ID_HEADER: message_id,
            SIGNATURE_HEADER: signature(self._secret, at, body),
        }
        try:
            async with self._client.post(
                self._url, data=body, headers=headers, allow_redirects=False, timeout=self._timeout
            ) as response:
                # Enough for the connection to be used again; the answer itself means nothing.
                await response.content.read(RESPONSE_BYTES_MAX)
        except TimeoutError as error:
            raise WebhookError(f"no answer within {self._timeout.total:g} s") from error
        except aiohttp.ClientConnectorDNSError as error:
            raise WebhookError(f"{shown_url(self._url)}: its name is not known") from error
        except aiohttp.ServerDisconnectedError as error:
            raise WebhookError(f"{shown_url(self._url)}: it closed the connection") from error
        except (aiohttp.ClientError, OSError) as error:
            # The text of some errors names the URL, whose path may be a secret.
            raise WebhookError(f"{shown_url(self._url)}: {connection_fault(error)}") from error
        if not 200 <= response.status < 300:
            raise WebhookError(f"the receiver answered {response.status}", is_final=response.status in FINAL_STATUSES)
