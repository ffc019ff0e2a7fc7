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
    OPERATOR = auto()
    """Whoever runs the exchange and has the route's permission (`http/operators.py`)."""


NOBODY = Access(0)
"""The access of a valid credential that opens no route here."""


class Scope(StrEnum):
    """What a limited credential (an API key) must be allowed to do (facts A5-15 and A5-16)."""

    READ = "read"
    TRADE = "trade"
    CANCEL = "cancel"
    WITHDRAW = "withdraw"


class Permission(StrEnum):
    """What an operator may do, by the names of the console's catalogue (fact A2.6-11) and those that it lacks.

    `http/operators.py` says which role has which.
    """

    CONSOLE_USE = "console.use"
    ORDERS_READ_ALL = "orders.read_all"
    ORDERS_CANCEL_ANY = "orders.cancel_any"
    ORDERS_CANCEL_ALL = "orders.cancel_all"
    TRADES_READ_ALL = "trades.read_all"
    TRADES_EXPORT = "trades.export"
    TRADES_ANNOTATE = "trades.annotate"
    PARTICIPANTS_READ = "participants.read"
    PARTICIPANTS_CREATE = "participants.create"
    PARTICIPANTS_ACTIVATE = "participants.activate"
    PARTICIPANTS_DEACTIVATE = "participants.deactivate"
    PARTICIPANTS_SET_STP_MODE = "participants.set_stp_mode"
    PARTICIPANTS_SET_FEES = "participants.set_fees"
    PARTICIPANTS_RESET_PASSWORD = "participants.reset_password"  # noqa: S105
    PARTICIPANTS_SET_TYPE = "participants.set_type"
    USERS_READ = "users.read"
    USERS_EXPORT = "users.export"
    USERS_ANNOTATE = "users.annotate"
    USERS_LOCK_LOGIN = "users.lock_login"
    USERS_LOCK_WITHDRAWALS = "users.lock_withdrawals"
    USERS_RESET_SECOND_FACTOR = "users.reset_second_factor"
    USERS_RESEND_MAIL = "users.resend_mail"
    USERS_SET_LIMITS = "users.set_limits"
    USERS_CLOSE = "users.close"
    BALANCES_READ_ALL = "balances.read_all"
    BALANCES_ADJUST_UP = "balances.adjust_up"
    BALANCES_ADJUST_DOWN = "balances.adjust_down"
    BALANCES_APPROVE = "balances.approve"
    BALANCES_TRANSFER = "balances.transfer"
    BALANCES_EXPORT = "balances.export"
    DEPOSITS_READ = "deposits.read"
    DEPOSITS_EXPORT = "deposits.export"
    DEPOSITS_CREDIT = "deposits.credit"
    WITHDRAWALS_READ = "withdrawals.read"
    WITHDRAWALS_EXPORT = "withdrawals.export"
    WITHDRAWALS_APPROVE = "withdrawals.approve"
    WITHDRAWALS_REJECT = "withdrawals.reject"
    WITHDRAWALS_SIGN = "withdrawals.sign"
    WITHDRAWALS_ASSIGN = "withdrawals.assign"
    WALLETS_READ = "wallets.read"
    WALLETS_CONFIGURE = "wallets.configure"
    PAYMENTS_READ = "payments.read"
    PAYMENTS_EXPORT = "payments.export"
    PLANS_READ = "plans.read"
    PLANS_CHANGE = "plans.change"
    MARKETS_READ = "markets.read"
    MARKETS_ANNOUNCE = "markets.announce"
    SYMBOLS_CREATE = "symbols.create"
    SYMBOLS_UPDATE = "symbols.update"
    SYMBOLS_SET_PHASE = "symbols.set_phase"
    SYMBOLS_DEACTIVATE = "symbols.deactivate"
    SYMBOLS_DELETE = "symbols.delete"
    CURRENCIES_CREATE = "currencies.create"
    CURRENCIES_UPDATE = "currencies.update"
    CURRENCIES_DELETE = "currencies.delete"
    FEES_CONFIGURE = "fees.configure"
    RISK_READ = "risk.read"
    RISK_SET_LIMITS = "risk.set_limits"
    RISK_FREEZE_PARTICIPANT = "risk.freeze_participant"
    MARGIN_READ = "margin.read"
    MARGIN_LIQUIDATE = "margin.liquidate"
    KYC_READ = "kyc.read"
    KYC_DECIDE = "kyc.decide"
    CASES_READ = "cases.read"
    CASES_CLOSE = "cases.close"
    REPORTS_REGULATORY = "reports.regulatory"
    REPORTS_READ = "reports.read"
    REPORTS_EXPORT = "reports.export"
    RESERVES_PROVE = "reserves.prove"
    SESSIONS_READ = "sessions.read"
    SESSIONS_END_ANY = "sessions.end_any"
    API_KEYS_READ_ALL = "api_keys.read_all"
    API_KEYS_REVOKE_ANY = "api_keys.revoke_any"
    PERMISSIONS_READ = "permissions.read"
    PERMISSIONS_GRANT = "permissions.grant"
    OPERATORS_READ = "operators.read"
    OPERATORS_END_SESSIONS = "operators.end_sessions"
    STATS_READ = "stats.read"
    HEALTH_READ = "health.read"
    LOGS_READ = "logs.read"
    PROCESSES_RESTART = "processes.restart"
    JOURNAL_VERIFY = "journal.verify"
    JOURNAL_EXPORT = "journal.export"
    ALERTS_READ = "alerts.read"
    ALERTS_TRY = "alerts.try"
    RECONCILE_RUN = "reconcile.run"
    RECONCILE_READ = "reconcile.read"
    AUDIT_READ = "audit.read"
    AUDIT_EXPORT = "audit.export"
    SETTINGS_READ = "settings.read"
    SETTINGS_CHANGE = "settings.change"


class ThrottleClass(StrEnum):
    """Which limits count the requests of a route."""

    STANDARD = "standard"
    REGISTRATION = "registration"
    UPLOAD = "upload"
    """Uploads of files, by the hour."""
    EXEMPT = "exempt"


@dataclass(frozen=True, slots=True)
class Policy:
    """The rules of one route.

    `access`: who may call it. `scope`: what a limited credential needs; without one only unlimited credentials are
    taken. `throttle`: which limits apply. `audit`: whether each request leaves an audit record. `idempotency`:
    whether a request may be repeated under an `Idempotency-Key`. `permission`: what an operator needs; each route of
    operators names one, and no other route. `is_download`: whether browsers navigate to the route to save a file.

    Raises ValueError for a combination that means nothing.
    """

    access: Access
    scope: Scope | None = None
    throttle: ThrottleClass = ThrottleClass.STANDARD
    audit: bool = False
    idempotency: bool = False
    permission: Permission | None = None
    is_download: bool = False

    def __post_init__(self) -> None:
        if not self.access:
            raise ValueError("a route needs somebody who may call it")
        if self.is_open and self.access not in (Access.PUBLIC, Access.DELEGATED):
            raise ValueError("an open route, PUBLIC or DELEGATED, admits nobody in particular")
        if self.is_open and self.scope is not None:
            raise ValueError("a scope limits a credential: an open route asks for none")
        if self.is_open and self.idempotency:
            raise ValueError("an Idempotency-Key belongs to a caller: an open route has none")
        if self.access & Access.OPERATOR and self.access is not Access.OPERATOR:
            raise ValueError("a route of operators admits nobody else")
        if (self.access is Access.OPERATOR) != (self.permission is not None):
            raise ValueError("a route of operators names its permission, and no other route has one")
        if self.permission is not None and self.scope is not None:
            raise ValueError("a route of operators takes no limited credential, so it names no scope")

    @property
    def is_open(self) -> bool:
        """Whether the guard lets everybody through."""
        return bool(self.access & (Access.PUBLIC | Access.DELEGATED))


PUBLIC = Policy(Access.PUBLIC)
"""For routes that anybody may read."""
UNTHROTTLED = Policy(Access.PUBLIC, throttle=ThrottleClass.EXEMPT)
"""For health, metrics and the documentation."""
