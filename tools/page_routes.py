"""The addresses of the browser pages, read from the sources that hold them: what visits every page misses none."""

import re
from pathlib import Path

WEB = Path(__file__).resolve().parent.parent / "web"
APPLICATIONS = ("console", "trade")
_ROUTE = re.compile(r'<Route\s+path="(?P<path>[^"]+)"')
_SECTION = re.compile(r'^ {4}name: "(?P<name>[^"]+)"', re.MULTILINE)
ACCOUNT = "/account/*?"


def routes(application: str) -> list[str]:
    """The paths of an application's pages below its own address, as `App.tsx` names them.

    The pages of the account stand one by one. A market's page is not among them: its path is a pattern.
    Raises ValueError if the sources hold no path where they held some.
    """
    sources = WEB / application / "src"
    paths = _ROUTE.findall((sources / "App.tsx").read_text("utf-8"))
    if ACCOUNT in paths:
        sections = _SECTION.findall((sources / "pages/account/sections.ts").read_text("utf-8"))
        if not sections:
            raise ValueError("pages/account/sections.ts names no page")
        place = paths.index(ACCOUNT)
        paths[place : place + 1] = [f"/account/{section}" for section in sections]
    if not paths:
        raise ValueError(f"{application}/src/App.tsx names no page")
    return paths
