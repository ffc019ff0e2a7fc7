"""Which role may do what, and how the guard of a route of operators says no."""

from typing import Any

import pytest
from starlette.responses import Response

from openspot.http.app import make_http_app
from openspot.http.authentication import Guard, UserTokens
from openspot.http.context import BodyLimits, Identity, RequestContext
from openspot.http.errors import HttpError
from openspot.http.operator_store import OperatorStanding
from openspot.http.operators import PERMISSIONS, OperatorRole, engine_operator, user_operator
from openspot.http.policy import Access, Permission, Policy, ThrottleClass
from openspot.http.routing import Router
from openspot.http.throttle import Tier, make_throttle
from openspot.kit.health import Health
from openspot.kit.tokens import Claims, sign
from tests.support.asgi import ask
from tests.support.edge_operators import TOKEN_SECRET, without_operators

CHANGES_NOTHING = ("use", "read", "read_all", "export", "verify")
"""The last words of permissions that change nothing."""


def test_an_auditor_reads_everything_and_changes_nothing() -> None:
    reading = {each for each in Permission if each.rpartition(".")[2] in CHANGES_NOTHING}
    assert PERMISSIONS[OperatorRole.AUDITOR] == reading


def test_an_administrator_and_the_engines_administrators_may_do_everything() -> None:
    assert PERMISSIONS[OperatorRole.ADMINISTRATOR] == engine_operator("root").permissions == frozenset(Permission)


def test_what_is_for_administrators_alone_no_other_role_may_do() -> None:
    others = frozenset().union(*(PERMISSIONS[role] for role in OperatorRole if role is not OperatorRole.ADMINISTRATOR))
    assert frozenset(Permission) - others == {
        "participants.create", "participants.activate", "participants.deactivate", "participants.set_fees",
        "participants.reset_password", "participants.set_type", "wallets.configure", "plans.change", "symbols.delete",
        "currencies.delete", "permissions.grant", "operators.end_sessions",
        "settings.change",
        "processes.restart",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("role", "never"),
    [
        (
            OperatorRole.SUPPORT,
            {"withdrawals.approve", "balances.adjust_up", "kyc.decide", "users.reset_second_factor"},
        ),
        (OperatorRole.COMPLIANCE, {"withdrawals.approve", "withdrawals.sign", "balances.adjust_up", "symbols.create"}),
        (OperatorRole.TREASURY, {"kyc.decide", "symbols.create", "users.lock_login", "users.set_limits"}),
        (OperatorRole.MARKET_OPERATIONS, {"withdrawals.approve", "balances.adjust_up", "kyc.read", "users.read"}),
    ],
)
def test_duties_stay_apart(role: OperatorRole, never: set[str]) -> None:
    assert not never & PERMISSIONS[role]


def test_several_roles_have_the_permissions_of_all() -> None:
    roles = frozenset({OperatorRole.SUPPORT, OperatorRole.TREASURY})
    both = user_operator("u1", roles)
    assert both == ("user:u1", roles, PERMISSIONS[OperatorRole.SUPPORT] | PERMISSIONS[OperatorRole.TREASURY])


def test_the_guard_names_the_permission_that_is_missing() -> None:
    kinds: list[Any] = [without_operators().sessions]
    guard = Guard(Policy(Access.OPERATOR, permission=Permission.KYC_DECIDE), kinds)
    context = RequestContext("r", {"type": "http", "path": "/", "headers": []}, None, BodyLimits(1, 1))  # type: ignore[arg-type]
    allowed = user_operator("u1", frozenset({OperatorRole.COMPLIANCE}))
    context.identity = Identity("u1", Access.OPERATOR, operator=allowed)
    guard.admit(context)
    refused = user_operator("u1", frozenset({OperatorRole.SUPPORT, OperatorRole.AUDITOR}))
    context.identity = Identity("u1", Access.OPERATOR, operator=refused)
    with pytest.raises(HttpError) as caught:
        guard.admit(context)
    assert (caught.value.status_code, caught.value.code, caught.value.message) == (
        403,
        "PERMISSION_MISSING",
        "this needs the permission kyc.decide, which your roles (AUDITOR, SUPPORT) do not have",
    )  # fmt: skip


async def test_a_throttled_request_asks_nobody_whose_session_it_is() -> None:
    asked: list[str] = []

    async def standing(user_id: str, session_id: str) -> OperatorStanding:
        asked.append(user_id)
        return OperatorStanding(frozenset({OperatorRole.AUDITOR}), had_second_factor=True, has_ended=False)

    router = Router()

    @router.get("/trail", Policy(Access.OPERATOR, permission=Permission.AUDIT_READ), summary="For operators")
    async def trail() -> Response:
        return Response(b"entries")

    kinds: list[Any] = [UserTokens(TOKEN_SECRET), without_operators(standing=standing).sessions]
    throttles = {ThrottleClass.STANDARD: make_throttle("memory://", (Tier("short", 2, 60),))}
    app = make_http_app([router], title="Test", health=Health(), authenticators=kinds, throttles=throttles)
    bearer = {"authorization": f"Bearer {sign(Claims('u1', 'user', 2**33), TOKEN_SECRET, 1)}"}
    assert [(await ask(app, "GET", "/trail", headers=bearer)).status for _ in range(4)] == [200, 200, 429, 429]
    assert asked == ["u1", "u1"]
