"""docs/protocol/openapi/*.json and docs/protocol/rest.md, from the routes and their policies.

`--check` writes nothing and fails if a file is out of date.
"""

import argparse
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

from openspot.http.policy import Access, Policy
from openspot.http.routing import Route, Router
from openspot.up.services import DESCRIPTORS

FOLDER = Path(__file__).resolve().parent.parent / "docs/protocol"


class _Anything:
    """Stands for what routes need only when they are called."""

    def __getattr__(self, name: str) -> "_Anything":
        return _Anything()


def services() -> dict[str, tuple[list[Router], Callable[[], dict[str, Any]]]]:
    """Of each service that has routes beside its health, the routers and what makes the OpenAPI document."""
    return {descriptor.name: descriptor.routes(_Anything()) for descriptor in DESCRIPTORS if descriptor.http}


def access_text(policy: Policy) -> str:
    """Who may call, and what an operator needs."""
    if policy.permission is not None:
        return f"operator: `{policy.permission.value}`"
    return " or ".join((access.name or "").lower() for access in Access if access & policy.access)


def row_of(route: Route, document: dict[str, Any]) -> str:
    """One line of the table."""
    operation = document["paths"][route.path][route.method.lower()]
    policy = route.policy
    kept = [name for name, is_so in (("audited", policy.audit), ("idempotent", policy.idempotency)) if is_so]
    statuses = " ".join(operation["responses"])
    throttle = policy.throttle.value if "429" in operation["responses"] else ""
    scope = policy.scope.value if policy.scope else ""
    return (
        f"| `{route.method} {route.path}` | {operation['summary']} | {access_text(policy)} | {scope} | "
        f"{throttle} | {', '.join(kept)} | {statuses} |"
    )


def render(found: dict[str, tuple[list[Router], dict[str, Any]]]) -> str:
    """docs/protocol/rest.md."""
    lines = [
        "# HTTP routes",
        "",
        "Generated from the routes' policies by `make protocol`; not edited by hand. Bodies and answers stand in",
        "[openapi/](openapi); a running service serves its document at `/openapi.json`.",
        "",
        "- *Access* is who may call, and the permission that an operator needs. *Scope* is what a limited credential",
        "  (an API key) needs; a route without a scope takes no limited credential unless anybody may call it.",
        "- *Throttle* is the class of limits that count the request; where it is empty, none does.",
        "- *Kept*: an audited request leaves an audit record; an idempotent one may be repeated under an",
        "  `Idempotency-Key` ([how](../guides/idempotency.md)); the REST edge and the subscription service store",
        "  responses.",
        "- *Statuses* are all that the route answers itself. Beside them any path may answer 404 and 405 (`Allow`",
        "  names every method), and the server 400, 408, 431 and 503 to what is not a request within its bounds.",
        "- *delegated*: the application behind the path checks its callers itself, in its own protocol.",
        "",
        "Every service also has `/health`, `/ready` and `/metrics`, open to anybody. HEAD is taken where GET is.",
    ]
    for name, (routers, document) in found.items():
        lines += ["", f"## {document['info']['title']} (`openapi/{name}.json`)", ""]
        lines += ["| Route | What | Access | Scope | Throttle | Kept | Statuses |", "|---|---|---|---|---|---|---|"]
        lines += [
            row_of(route, document)
            for router in routers
            for route in router.routes
            if route.path in document["paths"] and route.method.lower() in document["paths"][route.path]
        ]
        for router in routers:
            for route in (route for route in router.routes if route.documented is None):
                lines.append(f"| `{route.method} {route.path}` | | {access_text(route.policy)} | | | | |")
            for websocket in router.websockets:
                lines.append(f"| WebSocket `{websocket.path}` | | {access_text(websocket.policy)} | | | | |")
    return "\n".join(lines) + "\n"


def files() -> dict[Path, str]:
    """Every generated file and what stands in it."""
    found = {name: (routers, make_document()) for name, (routers, make_document) in services().items()}
    pages = {FOLDER / "rest.md": render(found)}
    for name, (_, document) in found.items():
        pages[FOLDER / "openapi" / f"{name}.json"] = json.dumps(cast(Any, document), indent=1) + "\n"
    return pages


def main() -> int:
    """Write the files; with --check return 1 if one is out of date."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true")
    check = parser.parse_args().check
    stale = [path for path, text in files().items() if not path.exists() or path.read_text("utf-8") != text]
    if check:
        for path in stale:
            print(f"{path.relative_to(FOLDER.parent.parent)} is out of date: run `make protocol`", file=sys.stderr)
        return 1 if stale else 0
    for path, text in files().items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
