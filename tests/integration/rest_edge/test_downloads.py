"""A link saves an export without a header: of one operator, for one route and its filters, one use and a minute."""

import asyncio
import json
from datetime import timedelta

import asyncpg
import pytest
from aiohttp import ClientSession

from openspot.http.operators import OperatorRole
from openspot.kit.clock import utc_now
from openspot.rest_edge.operators.downloads.service import LIFE, Download, DownloadLinks
from tests.support.edge_operators import make_operator
from tests.support.filled_tables import insert
from tests.support.rest_client import PREFIX, RestClient

WANTED = {"path": "/operator/users/export", "query": "reason=yearly+audit&format=csv", "name": "users-2026.csv"}


async def fetched(
    edge: RestClient, path: str, method: str = "GET", headers: dict[str, str] | None = None
) -> tuple[int, dict[str, str], str]:
    """Status, headers and content, without a credential in the request."""
    async with (
        ClientSession(headers=headers) as client,
        client.request(method, f"{edge.settings.rest_url}{PREFIX}{path}") as reply,
    ):
        return reply.status, dict(reply.headers), await reply.text()


async def link(edge: RestClient, **changes: str) -> str:
    made = await edge("POST", "/operator/downloads", WANTED | changes)
    assert made.status == 201, made.body
    return str(made.body["path"])


async def test_a_link_gives_the_file_once_and_leaves_the_entry_that_an_export_leaves(
    edge: RestClient, pool: asyncpg.Pool
) -> None:
    await make_operator(edge, pool, "ada@example.org", OperatorRole.AUDITOR)
    path = await link(edge)
    replies = await asyncio.gather(*(fetched(edge, path) for _ in range(4)))
    assert sorted(status for status, _, _ in replies) == [200, 404, 404, 404]
    [(_, headers, content)] = [reply for reply in replies if reply[0] == 200]
    assert "ada@example.org" in content and headers["Content-Type"].startswith("text/csv")
    assert headers["Content-Disposition"] == 'attachment; filename="users-2026.csv"'
    assert (headers["Cache-Control"], headers["Referrer-Policy"]) == ("no-store", "no-referrer")
    assert "Set-Cookie" not in headers
    for status, refused, text in replies:
        if status == 404:
            assert json.loads(text)["code"] == "DOWNLOAD_LINK_UNKNOWN"
            assert refused["Content-Disposition"].startswith("attachment")
    entries = await pool.fetch(
        "SELECT action.operator, action.reason, origin.address FROM operator_actions AS action"
        " JOIN operator_action_origins AS origin USING (entry_number) WHERE action.action = 'users.exported'"
    )
    ada = await pool.fetchval("SELECT user_id FROM users WHERE email = 'ada@example.org'")
    assert [tuple(entry) for entry in entries] == [(f"user:{ada}", "yearly audit", "127.0.0.1")]


async def test_a_link_is_no_more_than_the_operator_who_made_it(edge: RestClient, pool: asyncpg.Pool) -> None:
    await make_operator(edge, pool, "sue@example.org", OperatorRole.SUPPORT)
    status, _, text = await fetched(edge, await link(edge))
    assert (status, json.loads(text)["code"]) == (403, "PERMISSION_MISSING")
    await make_operator(edge, pool, "ada@example.org", OperatorRole.AUDITOR)
    path, bad, other = await link(edge), await link(edge, query="format=csv"), await link(edge)
    status, headers, text = await fetched(edge, bad)
    assert (status, "reason" in text) == (400, True) and headers["Content-Disposition"].startswith("attachment")
    # The role is taken, and then the session ends: what was made before opens nothing.
    await pool.execute("DELETE FROM operator_roles WHERE user_id = (SELECT user_id FROM users WHERE email LIKE 'ada%')")
    assert (await fetched(edge, path))[0] == 403
    assert (await edge("POST", "/auth/logout")).status < 300
    assert (await fetched(edge, other))[0] in (401, 403)
    assert await pool.fetchval("SELECT count(*) FROM operator_actions WHERE action = 'users.exported'") == 0


async def test_a_browser_that_navigates_gets_a_refusal_as_a_file(edge: RestClient, pool: asyncpg.Pool) -> None:
    await make_operator(edge, pool, "sue@example.org", OperatorRole.SUPPORT)
    for path, code in ((await link(edge), "PERMISSION_MISSING"), ("/downloads/" + "x" * 43, "DOWNLOAD_LINK_UNKNOWN")):
        status, headers, text = await fetched(edge, path, headers={"Sec-Fetch-Mode": "navigate"})
        assert (status, headers["Content-Disposition"]) == (200, 'attachment; filename="refused.json"'), text
        assert json.loads(text)["code"] == code


async def test_a_navigation_gets_what_the_edge_refuses_before_the_link_as_a_file_too(
    edge: RestClient, pool: asyncpg.Pool
) -> None:
    await make_operator(edge, pool, "ada@example.org", OperatorRole.AUDITOR)
    path = await link(edge)
    await pool.execute("ALTER TABLE download_links RENAME TO download_links_away")
    status, headers, text = await fetched(edge, path, headers={"Sec-Fetch-Mode": "navigate"})
    assert (status, headers["Content-Disposition"]) == (200, 'attachment; filename="refused.json"'), text
    assert json.loads(text)["code"] == "INTERNAL_ERROR"
    status, headers, _ = await fetched(edge, path)
    assert (status, headers["Content-Disposition"]) == (500, 'attachment; filename="refused.json"')
    await pool.execute("ALTER TABLE download_links_away RENAME TO download_links")
    assert (await fetched(edge, path))[0] == 200


async def test_a_link_is_for_exports_alone_and_a_head_does_not_use_it_up(edge: RestClient, pool: asyncpg.Pool) -> None:
    await make_operator(edge, pool, "ada@example.org", OperatorRole.AUDITOR)
    for bad in (
        {"path": "/operator/users"}, {"path": "/operator/../auth/export"}, {"path": "/users/export"},
        {"path": "/operator/users/export?x=1"}, {"query": ""}, {"query": "reason=two words"}, {"query": "x" * 8001},
        {"name": 'a".csv'}, {"name": "a/b.csv"}, {"name": "users.exe"}, {"name": " .csv"}, {"name": "a\r\nx: y.csv"},
    ):  # fmt: skip
        assert (await edge("POST", "/operator/downloads", WANTED | bad)).status == 400, bad
    path = await link(edge)
    assert (await fetched(edge, path, "HEAD"))[0] == 404
    assert (await fetched(edge, path))[0] == 200
    assert (await fetched(edge, "/downloads/short"))[0] == 400


async def test_the_database_opens_nothing_and_an_old_link_is_none(pool: asyncpg.Pool) -> None:
    moment = utc_now()
    links = DownloadLinks(pool, lambda: moment)
    download = Download("/operator/users/export", "reason=audit", b"Bearer secret-token", "users.csv")
    ticket, expires_at = await links.make(download)
    assert expires_at == moment + LIFE
    row = await pool.fetchrow("SELECT * FROM download_links")
    assert row is not None
    kept = bytes(row["link_hash"]) + bytes(row["sealed"])
    assert ticket.encode() not in kept and b"secret-token" not in kept and b"users" not in kept
    assert await links.take(ticket) == download
    old, _ = await links.make(download)
    moment += LIFE
    with pytest.raises(Exception, match="has expired"):
        await links.take(old)
    await links.make(download)
    moment += LIFE - timedelta(seconds=1)
    await links.delete_expired()
    assert await pool.fetchval("SELECT count(*) FROM download_links") == 1
    moment += timedelta(seconds=1)
    await links.delete_expired()
    assert await pool.fetchval("SELECT count(*) FROM download_links") == 0


async def test_a_large_file_comes_in_pieces(
    edge: RestClient, pool: asyncpg.Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("openspot.rest_edge.operators.exports.ROWS_AT_A_TIME", 2)
    await make_operator(edge, pool, "ada@example.org", OperatorRole.AUDITOR)
    for number in range(7):
        await insert(pool, "users", {"user_id": f"u{number}"}, email=f"u{number}@example.org", role="user")
    status, headers, content = await fetched(edge, await link(edge))
    assert (status, len(content.splitlines())) == (200, 1 + 8)
    assert "Content-Length" not in headers, "nobody has counted it before"
