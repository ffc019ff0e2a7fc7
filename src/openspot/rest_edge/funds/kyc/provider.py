"""Providers that check documents: the interface, and one for development that waits for the operator's command."""

from dataclasses import dataclass
from typing import Protocol

from openspot.rest_edge.funds.kyc.rules import KycLevel


@dataclass(frozen=True, slots=True)
class ProviderSession:
    """A check that has begun. The user continues at `url`, which is None if the provider has no page."""

    reference: str
    url: str | None
    instructions: str


class Provider(Protocol):
    """Checks documents, and sends the outcome to the webhook."""

    name: str
    takes_documents: bool
    """Whether users give their documents to the provider. Otherwise the exchange takes them."""

    async def start(self, user_id: str, level: KycLevel, reference: str) -> ProviderSession:
        """Begin a check, once for a `reference`. Raises HttpError (503)."""


class DevelopmentProvider:
    """Checks nothing. `openspot kyc review` sends the outcome, as a real provider would."""

    name = "development"
    takes_documents = False

    async def start(self, user_id: str, level: KycLevel, reference: str) -> ProviderSession:
        """Begin a check that waits for the operator."""
        return ProviderSession(reference, None, f"the operator decides: openspot kyc review {user_id} GREEN")


class OperatorProvider:
    """Operators of the exchange look at the documents that users upload, and decide in the console."""

    name = "operators"
    takes_documents = False

    async def start(self, user_id: str, level: KycLevel, reference: str) -> ProviderSession:
        """Begin a check that waits in the operators' queue."""
        return ProviderSession(reference, None, "upload your documents here; a person of the exchange looks at them")


def provider_of(name: str) -> Provider | None:
    """The provider that a setting names, None for `none`."""
    providers: dict[str, Provider] = {"development": DevelopmentProvider(), "operators": OperatorProvider()}
    return providers.get(name)
