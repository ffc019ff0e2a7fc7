"""What the page "Types and permissions" says that a permission opens is what routes and handlers ask for."""

import re
from collections import defaultdict
from pathlib import Path

from openspot.http.policy import Permission
from tests.support.http_routes import all_routes

ROOT = Path(__file__).resolve().parents[2]
OPENED = ROOT / "web/console/src/operator/opened.ts"
NAVIGATION = ROOT / "web/console/src/frame/navigation.tsx"
DECLARING = {"src/openspot/http/policy.py", "src/openspot/http/operators.py"}
EVERY_PAGE = "*"
PAGES = {
    "/session": EVERY_PAGE,
    "/views": EVERY_PAGE,
    "/downloads": EVERY_PAGE,
    "/users/{userId}/subscription": "/plans",
    "/users": "/users",
    "/bulk/decide-verifications": "/verifications",
    "/bulk": "/users",
    "/verifications": "/verifications",
    "/requests": "/approvals",
    "/adjustments": "/adjustments",
    "/orders": "/all-orders",
    "/trades": "/all-trades",
    "/deposits": "/deposits",
    "/withdrawals": "/all-withdrawals",
    "/payments": "/payments",
    "/plans": "/plans",
    "/subscriptions": "/plans",
    "/subscription-payments": "/plans",
    "/markets": "/listings",
    "/risk": "/risk",
    "/participants": "/participants",
    "/balances": "/balances",
    "/coins": "/listings",
    "/pauses": "/listings",
    "/reports": "/reports",
    "/treasury": "/treasury",
    "/alerts": "/alerts",
    "/processes": "/health",
    "/operators": "/operators",
    "/sessions": "/operators",
    "/trail": "/trail",
    "/roles": "/access",
    "/runs/comparison": "/health",
    "/runs/proof": "/reports",
}
"""The page that calls a route of the REST edge, by the beginning of its path; the first that fits counts."""
IN_HANDLERS = {
    Permission.ORDERS_CANCEL_ALL: {"/all-orders"},
    Permission.FEES_CONFIGURE: {"/listings"},
    Permission.RISK_READ: {"/participants"},
    Permission.RISK_SET_LIMITS: {"/listings"},
    Permission.RISK_FREEZE_PARTICIPANT: {"/risk"},
    Permission.BALANCES_READ_ALL: {"/participants"},
    Permission.BALANCES_ADJUST_UP: {"/users", "/health"},
    Permission.BALANCES_ADJUST_DOWN: {"/users", "/health"},
    Permission.BALANCES_APPROVE: {"/approvals"},
    Permission.HEALTH_READ: {"/health"},
    Permission.LOGS_READ: {"/health"},
    Permission.RECONCILE_RUN: {"/health"},
    Permission.WITHDRAWALS_ASSIGN: {"/withdrawals"},
    Permission.RESERVES_PROVE: {"/reports"},
}
"""What handlers ask for, and a page that calls a route of another page."""


def asked() -> dict[str, set[str]]:
    """The pages that each permission opens, by what routes and handlers ask for."""
    found: dict[str, set[str]] = defaultdict(set)
    for service, route in all_routes():
        if route.policy.permission is not None:
            path = route.path.removeprefix("/api/v1").removeprefix("/operator")
            page = "/withdrawals" if service == "custody" else next(
                page for begin, page in PAGES.items() if re.match(re.escape(begin) + r"\b", path)
            )  # fmt: skip
            found[route.policy.permission].add(page)
    for permission, pages in IN_HANDLERS.items():
        found[permission] |= pages
    return found


def test_the_page_says_of_each_permission_which_pages_it_opens() -> None:
    shown = {
        name: set(re.findall(r'"([^"]+)"', pages))
        for name, pages in re.findall(r'"([a-z_.]+)": \[([^\]]*)\]', OPENED.read_text("utf-8"))
    }
    assert shown == {str(permission): pages for permission, pages in asked().items()}


def test_no_other_permission_is_asked_for_anywhere() -> None:
    named = {
        Permission[name]
        for path in (ROOT / "src/openspot").rglob("*.py")
        if path.relative_to(ROOT).as_posix() not in DECLARING
        for name in re.findall(r"Permission\.([A-Z_]+)", path.read_text("utf-8"))
    }
    assert named == set(asked())


def test_each_page_of_the_navigation_is_opened_by_the_permission_that_it_needs() -> None:
    entries = re.findall(r'path: "([^"]+)".*?needs: "([^"]+)"', NAVIGATION.read_text("utf-8"), re.DOTALL)
    assert len(entries) > 20
    assert [(path, needs) for path, needs in entries if needs != "engine" and path not in asked()[needs]] == []
