"""The routes of the saved withdrawal addresses (fact B4.1-46)."""

from typing import Annotated

from fastapi import Path
from starlette.requests import Request
from starlette.responses import Response

from openspot.http.context import caller, context_of
from openspot.http.policy import Access, Policy, Scope
from openspot.http.responses import json_response
from openspot.http.routing import Router
from openspot.rest_edge.funds.addresses.schemas import (
    ADDRESS_ID_PATTERN,
    DeletedResponse,
    WithdrawalAddressBody,
    WithdrawalAddressResponse,
)
from openspot.rest_edge.funds.addresses.service import WithdrawalAddressService
from openspot.rest_edge.identity.activity.log import origin_of

AddressIdPath = Annotated[
    str, Path(alias="addressId", pattern=ADDRESS_ID_PATTERN, description="Id of the saved address")
]

_READ = Policy(Access.USER, Scope.READ)
# There is no scope: an API key must not choose where money goes.
_CHANGE = Policy(Access.USER, audit=True)
_ADD = Policy(Access.USER, audit=True, idempotency=True)


def withdrawal_address_routes(prefix: str, addresses: WithdrawalAddressService) -> Router:
    """The routes of `/users/me/withdrawal-addresses`, below `prefix`."""
    router = Router(f"{prefix}/users/me/withdrawal-addresses", tag="withdrawal addresses")

    @router.get(
        "", _READ, response=list[WithdrawalAddressResponse], summary="Your saved withdrawal addresses, oldest first"
    )
    async def list_withdrawal_addresses(request: Request) -> Response:
        saved = await addresses.all_of(caller(request).user_id)
        return json_response([address.model_dump(by_alias=True) for address in saved])

    @router.post(
        "", _ADD, status=201, response=WithdrawalAddressResponse,
        refusals={
            400: "the body is not valid, the address is not valid on its network, or a code is needed or wrong",
            409: "the address is saved already: ADDRESS_EXISTS, with its id; or there are too many",
            503: "custody does not respond",
        },
        summary="Save a withdrawal address",
    )  # fmt: skip
    async def add_withdrawal_address(request: Request, body: WithdrawalAddressBody) -> Response:
        asking = caller(request)
        saved = await addresses.add(asking.user_id, body, origin_of(context_of(request)), asking.session_id)
        return json_response(saved.model_dump(by_alias=True), 201)

    @router.delete(
        "/{addressId}", _CHANGE, response=DeletedResponse, refusals={404: "you have no such address"},
        summary="Delete a saved withdrawal address",
    )  # fmt: skip
    async def delete_withdrawal_address(request: Request, address_id: AddressIdPath) -> Response:
        await addresses.delete(caller(request).user_id, address_id, origin_of(context_of(request)))
        return json_response({"success": True})

    return router
