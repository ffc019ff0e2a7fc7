"""The web server's responses: files and their encodings, deep links, caching, policy, and what is refused."""

import gzip
import json
from pathlib import Path
from typing import NamedTuple

import pytest
from starlette.types import Message

from openspot.web_server.application import A_DAY, ASK_AGAIN, FOREVER, WebPages
from openspot.web_server.icons import favicon_of
from openspot.web_server.page_config import PageConfig

CONFIG = PageConfig("http://127.0.0.1:8090", "http://127.0.0.1:3001", "ws://127.0.0.1:3002")
SCRIPT = b"console.log('a script that is long enough to be worth its compression');" * 20
PAGE = b"<!doctype html><title>Console</title>"
PNG = b"\x89PNG\r\n\x1a\n" + b"\0\0\0\rIHDR" + (180).to_bytes(4) + (180).to_bytes(4) + b"the rest of a picture"
BROTLI = b"stands for brotli: the server never looks inside"


class Answer(NamedTuple):
    status: int
    headers: dict[str, str]
    body: bytes


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A build of two applications."""
    root = tmp_path / "dist"
    for name, content in {
        "console/index.html": PAGE,
        "trade/index.html": b"<!doctype html><title>Trade</title>",
        "assets/console-1a2b3c.js": SCRIPT,
        "assets/console-1a2b3c.js.br": BROTLI,
        "assets/console-1a2b3c.js.gz": gzip.compress(SCRIPT),
        "assets/inter-4d5e6f.woff2": b"a font",
        "assets/touch-icon-7a8b9c.png": PNG,
        ".inputs": b"the stamp of the build",
    }.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    (tmp_path / "secret.txt").write_text("beside the build")
    return root


@pytest.fixture
def pages(folder: Path) -> WebPages:
    return WebPages(folder, CONFIG)


async def ask(pages: WebPages, path: str, method: str = "GET", **headers: str) -> Answer:
    """The response to a request; header names are written with underscores."""
    sent: list[Message] = []
    scope = {
        "type": "http",
        "method": method,
        "path": path,
        "raw_path": path.encode(),
        "query_string": b"",
        "headers": [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()],
    }

    async def receive() -> Message:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Message) -> None:
        sent.append(message)

    await pages(scope, receive, send)
    start, *rest = sent
    found = {name.decode(): value.decode() for name, value in start["headers"]}
    return Answer(start["status"], found, b"".join(part.get("body", b"") for part in rest))


@pytest.mark.spec("A1.1-19")
@pytest.mark.parametrize("path", ["/console", "/console/", "/console/orders", "/console/participants/house:fees"])
async def test_a_deep_link_opens_its_application(pages: WebPages, path: str) -> None:
    answer = await ask(pages, path)
    assert (answer.status, answer.body) == (200, PAGE)
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert answer.headers["cache-control"] == ASK_AGAIN


async def test_the_root_leads_to_the_trading_screen_if_there_is_one(folder: Path) -> None:
    answer = await ask(WebPages(folder, CONFIG), "/")
    assert (answer.status, answer.headers["location"]) == (307, "/trade/")
    (folder / "trade/index.html").unlink()
    assert (await ask(WebPages(folder, CONFIG), "/")).headers["location"] == "/console/"


@pytest.mark.parametrize(
    ("accept", "encoding"),
    [
        ("gzip, deflate, br, zstd", "br"),
        ("gzip", "gzip"),
        ("br;q=0.5, gzip;q=0.9", "gzip"),
        ("br;q=0, *", "gzip"),
        ("*", "br"),
        ("BR", "br"),
        ("deflate", ""),
        ("identity", ""),
        ("br;q=0, gzip;q=0", ""),
        ("br;q=nonsense", ""),
        ("", ""),
    ],
)
async def test_the_encoding_is_the_best_that_the_client_takes(pages: WebPages, accept: str, encoding: str) -> None:
    answer = await ask(pages, "/assets/console-1a2b3c.js", accept_encoding=accept)
    assert answer.status == 200
    assert answer.headers.get("content-encoding", "") == encoding
    assert answer.headers["vary"] == "Accept-Encoding"
    body = {"br": lambda: SCRIPT if answer.body == BROTLI else b"", "gzip": lambda: gzip.decompress(answer.body)}
    assert body.get(encoding, lambda: answer.body)() == SCRIPT
    assert answer.headers["content-length"] == str(len(answer.body))


async def test_hashed_names_are_kept_for_ever_and_all_else_is_asked_for_again(pages: WebPages) -> None:
    assert (await ask(pages, "/assets/console-1a2b3c.js")).headers["cache-control"] == FOREVER
    assert (await ask(pages, "/assets/inter-4d5e6f.woff2")).headers["cache-control"] == FOREVER
    for path in ("/console/", "/config.json", "/nothing"):
        assert (await ask(pages, path)).headers["cache-control"] == ASK_AGAIN


async def test_a_client_that_has_a_file_is_told_so(pages: WebPages) -> None:
    first = await ask(pages, "/console/")
    again = await ask(pages, "/console/", if_none_match=f'"other", {first.headers["etag"]}')
    assert (again.status, again.body, again.headers["etag"]) == (304, b"", first.headers["etag"])
    assert (await ask(pages, "/console/", if_none_match='"other"')).status == 200
    # Encodings are different bytes, so they have different tags.
    script = "/assets/console-1a2b3c.js"
    plain, packed = await ask(pages, script), await ask(pages, script, accept_encoding="br")
    assert plain.headers["etag"] != packed.headers["etag"]


async def test_head_has_the_headers_of_get_without_its_body(pages: WebPages) -> None:
    for path in ("/console/", "/assets/console-1a2b3c.js", "/config.json", "/nothing"):
        whole, head = await ask(pages, path), await ask(pages, path, "HEAD")
        assert (head.status, head.headers, head.body) == (whole.status, whole.headers, b"")


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS"])
async def test_other_methods_are_refused(pages: WebPages, method: str) -> None:
    answer = await ask(pages, "/console/", method)
    assert (answer.status, answer.headers["allow"]) == (405, "GET, HEAD")


@pytest.mark.parametrize(
    "path",
    [
        "/nothing",
        "/assets/missing-000000.js",
        "/console/missing.js",
        "/consoles",
        "/.inputs",
        "/../secret.txt",
        "/assets/../../secret.txt",
        "//secret.txt",
        "/console/../../secret.txt",
        "/assets/..\\..\\secret.txt",
        "/assets\x00/console-1a2b3c.js",
        "/assets/",
        "/assets/console-1a2b3c.js.br",
    ],
)
async def test_nothing_outside_the_build_is_served(pages: WebPages, path: str) -> None:
    answer = await ask(pages, path)
    assert answer.status == 404
    assert b"beside" not in answer.body and b"stamp" not in answer.body


async def test_a_linked_folder_is_not_followed(folder: Path) -> None:
    (folder / "console/up").symlink_to(folder.parent)
    assert (await ask(WebPages(folder, CONFIG), "/console/up/secret.txt")).status == 404


async def test_the_configuration_names_the_edges(pages: WebPages) -> None:
    answer = await ask(pages, "/config.json")
    assert answer.headers["content-type"] == "application/json"
    assert json.loads(answer.body) == {
        "engineUrl": "http://127.0.0.1:8090",
        "restUrl": "http://127.0.0.1:3001",
        "wsUrl": "ws://127.0.0.1:3002",
    }


async def test_the_configuration_names_the_services_that_run_and_pages_may_call_them(folder: Path) -> None:
    pages = WebPages(folder, CONFIG._replace(positions_url="http://127.0.0.1:3008"))
    answer = await ask(pages, "/config.json")
    told = json.loads(answer.body)
    assert told["positionsUrl"] == "http://127.0.0.1:3008"
    assert "subscriptionsUrl" not in told
    assert "ws://127.0.0.1:3002 http://127.0.0.1:3008;" in answer.headers["content-security-policy"]


@pytest.mark.parametrize("path", ["/console/", "/assets/console-1a2b3c.js", "/config.json", "/nothing"])
async def test_every_response_carries_the_policy(pages: WebPages, path: str) -> None:
    headers = (await ask(pages, path)).headers
    policy = dict(rule.split(" ", 1) for rule in headers["content-security-policy"].split("; "))
    assert policy["default-src"] == "'none'"
    assert policy["script-src"] == policy["worker-src"] == policy["manifest-src"] == "'self'"
    edges = "http://127.0.0.1:8090 http://127.0.0.1:3001 ws://127.0.0.1:3002"
    assert policy["connect-src"] == f"'self' {edges}"
    assert policy["frame-ancestors"] == policy["base-uri"] == policy["form-action"] == "'none'"
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"


@pytest.mark.parametrize(
    ("config", "field"),
    [
        (CONFIG._replace(engine_url="ftp://host"), "engine_url"),
        (CONFIG._replace(rest_url="http://host; script-src *"), "rest_url"),
        (CONFIG._replace(rest_url="http://host:port"), "rest_url"),
        (CONFIG._replace(ws_url="http://host"), "ws_url"),
        (CONFIG._replace(ws_url=""), "ws_url"),
        (CONFIG._replace(positions_url="ws://host"), "positions_url"),
        (CONFIG._replace(subscriptions_url="http://host; script-src *"), "subscriptions_url"),
    ],
)
def test_an_address_that_is_none_is_refused_by_name(folder: Path, config: PageConfig, field: str) -> None:
    with pytest.raises(ValueError, match=field):
        WebPages(folder, config)


def test_an_origin_is_scheme_host_and_port_alone() -> None:
    config = PageConfig("https://[::1]:8090/engine?x=1", "https://user:word@example.org/api", "wss://example.org/")
    assert config.origins() == ["https://[::1]:8090", "https://example.org", "wss://example.org"]


async def test_without_a_build_every_page_says_what_to_do(tmp_path: Path) -> None:
    pages = WebPages(tmp_path / "missing", CONFIG)
    assert not pages.is_built
    for path in ("/", "/console/", "/trade/BTC-USD"):
        answer = await ask(pages, path)
        assert answer.status == 503
        assert b"tools/web.py build" in answer.body
    assert (await ask(pages, "/config.json")).status == 200


@pytest.mark.parametrize("path", ["/nowhere", "/nowhere/at/all", "/api/v1/markets", "/assets/"])
async def test_an_unknown_address_gets_a_page_that_says_so(pages: WebPages, path: str) -> None:
    answer = await ask(pages, path)
    assert (answer.status, answer.headers["content-type"]) == (404, "text/html; charset=utf-8")
    assert answer.headers["cache-control"] == ASK_AGAIN
    assert b"<h1>Page not found</h1>" in answer.body and b'href="/"' in answer.body
    # The policy lets the page's own style through, and no script.
    assert "style-src 'self' 'unsafe-inline'" in answer.headers["content-security-policy"]
    assert b"<script" not in answer.body
    head = await ask(pages, path, "HEAD")
    assert (head.status, head.body, head.headers["content-length"]) == (404, b"", str(len(answer.body)))


@pytest.mark.parametrize("path", ["/assets/missing-1a2b3c.js", "/robots.txt", "/trade/missing.png"])
async def test_a_missing_file_gets_a_line_of_text(pages: WebPages, path: str) -> None:
    answer = await ask(pages, path)
    assert (answer.status, answer.headers["content-type"]) == (404, "text/plain; charset=utf-8")
    assert answer.body == b"There is nothing at this address.\n"


@pytest.mark.parametrize(
    ("path", "content_type", "body"),
    [
        ("/favicon.ico", "image/vnd.microsoft.icon", favicon_of(PNG)),
        ("/apple-touch-icon.png", "image/png", PNG),
        ("/apple-touch-icon-precomposed.png", "image/png", PNG),
    ],
)
async def test_icons_have_fixed_addresses_and_are_kept_for_a_day(
    pages: WebPages, path: str, content_type: str, body: bytes
) -> None:
    answer = await ask(pages, path)
    assert (answer.status, answer.headers["content-type"], answer.body) == (200, content_type, body)
    assert answer.headers["cache-control"] == A_DAY == "public, max-age=86400"
    again = await ask(pages, path, if_none_match=answer.headers["etag"])
    assert (again.status, again.body) == (304, b"")


def test_a_favicon_holds_the_picture_with_its_size() -> None:
    icon = favicon_of(PNG)
    assert icon[:6] == b"\0\0\1\0\1\0"
    assert (icon[6], icon[7], icon[22:]) == (180, 180, PNG)
    assert int.from_bytes(icon[14:18], "little") == len(PNG)
    assert int.from_bytes(icon[18:22], "little") == 22


@pytest.mark.parametrize(
    "picture", [b"GIF89a", PNG[:20], PNG.replace((180).to_bytes(4), (257).to_bytes(4)), PNG.replace(b"\xb4", b"\0")]
)
def test_what_is_no_small_picture_is_no_favicon(picture: bytes) -> None:
    with pytest.raises(ValueError, match="touch icon"):
        favicon_of(picture)


async def test_a_build_without_icons_serves_none(folder: Path) -> None:
    (folder / "assets/touch-icon-7a8b9c.png").unlink()
    assert (await ask(WebPages(folder, CONFIG), "/favicon.ico")).status == 404
