"""The routes of verification (facts B4.1-49 to B4.1-52)."""

from pydantic import ValidationError
from starlette.requests import Request
from starlette.responses import Response

from openspot.http.context import RequestContext, caller, context_of
from openspot.http.errors import validation_error
from openspot.http.policy import Access, Policy, Scope
from openspot.http.responses import FastPathResponse, encode_json, json_response
from openspot.http.routing import FastPathHandler, Router, read_json
from openspot.http.validation import messages_of
from openspot.rest_edge.common.payload_digest import DIGEST_HEADER
from openspot.rest_edge.funds.kyc.schemas import (
    BasicInformationBody,
    KycEventBody,
    KycEventResponse,
    KycSessionResponse,
    KycStatusResponse,
    StartBody,
)
from openspot.rest_edge.funds.kyc.service import KycService

_READ = Policy(Access.USER, Scope.READ)
# There is no scope: verification is personal, so an API key must not do this.
_CHANGE = Policy(Access.USER, audit=True)
_WEBHOOK = Policy(Access.PUBLIC, audit=True)


def kyc_routes(prefix: str, kyc: KycService) -> Router:
    """The routes of `/kyc`, below `prefix`."""
    router = Router(f"{prefix}/kyc", tag="kyc")

    @router.get("/status", _READ, response=KycStatusResponse, summary="Your verification")
    async def get_kyc_status(request: Request) -> Response:
        found = await kyc.status(caller(request).user_id)
        return json_response(found.model_dump(by_alias=True))

    @router.post(
        "/basic-info", _CHANGE, response=KycStatusResponse,
        refusals={400: "the body is not valid", 409: "the verification is decided already"},
        summary="Give your basic information, for the level basic",
    )  # fmt: skip
    async def give_basic_information(request: Request, body: BasicInformationBody) -> Response:
        found = await kyc.give_basic_information(caller(request).user_id, body)
        return json_response(found.model_dump(by_alias=True))

    @router.post(
        "/start", _CHANGE, status=201, response=KycSessionResponse,
        refusals={
            400: "the body is not valid", 503: "no provider is set up: KYC_PROVIDER_UNAVAILABLE",
            409: "basic information is missing: KYC_BASIC_INFO_REQUIRED, or the verification is decided already",
        },
        summary="Start the provider's check, for the level verified",
    )  # fmt: skip
    async def start_kyc(request: Request, body: StartBody) -> Response:
        session = await kyc.start(caller(request).user_id, body)
        return json_response(session.model_dump(by_alias=True), 201)

    @router.post(
        "/webhook", _WEBHOOK, response=KycEventResponse,
        refusals={400: "the body is not valid", 401: "X-Payload-Digest is missing or wrong: SIGNATURE_INVALID"},
        summary="Takes the provider's events, signed in X-Payload-Digest: hex HMAC-SHA256 of the raw body",
        fast_path=_take_directly(kyc),
    )  # fmt: skip
    async def take_kyc_event(request: Request, body: KycEventBody) -> Response:
        # The fast path checks the signature before it parses the body. This handler documents the route.
        context = context_of(request)
        kyc.check_signature(context.body, context.header(DIGEST_HEADER))
        return json_response({"received": True, "applied": await kyc.take_event(body)})

    return router


def _take_directly(kyc: KycService) -> FastPathHandler:
    async def take(context: RequestContext) -> FastPathResponse:
        kyc.check_signature(context.body, context.header(DIGEST_HEADER))
        value = read_json(context.body)
        try:
            event = KycEventBody.model_validate(value)
        except ValidationError as error:
            raise validation_error(messages_of(error.errors())) from None
        return FastPathResponse(200, encode_json({"received": True, "applied": await kyc.take_event(event)}))

    return take
