"""Who checks documents: an interface, and a provider for development that waits for the operator's command."""

from dataclasses import dataclass
from typing import Protocol

from openspot.rest_edge.funds.kyc.rules import KycLevel


@dataclass(frozen=True, slots=True)
class ProviderSession:
    """A verification that has begun. `url` is where the user goes on, None if there is no page for it."""

    reference: str
    url: str | None
    instructions: str


class Provider(Protocol):
    """Checks documents. It tells outcomes by the webhook."""

    name: str

    async def start(self, user_id: str, level: KycLevel, reference: str) -> ProviderSession:
        """Begin a verification. The same `reference` begins it once. Raises HttpError (503)."""


class DevelopmentProvider:
    """Checks nothing: `openspot kyc review` sends the outcome as a real provider would."""

    name = "development"

    async def start(self, user_id: str, level: KycLevel, reference: str) -> ProviderSession:
        """Begin a verification that waits for the operator."""
        return ProviderSession(reference, None, f"the operator decides: openspot kyc review {user_id} GREEN")
