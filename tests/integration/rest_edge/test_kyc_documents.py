"""Documents of a verification: uploaded, replaced, withdrawn, looked at by operators, decided on, deleted in time."""

import asyncio
import hashlib
import json
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from typing import Any

import aiohttp
import asyncpg
import pytest

from openspot.http.errors import HttpError
from openspot.http.operators import OperatorRole
from openspot.kit.mail.transports import read_mailbox
from openspot.kit.sealing import Sealer, UnsealError
from openspot.kit.secrets_file import with_secrets
from openspot.kit.settings import Settings, as_part
from openspot.rest_edge.funds.documents import receiving
from openspot.rest_edge.funds.documents.rules import DocumentKind, MediaType
from openspot.rest_edge.funds.documents.service import DocumentService
from openspot.rest_edge.funds.documents.store import DocumentBounds, DocumentStore, NewDocument
from openspot.rest_edge.funds.kyc.store import KycStore
from openspot.rest_edge.settings import RestEdgeSettings
from tests.support.authenticator import register
from tests.support.edge_operators import make_operator
from tests.support.mailbox import mail_to
from tests.support.money_user import BASIC_INFORMATION
from tests.support.rest_client import Reply, RestClient, running_edge
from tests.support.sample_documents import pdf, picture
from tests.support.waiting import eventually

ADA, EVE = "ada@example.org", "eve@example.org"
PASSPORT, BILL = picture("PNG"), pdf("Electricity bill")
NOW = datetime(2026, 11, 28, 12, 0, tzinfo=UTC)


async def begin_check(user: RestClient) -> None:
    """Give the basic information and start the check."""
    assert (await user("POST", "/kyc/basic-info", BASIC_INFORMATION)).status == 200
    assert (await user("POST", "/kyc/start", {"level": "verified"})).status == 201


async def upload(
    user: RestClient, content: bytes = PASSPORT, media_type: str = "image/png", query: str = "kind=identity_front"
) -> Reply:
    return await user("POST", f"/kyc/documents?{query}", raw=content, headers={"Content-Type": media_type})


async def listed(user: RestClient) -> list[str]:
    """The ids of the user's documents."""
    return [each["id"] for each in (await user("GET", "/kyc/documents")).body["documents"]]


async def kept(pool: asyncpg.Pool) -> int:
    return int(await pool.fetchval("SELECT count(*) FROM kyc_documents"))


async def told(pool: asyncpg.Pool, user_id: str) -> list[tuple[str, int, bool]]:
    """The title of each notice of a decision, its lines, and whether it is on the screen."""
    rows = await pool.fetch(
        "SELECT title, text, on_screen FROM notifications WHERE user_id = $1 AND kind = 'verification.decided'"
        " ORDER BY number",
        user_id,
    )
    return [(row["title"], len(row["text"].split("\n")), row["on_screen"]) for row in rows]


@pytest.fixture
async def operators(edge: RestClient, pool: asyncpg.Pool) -> AsyncIterator[tuple[RestClient, RestClient, str]]:
    """A user whose check is open, an operator who decides on it, and the user's id."""
    user, ada = RestClient(edge.settings), RestClient(edge.settings)
    eve = await register(user, EVE)
    await begin_check(user)
    await make_operator(ada, pool, ADA, OperatorRole.COMPLIANCE)
    yield user, ada, eve
    await user.close()
    await ada.close()


async def test_a_document_of_each_type_is_kept_once_and_no_table_holds_it_in_clear(
    edge: RestClient, pool: asyncpg.Pool, settings: Settings
) -> None:
    early = await upload(edge)
    assert (early.status, early.code) == (409, "KYC_CHECK_NOT_OPEN")
    await begin_check(edge)
    assert (await edge("GET", "/kyc/documents")).body == {
        "isTaken": True, "provider": None, "bytesMax": 8_388_608, "documentsMax": 12, "documents": [],
    }  # fmt: skip
    sent = (
        ("identity_front", PASSPORT, "image/png"), ("identity_back", picture("JPEG"), "image/jpeg"),
        ("selfie", picture("WEBP"), "image/webp"), ("proof_of_address", BILL, "application/pdf"),
    )  # fmt: skip
    for kind, content, media_type in sent:
        # What it is, the content decides, and not the header.
        reply = await upload(edge, content, "image/jpeg", f"kind={kind}&name=scan%20of%20{kind}.bin")
        assert (reply.status, reply.body["mediaType"], reply.body["size"]) == (201, media_type, len(content))
        assert reply.body["sha256"] == hashlib.sha256(content).hexdigest()
        assert (reply.body["name"], reply.body["decidedAt"]) == (f"scan of {kind}.bin", None)
        again = await upload(edge, content, media_type, f"kind={kind}")
        assert (again.status, again.body) == (200, reply.body)
    assert [each["kind"] for each in (await edge("GET", "/kyc/documents")).body["documents"]] == [
        kind for kind, *_ in sent
    ]
    rows = await pool.fetch("SELECT * FROM kyc_documents")
    secret = with_secrets(as_part(settings, RestEdgeSettings)).sealing_secret
    for row in rows:
        assert not [each for each in (b"scan of", b"IHDR", b"JFIF", b"WEBP", b"%PDF") if each in row["sealed_content"]]
        assert b"scan" not in row["sealed_name"]
        for user_id, document_id in (("u2", row["document_id"]), ("u1", "another")):
            with pytest.raises(UnsealError):
                Sealer(secret).open(row["sealed_content"], f"kyc-document:{user_id}:{document_id}")


async def test_what_is_refused_leaves_nothing(edge: RestClient, pool: asyncpg.Pool) -> None:
    await begin_check(edge)
    for content, reason in (
        (b"<svg onload='alert(1)'/>", "the content is none of JPEG, PNG, WebP and PDF"),
        (b"", "the file is empty"),
        (PASSPORT[:-20], "the PNG image is cut off"),
        (PASSPORT + b"<script>", "the PNG image has other data behind its end"),
    ):
        reply = await upload(edge, content)
        assert (reply.status, reply.code, reply.message) == (400, "KYC_DOCUMENT_INVALID", reason)
    for media_type in ("image/svg+xml", "text/html", "application/json", "multipart/form-data; boundary=x"):
        assert (await upload(edge, media_type=media_type)).status == 415
    for query, reason in (
        ("", "kind is required"),
        ("kind=drawing", "kind must be one of"),
        ("kind=selfie&name=..%2F..%2Fetc%2Fpasswd", "name must be the name of a file, without a path"),
        ("kind=selfie&name=a%0d%0aSet-Cookie:b", "name has characters that are not allowed"),
        (f"kind=selfie&name={'a' * 300}", "name must be at most 255 characters long"),
        ("kind=selfie&replaces=1", "replaces has characters that are not allowed"),
    ):
        reply = await upload(edge, query=query)
        assert reply.status == 400
        assert reply.message[0].startswith(reason), reply.message
    assert await kept(pool) == 0


async def test_a_file_beyond_the_bound_is_refused_by_name_and_not_held(edge: RestClient, pool: asyncpg.Pool) -> None:
    await begin_check(edge)

    async def pieces() -> AsyncIterator[bytes]:
        for _ in range(9):
            yield bytes(1_000_000)

    headers = {"Authorization": f"Bearer {edge.token}", "Content-Type": "image/png"}
    url = f"{edge.settings.rest_url}/api/v1/kyc/documents?kind=selfie"
    async with aiohttp.ClientSession() as session:
        # One that says how long it is, and one that does not.
        for body in (bytes(8_388_609), pieces()):
            async with session.post(url, data=body, headers=headers) as response:
                assert response.status == 413
                assert (await response.json())["message"] == "the body must be at most 8388608 bytes long"
    largest = bytearray(picture("JPEG"))
    largest += bytes(8_388_608 - len(largest))
    assert (await upload(edge, bytes(largest), "image/jpeg")).status == 201
    assert await kept(pool) == 1


async def test_a_connection_that_ends_within_the_body_leaves_nothing_and_gives_its_place_back(
    edge: RestClient, pool: asyncpg.Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The edge runs in this process: on a busy machine it must not give up before the connection ends.
    monkeypatch.setattr(receiving, "BODY_PAUSE_S_MAX", 600.0)
    monkeypatch.setattr(receiving, "BODY_S_MAX", 600.0)
    await begin_check(edge)
    head = f"POST /api/v1/kyc/documents?kind=selfie HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {edge.token}\r\n"
    head += f"Content-Type: image/png\r\nContent-Length: {len(PASSPORT)}\r\n\r\n"
    writers: list[asyncio.StreamWriter] = []

    async def is_under_way() -> bool:
        # Where the look itself comes first, the connection is refused: then another one tries.
        _, writer = await asyncio.open_connection(edge.settings.host, edge.settings.rest_port)
        writers.append(writer)
        writer.write(head.encode() + PASSPORT[:-9])
        await writer.drain()
        reply = await upload(edge)
        if reply.status == 409:
            assert reply.code == "KYC_UPLOAD_IN_PROGRESS"
            return True
        await edge("DELETE", f"/kyc/documents/{reply.body['id']}")
        return False

    await eventually(is_under_way)
    for writer in writers:
        writer.close()

    async def has_ended() -> bool:
        return (await upload(edge)).status == 201

    await eventually(has_ended)
    assert await kept(pool) == 1


async def test_a_document_is_replaced_and_withdrawn_by_its_user_alone_and_until_the_decision(
    operators: tuple[RestClient, RestClient, str], edge: RestClient, pool: asyncpg.Pool
) -> None:
    user, ada, eve = operators
    await begin_check(edge)
    first = (await upload(user)).body["id"]
    for reply in (
        await edge("DELETE", f"/kyc/documents/{first}"),
        await upload(edge, BILL, "application/pdf", f"kind=selfie&replaces={first}"),
        await edge("DELETE", "/kyc/documents/AAAAAAAAAAAAAAAAAAAA"),
    ):
        assert (reply.status, reply.code) == (404, "KYC_DOCUMENT_NOT_FOUND")
    assert await listed(edge) == []
    second = (await upload(user, BILL, "application/pdf", f"kind=identity_front&replaces={first}")).body["id"]
    assert await listed(user) == [second]
    third = (await upload(user)).body["id"]
    assert (await user("DELETE", f"/kyc/documents/{third}")).body == {"success": True}
    assert (await user("DELETE", f"/kyc/documents/{third}")).status == 404
    # On hold, the operator waits for another document.
    for decision in ("hold", "retry"):
        body = {"decision": decision, "reason": "the picture is blurred"}
        assert (await ada("POST", f"/operator/verifications/{eve}/decision", body)).status == 200
        assert (await user("GET", "/kyc/documents")).body["isTaken"] is (decision == "hold")
    before = await pool.fetch("SELECT * FROM kyc_documents")
    refused = await user("DELETE", f"/kyc/documents/{second}")
    assert (refused.status, refused.code) == (409, "KYC_DOCUMENT_DECIDED")
    assert (await upload(user, query=f"kind=selfie&replaces={second}")).code == "KYC_CHECK_NOT_OPEN"
    # A new check has documents of its own; those of the old one stay as they were.
    assert (await user("POST", "/kyc/start", {"level": "verified"})).status == 201
    assert await listed(user) == []
    assert (await upload(user, query=f"kind=selfie&replaces={second}")).code == "KYC_DOCUMENT_NOT_FOUND"
    assert await pool.fetch("SELECT * FROM kyc_documents") == before


def store_of(
    pool: asyncpg.Pool, documents_max: int = 12, bytes_together_max: int = 10**9, bytes_user_max: int = 10**9
) -> DocumentStore:
    return DocumentStore(pool, Sealer("s" * 32), DocumentBounds(documents_max, bytes_user_max, bytes_together_max))


def new_document(number: int, content: bytes = PASSPORT) -> NewDocument:
    return NewDocument(
        document_id=f"{number:020}", user_id="u1", kind=DocumentKind.SELFIE, media_type=MediaType.PNG, name=None,
        content=content + bytes([number]),
    )  # fmt: skip


async def test_two_uploads_at_the_last_place_do_not_both_get_it(edge: RestClient, pool: asyncpg.Pool) -> None:
    await begin_check(edge)
    store = store_of(pool, documents_max=3)
    await store.add(new_document(0), None, NOW)
    await store.add(new_document(1), None, NOW)
    found = await asyncio.gather(
        *(store.add(new_document(number), None, NOW) for number in range(2, 6)), return_exceptions=True
    )
    refused = [each for each in found if isinstance(each, HttpError)]
    assert [(each.status_code, each.code, each.details) for each in refused] == [
        (409, "KYC_DOCUMENTS_MAX", {"max": 3})
    ] * 3
    assert await kept(pool) == 3
    # A replacement needs no further place.
    await store.add(new_document(9), f"{0:020}", NOW)
    assert await kept(pool) == 3


async def test_a_replacement_that_fails_or_whose_connection_dies_leaves_what_was_there(
    edge: RestClient, pool: asyncpg.Pool
) -> None:
    await begin_check(edge)
    first = (await upload(edge)).body["id"]
    with pytest.raises(HttpError) as refused:
        await store_of(pool, bytes_together_max=len(PASSPORT)).add(new_document(1), first, NOW)
    assert (refused.value.status_code, refused.value.code) == (503, "KYC_STORAGE_FULL")
    assert await listed(edge) == [first]
    async with pool.acquire() as connection, connection.transaction():
        await connection.execute("SELECT FROM kyc_documents WHERE document_id = $1 FOR UPDATE", first)
        query = f"kind=selfie&replaces={first}"
        uploading = asyncio.create_task(upload(edge, BILL, "application/pdf", query))

        async def waits_for_the_row() -> bool:
            killed = await pool.fetch(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                " WHERE wait_event_type = 'Lock' AND query LIKE '%DELETE FROM kyc_documents%'"
            )
            return bool(killed)

        await eventually(waits_for_the_row)
        assert (await uploading).status == 503
    assert await listed(edge) == [first]
    assert (await upload(edge, BILL, "application/pdf", query)).status == 201
    assert await kept(pool) == 1


async def test_operators_look_at_documents_on_the_record_and_get_them_as_files_that_nothing_runs(
    operators: tuple[RestClient, RestClient, str], edge: RestClient, pool: asyncpg.Pool
) -> None:
    user, ada, eve = operators
    front = (await upload(user, query="kind=identity_front&name=pass%22port.png")).body
    await upload(user, BILL, "application/pdf", "kind=proof_of_address")
    [queued] = (await ada("GET", "/operator/verifications")).body
    assert (queued["userId"], queued["documents"]) == (eve, 2)
    shown = (await ada("GET", f"/operator/verifications/{eve}")).body["documents"]
    assert shown[0] == front | {"isOfThisCheck": True}
    path = f"/operator/verifications/{eve}/documents/{front['id']}"
    assert (await ada("GET", path)).message == ["reason is required"]
    headers = {"Authorization": f"Bearer {ada.token}"}
    url = f"{edge.settings.rest_url}/api/v1{path}?reason=ticket%204711"
    async with aiohttp.ClientSession() as session, session.get(url, headers=headers) as response:
        assert await response.read() == PASSPORT
        wanted = {
            "Content-Type": "image/png",
            "Content-Disposition": f'attachment; filename="identity-front-{front["id"]}.png"',
            "X-Content-Type-Options": "nosniff",
            "Content-Security-Policy": "default-src 'none'; sandbox; frame-ancestors 'none'",
            "Cache-Control": "no-store",
            "X-Frame-Options": "DENY",
        }
        assert {name: response.headers.getall(name) for name in wanted} == {k: [v] for k, v in wanted.items()}
    entry = await pool.fetchrow("SELECT * FROM operator_actions WHERE action = 'verification.document.read'")
    assert (entry["subject_id"], entry["reason"]) == (eve, "ticket 4711")
    looked_at = {"document": front["id"], "kind": "identity_front", "sha256": front["sha256"]}
    assert json.loads(entry["after"]) == looked_at
    # Nobody else, and not under the name of another user.
    others = await ada("GET", f"/operator/verifications/u1/documents/{front['id']}?reason=curious")
    assert (others.status, others.code) == (404, "KYC_DOCUMENT_NOT_FOUND")
    await pool.execute("UPDATE operator_roles SET role = 'SUPPORT'")
    refused = await ada("GET", f"{path}?reason=curious")
    assert (refused.status, refused.code) == (403, "PERMISSION_MISSING")
    for stranger in (user, edge):
        assert (await stranger("GET", f"{path}?reason=curious")).status == 403
    assert await pool.fetchval("SELECT count(*) FROM operator_actions WHERE action ~ 'document'") == 1


async def test_a_decision_is_recorded_with_what_it_was_based_on_and_refused_if_that_was_exchanged(
    operators: tuple[RestClient, RestClient, str], pool: asyncpg.Pool
) -> None:
    user, ada, eve = operators
    front = (await upload(user)).body
    seen = {"decision": "approve", "reason": "passport and bill match", "documents": [front["sha256"]]}
    # Between look and decision the user puts another passport in the place of the one that was seen.
    other = (await upload(user, picture("PNG", (200, 0, 0)), query=f"kind=identity_front&replaces={front['id']}")).body
    path = f"/operator/verifications/{eve}/decision"
    for documents in ([front["sha256"]], [], [front["sha256"], other["sha256"]]):
        refused = await ada("POST", path, seen | {"documents": documents})
        assert (refused.status, refused.code) == (409, "KYC_DOCUMENTS_CHANGED")
    assert (await user("GET", "/kyc/status")).body["status"] == "pending"
    decided = await ada("POST", path, seen | {"documents": [other["sha256"]]})
    assert (decided.status, decided.body["level"]) == (200, "verified")
    after = await pool.fetchval("SELECT after FROM operator_actions WHERE action = 'verification.approve'")
    assert json.loads(after) == {"documents": other["sha256"], "level": "verified", "status": "approved"}
    assert [row["decidedAt"] is None for row in (await user("GET", "/kyc/documents")).body["documents"]] == [False]


async def test_each_decision_is_told_once_by_mail_and_on_the_screen_as_the_user_prefers(
    operators: tuple[RestClient, RestClient, str], pool: asyncpg.Pool
) -> None:
    user, ada, eve = operators
    await pool.execute("UPDATE users SET language = 'de' WHERE user_id = $1", eve)

    async def decide(decision: str) -> None:
        body = {"decision": decision, "level": "verified", "reason": "looked at"}
        assert (await ada("POST", f"/operator/verifications/{eve}/decision", body)).status == 200

    await decide("hold")
    assert await told(pool, eve) == []
    for _ in range(2):
        await decide("approve")
    approved = ("Verifizierung bestätigt", 1, True)
    assert await told(pool, eve) == [approved]
    await mail_to(user.settings.data_dir, EVE, approved[0])
    preference = {"email": False, "websocket": False, "push": False}
    assert (await user("PUT", "/settings/notifications/verification_decided", preference)).status == 200
    await decide("retry")
    # What a user states after being asked for more raises the level, and is no decision.
    assert (await user("POST", "/kyc/basic-info", BASIC_INFORMATION)).status == 200
    await decide("reject")
    quiet = [("Verifizierung braucht mehr von Ihnen", 2, False), ("Verifizierung abgelehnt", 2, False)]
    assert await told(pool, eve) == [approved, *quiet]
    mailed = [mail.subject for mail in read_mailbox(user.settings.data_dir) if mail.recipient == EVE]
    mailed += [row["detail"].split("\n")[0] for row in await pool.fetch("SELECT detail FROM mail_outbox")]
    assert [subject for subject in mailed if subject.startswith("Verifizierung")] == [approved[0]]
    # A decision that is undone tells nothing: the notice is part of its transaction.
    refused = {"decision": "approve", "level": "verified", "reason": "looked at", "documents": ["0" * 64]}
    assert (await ada("POST", f"/operator/verifications/{eve}/decision", refused)).status == 409
    assert len(await told(pool, eve)) == 3


async def test_a_decision_on_what_the_user_stated_is_refused_if_something_else_is_stated_by_now(
    operators: tuple[RestClient, RestClient, str], pool: asyncpg.Pool
) -> None:
    user, ada, eve = operators
    path = f"/operator/verifications/{eve}"
    looked = (await ada("GET", f"{path}?reason=ticket%204711")).body
    assert looked["information"]["firstName"] == BASIC_INFORMATION["firstName"]
    # The documents match this name. Another one is put in its place before the decision.
    assert (await user("POST", "/kyc/basic-info", BASIC_INFORMATION | {"firstName": "Mallory"})).status == 200
    decision = {"decision": "approve", "reason": "passport and bill match", "documents": []}
    refused = await ada("POST", f"{path}/decision", decision | {"updatedAt": looked["updatedAt"]})
    assert (refused.status, refused.code) == (409, "KYC_VERIFICATION_CHANGED")
    assert (await user("GET", "/kyc/status")).body["level"] == "basic"
    again = (await ada("GET", f"{path}?reason=ticket%204711")).body
    assert again["information"]["firstName"] == "Mallory"
    # Of two operators who decide at once on what both have seen, the second one is refused.
    seen = decision | {"updatedAt": again["updatedAt"]}
    both = (seen, seen | {"decision": "retry"})
    outcomes = await asyncio.gather(*(ada("POST", f"{path}/decision", each) for each in both))
    assert sorted(reply.status for reply in outcomes) == [200, 409]


async def test_documents_are_deleted_when_they_were_kept_long_enough_some_at_a_time(
    edge: RestClient, pool: asyncpg.Pool
) -> None:
    await begin_check(edge)
    store = store_of(pool)
    for number in range(4):
        await store.add(new_document(number), None, NOW)
    for number, days in ((0, 2), (1, 3), (2, 1)):
        decided = "UPDATE kyc_documents SET decided_at = $2 WHERE document_id = $1"
        await pool.execute(decided, f"{number:020}", NOW - timedelta(days=days))
    before = NOW - timedelta(days=1)
    assert [await store.delete_kept_since(before, 1) for _ in range(3)] == [1, 1, 0]
    assert [row[0][-1] for row in await pool.fetch("SELECT document_id FROM kyc_documents ORDER BY 1")] == ["2", "3"]


async def test_bytes_of_one_user_are_bounded_with_what_was_decided_on(edge: RestClient, pool: asyncpg.Pool) -> None:
    await begin_check(edge)
    store = store_of(pool, bytes_user_max=2 * len(PASSPORT) + 2)
    await store.add(new_document(0), None, NOW)
    await pool.execute("UPDATE kyc_documents SET decided_at = $1", NOW)
    await store.add(new_document(1), None, NOW)
    with pytest.raises(HttpError) as refused:
        await store.add(new_document(2), None, NOW)
    most = 2 * len(PASSPORT) + 2
    assert (refused.value.status_code, refused.value.code, refused.value.details) == (
        409, "KYC_DOCUMENTS_BYTES_MAX", {"max": most},
    )  # fmt: skip
    # A replacement takes the place of what it replaces, and the own bytes of another user count apart.
    await store.add(new_document(3), f"{1:020}", NOW)
    assert await kept(pool) == 2


async def test_a_check_in_which_nothing_happens_is_closed_with_a_notice_and_its_documents_are_erased(
    settings: Settings, pool: asyncpg.Pool
) -> None:
    own = settings.model_copy(update={"rest_port": settings.ws_port, "kyc_abandoned_days": 30})
    async with running_edge(own) as edge:
        users = [RestClient(edge.settings) for _ in range(3)]
        ids = [await register(user, f"eve{number}@example.org") for number, user in enumerate(users)]
        for user in users:
            await begin_check(user)
            assert (await upload(user)).status == 201
        # Long ago: all of it, the check alone, and nothing.
        await pool.execute(
            "UPDATE kyc_profiles SET updated_at = now() - interval '30 days 1 minute' WHERE user_id = ANY($1)", ids[:2]
        )
        await pool.execute(
            "UPDATE kyc_documents SET uploaded_at = now() - interval '30 days 1 minute' WHERE user_id = $1", ids[0]
        )
        await pool.execute("UPDATE kyc_profiles SET status = 'on_hold' WHERE user_id = $1", ids[0])
    async with running_edge(own) as edge:

        async def closed() -> bool:
            return await kept(pool) == 2

        await eventually(closed)
        statuses = [(await user("GET", "/kyc/status")).body for user in users]
        assert [each["status"] for each in statuses] == ["not_started", "pending", "pending"]
        assert (statuses[0]["level"], statuses[0]["requestedLevel"]) == ("basic", None)
        told = await pool.fetch("SELECT user_id, kind, title FROM notifications WHERE kind LIKE 'verification%'")
        assert [tuple(row) for row in told] == [(ids[0], "verification.closed", "Verification closed")]
        # It begins again, with nothing of before.
        assert (await upload(users[0])).code == "KYC_CHECK_NOT_OPEN"
        assert (await users[0]("POST", "/kyc/start", {"level": "verified"})).status == 201
        assert await listed(users[0]) == []
        for user in users:
            await user.close()


class Outside:
    """A provider that takes documents itself."""

    name = "outside"
    takes_documents = True

    async def start(self, *_: Any) -> Any:
        """Not needed here."""


async def test_with_an_outside_provider_or_none_nothing_is_taken_and_the_reply_says_who_takes_it(
    edge: RestClient, pool: asyncpg.Pool
) -> None:
    await begin_check(edge)
    profiles, context = KycStore(pool, Sealer("s" * 32), None), Any  # type: ignore[arg-type]
    refusals = {}
    for provider in (Outside(), None):
        documents = DocumentService(
            store_of(pool),
            profiles,
            provider,
            bytes_max=65_536,
            documents_max=1,
            kept=timedelta(),
            bytes_together_max=10**9,
            abandoned_after=timedelta(days=1),
            notifications=None,
            clock=lambda: 0,  # type: ignore[arg-type]
        )
        found = await documents.documents("u1")
        assert (found.is_taken, found.provider) == (False, "outside" if provider else None)

        class NoBody:
            """A request whose body is dropped."""

            async def discard_body(self, bytes_max: int) -> None:
                assert bytes_max == 65_536

        context = NoBody()
        with pytest.raises(HttpError) as refused:
            await documents.add("u1", DocumentKind.SELFIE, None, None, context)  # type: ignore[arg-type]
        refusals[refused.value.code] = refused.value.message
    assert refusals == {
        "KYC_PROVIDER_TAKES_DOCUMENTS": "the provider outside takes the documents: go on there",
        "KYC_PROVIDER_UNAVAILABLE": "no provider of verification is set up",
    }


@pytest.mark.proof
async def test_every_bound_is_a_setting(settings: Settings, pool: asyncpg.Pool) -> None:
    bounds = {
        "kyc_provider": "operators", "kyc_document_bytes_max": 65_536, "kyc_documents_user_max": 1,
        "kyc_documents_bytes_max": 1_000_000, "kyc_uploads_hour_max": 3, "throttle_enabled": True,
        "kyc_documents_user_bytes_max": 65_536,
    }  # fmt: skip
    async with running_edge(settings.model_copy(update=bounds | {"rest_port": settings.ws_port})) as edge:
        edge.as_user("u1")
        assert (await edge("POST", "/kyc/basic-info", BASIC_INFORMATION)).status == 200
        started = (await edge("POST", "/kyc/start", {})).body
        assert (started["provider"], started["instructions"][:26]) == ("operators", "upload your documents here")
        assert (await upload(edge, bytes(65_537))).status == 413
        assert (await upload(edge)).status == 201
        assert (await upload(edge, BILL, "application/pdf")).code == "KYC_DOCUMENTS_MAX"
        throttled = await upload(edge, BILL, "application/pdf")
        assert (throttled.status, throttled.headers["X-RateLimit-Limit-uploads"]) == (429, "3")
        await pool.execute("UPDATE kyc_documents SET decided_at = now() - interval '1 day', size = 999_999")
        edge.as_user("u2")
        await begin_check(edge)
        assert (await upload(edge)).code == "KYC_STORAGE_FULL"
        await pool.execute("UPDATE kyc_documents SET user_id = 'u2', size = 65_530")
        assert (await upload(edge)).code == "KYC_DOCUMENTS_BYTES_MAX"
    deleting = bounds | {"rest_port": settings.ws_port, "kyc_documents_kept_days": 1}
    async with running_edge(settings.model_copy(update=deleting)):

        async def gone() -> bool:
            return await kept(pool) == 0

        await eventually(gone)
