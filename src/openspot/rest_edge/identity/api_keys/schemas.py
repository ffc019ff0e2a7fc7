"""Request and response bodies of the API key routes."""

from typing import Annotated, Self

from pydantic import AfterValidator, BeforeValidator, Field, StringConstraints, model_validator
from pydantic_core import PydanticCustomError

from openspot.contracts.messages.message import TimeText
from openspot.http.api_keys.networks import NETWORKS_MAX, read_network, too_wide_to_withdraw
from openspot.http.api_keys.signature import Algorithm, PublicKeyError, read_public_key
from openspot.http.api_keys.vault import KEY_ID_LENGTH
from openspot.http.policy import Scope
from openspot.http.validation import Body, LowerCase, PrintableText, ResponseBody, example, rule_broken

NAME_LENGTH_MAX = 64
PUBLIC_KEY_LENGTH_MAX = 512
MFA_CODE_LENGTH_MAX = 64
KEY_ID_PATTERN = rf"^[A-Za-z0-9]{{{KEY_ID_LENGTH}}}$"


def _network(value: object) -> object:
    if not isinstance(value, str):
        raise PydanticCustomError("network", "must be a text")
    try:
        return str(read_network(value))
    except ValueError as error:
        reason = "must be an address or a network such as 203.0.113.0/24, without bits beyond its prefix"
        raise PydanticCustomError("network", reason) from error


def _public_key(value: str) -> str:
    try:
        read_public_key(value)
    except PublicKeyError as error:
        raise PydanticCustomError("public_key", "{reason}", {"reason": str(error)}) from error
    return value


def _distinct(scopes: list[Scope]) -> list[Scope]:
    return list(dict.fromkeys(scopes))


NetworkText = Annotated[str, BeforeValidator(_network), Field(examples=["203.0.113.0/24"])]
PublicKeyText = Annotated[
    str,
    StringConstraints(min_length=1, max_length=PUBLIC_KEY_LENGTH_MAX),
    AfterValidator(_public_key),
    Field(description="Ed25519: PEM, or base64 of the 32 bytes or of the PEM's content"),
]
MfaCode = Annotated[
    str | None,
    StringConstraints(max_length=MFA_CODE_LENGTH_MAX),
    Field(default=None, repr=False, description="A code of the second factor, if it is turned on"),
]


class CreateApiKeyBody(Body):
    """A new API key. The scope `withdraw` needs an `ipAllowList`; the algorithm `ed25519` needs a `publicKey`."""

    model_config = example(
        {"name": "trading bot", "scopes": ["read", "trade", "cancel"], "ipAllowList": ["203.0.113.0/24"]}
    )

    name: Annotated[str, PrintableText, StringConstraints(min_length=1, max_length=NAME_LENGTH_MAX)]
    scopes: Annotated[list[Annotated[Scope, LowerCase]], Field(min_length=1, max_length=8), AfterValidator(_distinct)]
    ip_allow_list: Annotated[
        list[NetworkText],
        Field(max_length=NETWORKS_MAX, description="Networks (CIDR) the key may be used from; empty: from everywhere"),
    ] = []  # noqa: RUF012
    algorithm: Annotated[Algorithm, LowerCase] = Algorithm.HMAC_SHA256
    public_key: PublicKeyText | None = None
    mfa_code: MfaCode

    @model_validator(mode="after")
    def parts_fit(self) -> Self:
        """Refuse a key that may withdraw from everywhere, and a public key that is missing, superfluous or wrong."""
        if Scope.WITHDRAW in self.scopes and not self.ip_allow_list:
            raise rule_broken("ipAllowList is required for the scope withdraw")
        if Scope.WITHDRAW in self.scopes and any(too_wide_to_withdraw(read_network(net)) for net in self.ip_allow_list):
            raise rule_broken("ipAllowList must name networks of at least /16 (IPv6: /32) for the scope withdraw")
        if self.algorithm is Algorithm.ED25519 and self.public_key is None:
            raise rule_broken("publicKey is required for the algorithm ed25519")
        if self.algorithm is not Algorithm.ED25519 and self.public_key is not None:
            raise rule_broken("publicKey must not be given for the algorithm hmac-sha256")
        return self


class RotateApiKeyBody(Body):
    """The rotation of a key. An Ed25519 key needs the new `publicKey`; an HMAC key gets a new secret."""

    model_config = example({"mfaCode": "123456"})

    public_key: PublicKeyText | None = None
    mfa_code: MfaCode


class ApiKeyResponse(ResponseBody):
    """An API key. Requests send its `id` as X-API-Key. Times are ISO 8601 in UTC."""

    id: str
    name: str
    scopes: list[Scope]
    ip_allow_list: list[str]
    algorithm: Algorithm
    public_key: str | None
    created_at: TimeText
    rotated_at: TimeText | None
    last_used_at: TimeText | None


class ApiKeySecretResponse(ApiKeyResponse):
    """An API key with its new `secret`, which is never shown again; null for an Ed25519 key."""

    secret: str | None


class RevokedApiKeyResponse(ResponseBody):
    """The key no longer works."""

    id: str
    revoked: bool
