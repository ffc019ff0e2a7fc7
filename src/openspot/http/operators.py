"""Operators of the exchange: their roles, and which permission each role has.

An operator is either a participant of the engine whose session may administer (types SUPER_ADMIN and SYSTEM, facts
A5-24 and A5-25), who has every permission; or a user of the platform with roles, who has those of all roles together.
The roles of users in access tokens, `user` and `admin` (fact A5-11), are something else and stay as they are.
"""

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import NamedTuple

from openspot.http.policy import Permission


class OperatorRole(StrEnum):
    """What an operator is there for."""

    SUPPORT = "SUPPORT"
    COMPLIANCE = "COMPLIANCE"
    TREASURY = "TREASURY"
    MARKET_OPERATIONS = "MARKET_OPERATIONS"
    AUDITOR = "AUDITOR"
    ADMINISTRATOR = "ADMINISTRATOR"


class Operator(NamedTuple):
    """Whoever calls a route of operators.

    `name` stands in the audit trail: `engine:<participantId>` or `user:<userId>`. It holds no personal data.
    """

    name: str
    roles: frozenset[OperatorRole]
    permissions: frozenset[Permission]


_EVERYBODY = frozenset(
    {
        Permission.CONSOLE_USE,
        Permission.MARKETS_READ,
        Permission.STATS_READ,
        Permission.HEALTH_READ,
        Permission.PERMISSIONS_READ,
    }
)
_SUPPORT = _EVERYBODY | {
    Permission.USERS_READ,
    Permission.USERS_ANNOTATE,
    Permission.USERS_LOCK_LOGIN,
    Permission.USERS_LOCK_WITHDRAWALS,
    Permission.USERS_RESEND_MAIL,
    Permission.ORDERS_READ_ALL,
    Permission.TRADES_READ_ALL,
    Permission.PARTICIPANTS_READ,
    Permission.BALANCES_READ_ALL,
    Permission.DEPOSITS_READ,
    Permission.WITHDRAWALS_READ,
    Permission.PAYMENTS_READ,
    Permission.PLANS_READ,
    Permission.SESSIONS_READ,
    Permission.SESSIONS_END_ANY,
    Permission.API_KEYS_READ_ALL,
}
_COMPLIANCE = _EVERYBODY | {
    Permission.USERS_READ,
    Permission.USERS_EXPORT,
    Permission.USERS_ANNOTATE,
    Permission.USERS_LOCK_LOGIN,
    Permission.USERS_LOCK_WITHDRAWALS,
    Permission.USERS_RESET_SECOND_FACTOR,
    Permission.USERS_SET_LIMITS,
    Permission.USERS_CLOSE,
    Permission.KYC_READ,
    Permission.KYC_DECIDE,
    Permission.CASES_READ,
    Permission.CASES_CLOSE,
    Permission.REPORTS_REGULATORY,
    Permission.REPORTS_READ,
    Permission.ORDERS_READ_ALL,
    Permission.TRADES_READ_ALL,
    Permission.TRADES_EXPORT,
    Permission.TRADES_ANNOTATE,
    Permission.PARTICIPANTS_READ,
    Permission.BALANCES_READ_ALL,
    Permission.DEPOSITS_READ,
    Permission.DEPOSITS_EXPORT,
    Permission.WITHDRAWALS_READ,
    Permission.WITHDRAWALS_EXPORT,
    Permission.WITHDRAWALS_REJECT,
    Permission.WITHDRAWALS_ASSIGN,
    Permission.PAYMENTS_READ,
    Permission.PAYMENTS_EXPORT,
    Permission.PLANS_READ,
    Permission.SESSIONS_READ,
    Permission.SESSIONS_END_ANY,
    Permission.API_KEYS_READ_ALL,
    Permission.API_KEYS_REVOKE_ANY,
    Permission.RISK_FREEZE_PARTICIPANT,
    Permission.AUDIT_READ,
}
_TREASURY = _EVERYBODY | {
    Permission.USERS_READ,
    Permission.PARTICIPANTS_READ,
    Permission.BALANCES_READ_ALL,
    Permission.BALANCES_ADJUST_UP,
    Permission.BALANCES_ADJUST_DOWN,
    Permission.BALANCES_APPROVE,
    Permission.BALANCES_TRANSFER,
    Permission.BALANCES_EXPORT,
    Permission.DEPOSITS_READ,
    Permission.DEPOSITS_EXPORT,
    Permission.DEPOSITS_CREDIT,
    Permission.WITHDRAWALS_READ,
    Permission.WITHDRAWALS_EXPORT,
    Permission.WITHDRAWALS_APPROVE,
    Permission.WITHDRAWALS_REJECT,
    Permission.WITHDRAWALS_SIGN,
    Permission.WITHDRAWALS_ASSIGN,
    Permission.WALLETS_READ,
    Permission.PAYMENTS_READ,
    Permission.PAYMENTS_EXPORT,
    Permission.PLANS_READ,
    Permission.ALERTS_READ,
    Permission.RECONCILE_READ,
    Permission.REPORTS_READ,
    Permission.REPORTS_EXPORT,
    Permission.RESERVES_PROVE,
}
_MARKET_OPERATIONS = _EVERYBODY | {
    Permission.MARKETS_ANNOUNCE,
    Permission.SYMBOLS_CREATE,
    Permission.SYMBOLS_UPDATE,
    Permission.SYMBOLS_SET_PHASE,
    Permission.SYMBOLS_DEACTIVATE,
    Permission.CURRENCIES_CREATE,
    Permission.CURRENCIES_UPDATE,
    Permission.FEES_CONFIGURE,
    Permission.PARTICIPANTS_READ,
    Permission.PARTICIPANTS_SET_STP_MODE,
    Permission.ORDERS_READ_ALL,
    Permission.ORDERS_CANCEL_ANY,
    Permission.ORDERS_CANCEL_ALL,
    Permission.TRADES_READ_ALL,
    Permission.BALANCES_READ_ALL,
    Permission.RISK_READ,
    Permission.RISK_SET_LIMITS,
    Permission.RISK_FREEZE_PARTICIPANT,
    Permission.MARGIN_READ,
    Permission.MARGIN_LIQUIDATE,
    Permission.RECONCILE_RUN,
    Permission.ALERTS_READ,
    Permission.ALERTS_TRY,
    Permission.RECONCILE_READ,
    Permission.REPORTS_READ,
}
_AUDITOR = _EVERYBODY | {
    Permission.ORDERS_READ_ALL,
    Permission.TRADES_READ_ALL,
    Permission.TRADES_EXPORT,
    Permission.PARTICIPANTS_READ,
    Permission.USERS_READ,
    Permission.USERS_EXPORT,
    Permission.BALANCES_READ_ALL,
    Permission.BALANCES_EXPORT,
    Permission.DEPOSITS_READ,
    Permission.DEPOSITS_EXPORT,
    Permission.WITHDRAWALS_READ,
    Permission.WITHDRAWALS_EXPORT,
    Permission.WALLETS_READ,
    Permission.PAYMENTS_READ,
    Permission.PAYMENTS_EXPORT,
    Permission.PLANS_READ,
    Permission.RISK_READ,
    Permission.MARGIN_READ,
    Permission.KYC_READ,
    Permission.CASES_READ,
    Permission.SESSIONS_READ,
    Permission.API_KEYS_READ_ALL,
    Permission.LOGS_READ,
    Permission.JOURNAL_VERIFY,
    Permission.JOURNAL_EXPORT,
    Permission.ALERTS_READ,
    Permission.RECONCILE_READ,
    Permission.REPORTS_READ,
    Permission.REPORTS_EXPORT,
    Permission.OPERATORS_READ,
    Permission.AUDIT_READ,
    Permission.AUDIT_EXPORT,
    Permission.SETTINGS_READ,
}
_ADMINISTRATORS_ALONE = frozenset(
    {
        Permission.PARTICIPANTS_CREATE,
        Permission.PARTICIPANTS_ACTIVATE,
        Permission.PARTICIPANTS_DEACTIVATE,
        Permission.PARTICIPANTS_SET_FEES,
        Permission.PARTICIPANTS_RESET_PASSWORD,
        Permission.PARTICIPANTS_SET_TYPE,
        Permission.WALLETS_CONFIGURE,
        Permission.PLANS_CHANGE,
        Permission.SYMBOLS_DELETE,
        Permission.CURRENCIES_DELETE,
        Permission.PROCESSES_RESTART,
        Permission.PERMISSIONS_GRANT,
        Permission.OPERATORS_END_SESSIONS,
        Permission.SETTINGS_CHANGE,
    }
)
EVERY_PERMISSION = _SUPPORT | _COMPLIANCE | _TREASURY | _MARKET_OPERATIONS | _AUDITOR | _ADMINISTRATORS_ALONE

PERMISSIONS: Mapping[OperatorRole, frozenset[Permission]] = MappingProxyType(
    {
        OperatorRole.SUPPORT: _SUPPORT,
        OperatorRole.COMPLIANCE: _COMPLIANCE,
        OperatorRole.TREASURY: _TREASURY,
        OperatorRole.MARKET_OPERATIONS: _MARKET_OPERATIONS,
        OperatorRole.AUDITOR: _AUDITOR,
        OperatorRole.ADMINISTRATOR: EVERY_PERMISSION,
    }
)
"""The permissions of each role."""


def user_operator(user_id: str, roles: frozenset[OperatorRole]) -> Operator:
    """A user with these roles, as an operator."""
    return Operator(f"user:{user_id}", roles, frozenset().union(*(PERMISSIONS[role] for role in roles)))


def engine_operator(participant_id: str) -> Operator:
    """A participant whose session with the engine may administer. It has no roles, and may do everything."""
    return Operator(f"engine:{participant_id}", frozenset(), EVERY_PERMISSION)
