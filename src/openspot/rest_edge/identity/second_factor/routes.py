"""The routes of the second factor: `/users/me/mfa` (facts B4.1-41 to B4.1-44)."""

from starlette.requests import Request
from starlette.responses import Response

from openspot.http.context import caller, context_of
from openspot.http.policy import Access, Policy
from openspot.http.responses import json_response
from openspot.http.routing import Router
from openspot.kit.clock import iso_of
from openspot.rest_edge.common.schemas import DoneResponse
from openspot.rest_edge.identity.activity.log import origin_of
from openspot.rest_edge.identity.second_factor.schemas import (
    MfaCodeBody,
    MfaDisableBody,
    MfaSetupBody,
    MfaSetupResponse,
    MfaStatusResponse,
    MfaVerifiedResponse,
    RecoveryCodesResponse,
)
from openspot.rest_edge.identity.second_factor.service import MfaService

_READ = Policy(Access.USER)
_CHANGE = Policy(Access.USER, audit=True)
"""There is no scope: an API key must not touch the factor that protects its user."""

_WRONG_CODE = {400: "the code is wrong, expired or was used before", 429: "too many requests, or too many wrong codes"}


def mfa_routes(prefix: str, mfa: MfaService) -> Router:
    """The routes of `/users/me/mfa`, below `prefix`."""
    router = Router(f"{prefix}/users/me/mfa", tag="users")

    @router.get("", _READ, response=MfaStatusResponse, summary="Whether you have MFA")
    async def get_mfa(request: Request) -> Response:
        status = await mfa.status(caller(request).user_id)
        enabled_at = None if status.enabled_at is None else iso_of(status.enabled_at)
        response = MfaStatusResponse(
            enabled=enabled_at is not None, enabled_at=enabled_at, recovery_codes_left=status.recovery_codes_left
        )
        return json_response(response.model_dump(by_alias=True))

    @router.post(
        "/setup", _CHANGE, response=MfaSetupResponse,
        refusals={
            400: "the password is wrong", 404: "the user does not exist any more", 409: "MFA is enabled already",
            429: "too many requests, or too many wrong passwords",
        },
        summary="Make a TOTP secret, which counts once you enable it",
    )  # fmt: skip
    async def set_up_mfa(request: Request, body: MfaSetupBody) -> Response:
        setup = await mfa.set_up(caller(request).user_id, body.password)
        response = MfaSetupResponse(secret=setup.secret, otpauth_uri=setup.otpauth_uri, qr_svg=setup.qr_svg)
        return json_response(response.model_dump(by_alias=True))

    @router.post(
        "/enable", _CHANGE, response=RecoveryCodesResponse,
        refusals=_WRONG_CODE | {409: "MFA is not set up, or enabled already"},
        summary="Enable MFA with a first code, and get recovery codes",
    )  # fmt: skip
    async def enable_mfa(request: Request, body: MfaCodeBody) -> Response:
        codes = await mfa.enable(caller(request).user_id, body.code, origin_of(context_of(request)))
        return json_response({"recoveryCodes": codes})

    @router.post(
        "/verify", _CHANGE, response=MfaVerifiedResponse, refusals=_WRONG_CODE | {409: "MFA is not enabled"},
        summary="Check a code, which it uses up",
    )  # fmt: skip
    async def verify_mfa(request: Request, body: MfaCodeBody) -> Response:
        await mfa.verify(caller(request).user_id, body.code, origin_of(context_of(request)))
        return json_response({"verified": True})

    @router.post(
        "/disable", _CHANGE, response=DoneResponse,
        refusals=_WRONG_CODE | {400: "the password or the code is wrong", 409: "MFA is not enabled"},
        summary="Disable MFA, with password and code",
    )  # fmt: skip
    async def disable_mfa(request: Request, body: MfaDisableBody) -> Response:
        origin = origin_of(context_of(request))
        await mfa.disable(caller(request).user_id, body.password, body.code, origin)
        return json_response({"success": True})

    @router.post(
        "/recovery-codes", _CHANGE, response=RecoveryCodesResponse, refusals=_WRONG_CODE | {409: "MFA is not enabled"},
        summary="Replace your recovery codes",
    )  # fmt: skip
    async def renew_recovery_codes(request: Request, body: MfaCodeBody) -> Response:
        codes = await mfa.renew_recovery_codes(caller(request).user_id, body.code, origin_of(context_of(request)))
        return json_response({"recoveryCodes": codes})

    return router
