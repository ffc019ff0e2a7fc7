"""Route policy: who may call a route, which limits count its requests, and what is recorded of them.

It is the only place that decides this. The pipeline, OpenAPI, docs/protocol/rest.md and the tests that walk all
routes read it from here.
"""

from dataclasses import dataclass
from enum import Flag, StrEnum, auto


class Access(Flag):
    """Who may call a route. Kinds combine: `Access.ADMIN | Access.SERVICE` admits both."""

    PUBLIC = auto()
    """Anybody."""
    USER = auto()
    """A user of the platform; an administrator of the platform is a user too."""
    ADMIN = auto()
    """An administrator."""
    SERVICE = auto()
    """Another service, by the service headers (facts A5-21 and A5-22)."""
    DELEGATED = auto()
    """The application behind the route checks its callers itself, in its own protocol."""


NOBODY = Access(0)
"""The access of a valid credential that opens no route here."""


class Scope(StrEnum):
    """What a limited credential (an API key) must be allowed to do (facts A5-15 and A5-16)."""

    READ = "read"
    TRADE = "trade"
    CANCEL = "cancel"
    WITHDRAW = "withdraw"


class ThrottleClass(StrEnum):
    """Which limits count the requests of a route."""

    STANDARD = "standard"
    REGISTRATION = "registration"
    EXEMPT = "exempt"


@dataclass(frozen=True, slots=True)
class Policy:
    """The rules of one route.

    `access`: who may call it. `scope`: what a limited credential needs; without one only unlimited credentials are
    taken. `throttle`: which limits apply. `audit`: whether each request leaves an audit record. `idempotency`:
    whether a request may be repeated under an `Idempotency-Key`.

    Raises ValueError for a combination that means nothing.
    """

    access: Access
    scope: Scope | None = None
    throttle: ThrottleClass = ThrottleClass.STANDARD
    audit: bool = False
    idempotency: bool = False

    def __post_init__(self) -> None:
        if not self.access:
            raise ValueError("a route needs somebody who may call it")
        if self.is_open and self.access not in (Access.PUBLIC, Access.DELEGATED):
            raise ValueError("an open route, PUBLIC or DELEGATED, admits nobody in particular")
        if self.is_open and self.scope is not None:
            raise ValueError("a scope limits a credential: an open route asks for none")
        if self.is_open and self.idempotency:
            raise ValueError("an Idempotency-Key belongs to a caller: an open route has none")

    @property
    def is_open(self) -> bool:
        """Whether the guard lets everybody through."""
        return bool(self.access & (Access.PUBLIC | Access.DELEGATED))


PUBLIC = Policy(Access.PUBLIC)
"""For routes that anybody may read."""
UNTHROTTLED = Policy(Access.PUBLIC, throttle=ThrottleClass.EXEMPT)
"""For health, metrics and the documentation."""
