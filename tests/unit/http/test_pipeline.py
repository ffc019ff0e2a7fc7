"""What a request passes through, on a service of a few routes."""

import asyncio
import gc
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from prometheus_client import REGISTRY
from pydantic import Field
from starlette.requests import Request
from starlette.responses import Response

from openspot.http.app import make_http_app, with_cors
from openspot.http.audit import AuditRecord
from openspot.http.authentication import UserTokens
from openspot.http.context import RequestContext, caller
from openspot.http.errors import HttpError
from openspot.http.idempotency import StoredResponse
from openspot.http.policy import PUBLIC, Access, Policy, Scope, ThrottleClass
from openspot.http.responses import FastPathResponse, json_response
from openspot.http.routing import Route, Router
from openspot.http.throttle import MemoryThrottle, Tier
from openspot.http.validation import Body, WholeNumber
from openspot.kit.health import Health
from openspot.kit.tokens import Claims, sign
from tests.support.asgi import ask

SECRET = "test-secret-of-at-least-thirty-two-bytes"
BEARER = {"authorization": f"Bearer {sign(Claims('u1', 'user', 2**33), SECRET, 1)}"}
JSON = BEARER | {"content-type": "application/json"}


class Sink:
    """An audit sink with a bounded number of places."""

    def __init__(self, places: int = 100) -> None:
        self.places = places
        self.records: list[AuditRecord] = []

    async def reserve(self) -> bool:
        self.places -= 1
        return self.places >= 0

    def record(self, record: AuditRecord) -> None:
        self.records.append(record)


class Store:
    """Answers by caller and key, as a store of part 5 would keep them."""

    def __init__(self) -> None:
        self.answers: dict[tuple[str, str], StoredResponse] = {}

    async def run(
        self, key: str, context: RequestContext, execute: Callable[[], Awaitable[StoredResponse]]
    ) -> StoredResponse:
        assert context.identity is not None
        place = (context.identity.subject, key)
        known = self.answers.get(place)
        if known is not None:
            return StoredResponse(known.status, (*known.headers, (b"idempotency-hit", b"true")), known.body)
        self.answers[place] = await execute()
        return self.answers[place]


class Count(Body):
    count: WholeNumber = Field(ge=1)


class OwnError(Exception):
    """An exception of the service's own."""


class Service:
    """A service of a few routes, and how often its handlers ran."""

    def __init__(self, **options: Any) -> None:
        self.runs = 0
        router = Router("/things", tag="things")

        @router.get("/{name}", Policy(Access.USER, Scope.READ), summary="One thing")
        async def get_thing(request: Request, name: str) -> Response:
            self.runs += 1
            return json_response({"name": name, "user": caller(request).user_id})

        @router.post("", Policy(Access.USER, Scope.TRADE, audit=True, idempotency=True), status=201, summary="Make")
        async def make_thing(body: Count) -> Response:
            self.runs += 1
            return json_response({"count": body.count, "run": self.runs}, 201)

        @router.get("/broken/{kind}", PUBLIC, summary="Fail")
        async def fail(kind: str) -> Response:
            raise OwnError(kind) if kind == "own" else RuntimeError("secret detail")

        async def answer_on_the_fast_path(context: RequestContext) -> FastPathResponse:
            self.runs += 1
            return FastPathResponse(200, b'{"fast":true}')

        @router.get("/fast/answer", PUBLIC, fast_path=answer_on_the_fast_path, summary="Without FastAPI")
        async def documented_only() -> Response:
            raise AssertionError("the fast path runs instead")

        async def answer_the_lucky_ones(context: RequestContext) -> FastPathResponse | None:
            if context.parameters["number"] != "7":
                return None
            return FastPathResponse(200, b'{"fast":true}', ((b"x-luck", b"7"),))

        @router.get("/lucky/{number}", PUBLIC, fast_path=answer_the_lucky_ones, summary="With and without FastAPI")
        async def lucky(number: int) -> Response:
            return json_response({"number": number})

        defaults: dict[str, Any] = {
            "title": "Things", "health": Health(), "authenticators": [UserTokens(SECRET)], "audit": Sink(),
            "translations": {OwnError: lambda error: HttpError(409, str(error), "OWN")},
        }  # fmt: skip
        self.routes = router.routes
        self.app = make_http_app([router], **(defaults | options))


async def test_a_route_gets_its_parameters_and_its_caller() -> None:
    reply = await ask(Service().app, "GET", "/things/lamp", headers=BEARER)
    assert (reply.status, reply.json) == (200, {"name": "lamp", "user": "u1"})
    assert reply.header("x-request-id")
    assert reply.header("x-content-type-options") == "nosniff"
    assert (await ask(Service().app, "GET", "/things/lamp")).status == 401


async def test_the_fast_path_runs_instead_of_the_declared_handler() -> None:
    reply = await ask(Service().app, "GET", "/things/fast/answer")
    assert (reply.status, reply.json, reply.header("content-length")) == (200, {"fast": True}, "13")


async def test_a_fast_path_may_leave_a_request_to_the_declared_handler() -> None:
    app = Service().app
    reply = await ask(app, "GET", "/things/lucky/7")
    assert (reply.json, reply.header("x-luck")) == ({"fast": True}, "7")
    reply = await ask(app, "GET", "/things/lucky/8")
    assert (reply.json, reply.header("x-luck")) == ({"number": 8}, None)
    assert (await ask(app, "GET", "/things/lucky/eight")).status == 400


@pytest.mark.parametrize("path", ["/things/fast/answer", "/things/lamp", "/nothing"])
async def test_a_request_that_is_over_is_freed_without_a_search_for_garbage(path: str) -> None:
    def requests() -> int:
        return sum(type(kept) is RequestContext for kept in gc.get_objects())

    app = Service().app
    await ask(app, "GET", path, headers=BEARER)
    gc.collect()
    gc.disable()
    try:
        before = requests()
        await ask(app, "GET", path, headers=BEARER)
        assert requests() == before
    finally:
        gc.enable()


async def test_own_exceptions_are_translated_and_faults_show_nothing() -> None:
    reply = await ask(Service().app, "GET", "/things/broken/own")
    assert (reply.status, reply.json["code"], reply.json["message"]) == (409, "OWN", "own")
    reply = await ask(Service().app, "GET", "/things/broken/other")
    assert (reply.status, reply.json["message"]) == (500, "internal error")
    assert b"secret detail" not in reply.body


async def test_times_of_requests_are_counted_by_outcome_and_without_health() -> None:
    def counted() -> tuple[float, ...]:
        name = "openspot_http_seconds_count"
        return tuple(REGISTRY.get_sample_value(name, {"outcome": kind}) or 0 for kind in ("answered", "fault"))

    answered, faults = counted()
    app = Service().app
    for path in ("/things/lamp", "/nothing", "/things/broken/own"):
        await ask(app, "GET", path, headers=BEARER)
    assert counted() == (answered + 3, faults)
    await ask(app, "GET", "/things/broken/other")
    assert counted() == (answered + 3, faults + 1)
    for path in ("/health", "/ready", "/metrics"):
        await ask(app, "GET", path)
    assert counted() == (answered + 3, faults + 1)


async def test_a_body_is_read_only_where_the_route_takes_one() -> None:
    service = Service()
    reply = await ask(service.app, "GET", "/things/lamp", b"\xff no JSON", BEARER | {"content-type": "text/plain"})
    assert reply.status == 200
    for body, status in ((b'{"count": 1}', 201), (b'{"count": true}', 400), (b'{"count": 0}', 400), (b"", 400)):
        assert (await ask(service.app, "POST", "/things", body, JSON)).status == status, body
    assert (await ask(service.app, "POST", "/things", b'{"count": 1}', BEARER)).status == 415


async def test_each_audited_request_leaves_one_record_whatever_became_of_it() -> None:
    sink = Sink()
    service = Service(audit=sink)
    await ask(service.app, "POST", "/things", b'{"count": 1}', JSON)
    await ask(service.app, "POST", "/things", b"{", JSON)
    await ask(service.app, "POST", "/things", b'{"count": 1}')
    await ask(service.app, "GET", "/things/lamp", headers=BEARER)
    assert [(record.user_id, record.method, record.status) for record in sink.records] == [
        ("u1", "POST", 201),
        ("u1", "POST", 400),
        (None, "POST", 401),
    ]


async def test_what_cannot_be_recorded_is_not_done() -> None:
    service = Service(audit=Sink(places=1))
    assert (await ask(service.app, "POST", "/things", b'{"count": 1}', JSON)).status == 201
    reply = await ask(service.app, "POST", "/things", b'{"count": 1}', JSON)
    assert (reply.status, reply.json["code"], service.runs) == (503, "AUDIT_UNAVAILABLE", 1)


async def test_a_signature_is_read_at_the_first_request_of_its_route() -> None:
    service = Service()
    assert not any(map(_is_read, service.routes))
    assert (await ask(service.app, "GET", "/things/lucky/8")).json == {"number": 8}
    assert [route.path for route in service.routes if _is_read(route)] == ["/things/lucky/{number}"]


def _is_read(route: Route) -> bool:
    return "documented" in vars(route)


def test_an_audited_route_without_a_sink_is_refused_at_start() -> None:
    with pytest.raises(ValueError, match="POST /things is audited"):
        Service(audit=None)


def test_a_route_that_nobody_could_call_is_refused_at_start() -> None:
    with pytest.raises(ValueError, match="no authenticator"):
        Service(authenticators=[])


async def test_a_repeated_request_under_one_key_runs_once() -> None:
    service = Service(idempotency=Store())
    first, again, other, unkeyed = [
        await ask(service.app, "POST", "/things", b'{"count": 1}', JSON | headers)
        for headers in ({"idempotency-key": "a"}, {"idempotency-key": "a"}, {"idempotency-key": "b"}, {})
    ]
    assert [reply.json["run"] for reply in (first, again, other, unkeyed)] == [1, 1, 2, 3]
    assert [reply.header("idempotency-hit") for reply in (first, again)] == [None, "true"]
    assert first.header("content-type") == "application/json"
    assert first.header("content-length") == str(len(first.body))
    # A refusal before the handler is never kept.
    refused = await ask(service.app, "POST", "/things", b"{", JSON | {"idempotency-key": "c"})
    assert refused.status == 400
    assert (await ask(service.app, "POST", "/things", b'{"count": 1}', JSON | {"idempotency-key": "c"})).status == 201


async def test_a_key_means_nothing_where_no_answer_is_stored() -> None:
    service = Service()
    for run in (1, 2):
        reply = await ask(service.app, "POST", "/things", b'{"count": 1}', JSON | {"idempotency-key": "a"})
        assert reply.json["run"] == run


async def test_a_path_that_does_not_exist_is_throttled_and_health_is_not() -> None:
    throttles = {ThrottleClass.STANDARD: MemoryThrottle((Tier("short", 3, 60),))}
    service = Service(throttles=throttles)
    statuses = [(await ask(service.app, "GET", "/nothing")).status for _ in range(5)]
    assert statuses == [404, 404, 404, 429, 429]
    assert {(await ask(service.app, "GET", "/health")).status for _ in range(5)} == {200}
    # Another caller has its own count.
    assert (await ask(service.app, "GET", "/things/lamp", headers=BEARER)).status == 200


async def test_too_many_requests_at_a_time_are_refused() -> None:
    router = Router()
    gate = asyncio.Event()

    @router.get("/wait", PUBLIC, summary="Wait")
    async def wait() -> Response:
        await gate.wait()
        return Response()

    app = make_http_app([router], title="Wait", health=Health(), requests_max=2)
    waiting = [asyncio.create_task(ask(app, "GET", "/wait")) for _ in range(2)]
    await asyncio.sleep(0)
    reply = await ask(app, "GET", "/wait")
    assert (reply.status, reply.json["code"], reply.header("retry-after")) == (503, "OVERLOADED", "1")
    gate.set()
    assert [reply.status for reply in await asyncio.gather(*waiting)] == [200, 200]


async def test_the_document_names_what_follows_from_the_policies() -> None:
    throttles = {ThrottleClass.STANDARD: MemoryThrottle()}
    document = (await ask(Service(throttles=throttles, idempotency=Store()).app, "GET", "/openapi.json")).json
    make = document["paths"]["/things"]["post"]
    assert set(make["responses"]) == {"201", "400", "401", "408", "409", "413", "415", "429", "503"}
    assert make["security"] == [{"accessToken": []}]
    assert [parameter["name"] for parameter in make["parameters"]] == ["Idempotency-Key"]
    broken = document["paths"]["/things/broken/{kind}"]["get"]
    assert broken["security"] == []
    assert set(broken["responses"]) == {"200", "400", "429", "503"}


async def test_pages_of_other_origins_are_not_offered_a_header_that_nothing_reads() -> None:
    app = with_cors(Service().app, "http://good.example")
    headers = {
        "origin": "http://good.example", "access-control-request-method": "POST",
        "access-control-request-headers": "authorization, content-type",
    }  # fmt: skip
    reply = await ask(app, "OPTIONS", "/things", headers=headers)
    assert reply.status == 200
    assert "idempotency-key" not in (reply.header("access-control-allow-headers") or "").lower()
    refused = headers | {"access-control-request-headers": "idempotency-key"}
    assert (await ask(app, "OPTIONS", "/things", headers=refused)).status == 400
