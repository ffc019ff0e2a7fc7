"""The routes of deposits and withdrawals (facts B4.1-15 to B4.1-17 and B4.1-20)."""

from datetime import datetime
from typing import Annotated

from fastapi import Path, Query
from starlette.requests import Request
from starlette.responses import Response

from openspot.contracts.messages import WithdrawalRecord
from openspot.contracts.messages.custody import WithdrawalStatus
from openspot.http.context import caller, context_of, operation_of
from openspot.http.lists import (
    LIMIT_DEFAULT,
    NEXT_CURSOR_HEADER,
    Cursor,
    Limit,
    decode_cursor,
    encode_cursor,
    unknown_cursor,
    utc_of_cursor,
)
from openspot.http.policy import Access, Policy, Scope
from openspot.http.responses import json_response, page_response
from openspot.http.routing import Router
from openspot.http.validation import Currency
from openspot.rest_edge.funds.withdrawals.schemas import (
    CryptoWithdrawalBody,
    Deposit,
    DepositAddressResponse,
    DepositFiatInfo,
    FiatWithdrawalBody,
)
from openspot.rest_edge.funds.withdrawals.service import WithdrawalService
from openspot.rest_edge.funds.withdrawals.store import DepositPosition, WithdrawalFilter, WithdrawalPosition

WITHDRAWAL_ID_PATTERN = r"^[A-Za-z0-9_-]{1,64}$"

WithdrawalIdPath = Annotated[
    str, Path(alias="withdrawalId", pattern=WITHDRAWAL_ID_PATTERN, description="Id of the withdrawal")
]
AssetQuery = Annotated[Currency, Query(description="The asset to deposit")]
OptionalAssetQuery = Annotated[Currency | None, Query(description="Only those of this asset")]
NetworkQuery = Annotated[
    str | None,
    Query(
        pattern=r"^[a-z][a-z0-9-]{1,31}$",
        description="The network; needed if the asset has several",
        examples=["bitcoin"],
    ),
]
StatusQuery = Annotated[WithdrawalStatus | None, Query(description="Only withdrawals in this state")]

_READ = Policy(Access.USER, Scope.READ)
_WITHDRAW = Policy(Access.USER, Scope.WITHDRAW, audit=True, idempotency=True)
_CANCEL = Policy(Access.USER, Scope.WITHDRAW, audit=True)
_REFUSALS = {
    400: "the body is not valid, the balance is too low: RISK_NSF, a limit is exceeded: USER_DAILY_LIMIT, "
    "WITHDRAWAL_TOO_LARGE, or a code is needed or wrong",
    403: "the level of verification is too low: KYC_REQUIRED, or the address still waits: ADDRESS_NOT_AVAILABLE",
    404: "you have no such saved address",
    409: "clientWithdrawalId was used for another withdrawal: REFERENCE_USED, feeQuoteId does not hold, or operators "
    "have paused the withdrawals of the asset over the network: WITHDRAWALS_PAUSED",
    503: "custody does not respond, its limit of 24 hours is reached: WALLET_DAILY_LIMIT, or PRICE_UNKNOWN",
    504: "nobody knows yet what became of it: WITHDRAWAL_STATUS_UNKNOWN, with its id in `details`",
}


def _position(cursor: str | None) -> WithdrawalPosition | None:
    if cursor is None:
        return None
    created_at, withdrawal_id = decode_cursor(cursor, tuple[datetime, str])
    if "\x00" in withdrawal_id:
        raise unknown_cursor()
    return WithdrawalPosition(utc_of_cursor(created_at), withdrawal_id)


def withdrawal_routes(prefix: str, withdrawals: WithdrawalService) -> Router:
    """The routes of deposits and withdrawals below `prefix`/accounts."""
    router = Router(f"{prefix}/accounts", tag="accounts")

    @router.get(
        "/deposit-address", _READ, response=DepositAddressResponse,
        refusals={
            400: "a parameter is not valid", 404: "the asset has no deposit addresses",
            409: "deposits are paused, and you have no address yet: DEPOSITS_PAUSED", 503: "custody does not respond",
        },
        summary="Your deposit address of an asset, assigned at the first request",
    )  # fmt: skip
    async def get_deposit_address(request: Request, asset: AssetQuery, network: NetworkQuery = None) -> Response:
        found = await withdrawals.deposit_address(caller(request).user_id, asset, network)
        response = DepositAddressResponse(
            asset=found.asset, network=found.network, address=found.address, tag=found.tag,
            confirmations=found.confirmations, minimum=found.minimum, simulated=found.simulated,
            deposits_enabled=found.deposits_enabled,
        )  # fmt: skip
        return json_response(response.model_dump(by_alias=True))

    @router.get(
        "/deposit-fiat-info", _READ, response=DepositFiatInfo,
        refusals={400: "a parameter is not valid", 404: "the currency takes no bank transfers"},
        summary="Where to send a bank transfer",
    )  # fmt: skip
    async def get_deposit_fiat_info(request: Request, currency: AssetQuery) -> Response:
        found = withdrawals.deposit_fiat_info(caller(request).user_id, currency)
        return json_response(found.model_dump(by_alias=True))

    @router.post(
        "/withdraw/crypto", _WITHDRAW, status=201, response=WithdrawalRecord, refusals=_REFUSALS,
        summary="Withdraw to a saved address",
    )  # fmt: skip
    async def withdraw_crypto(request: Request, body: CryptoWithdrawalBody) -> Response:
        operation = operation_of(context_of(request))
        created = await withdrawals.withdraw(
            caller(request).user_id, operation, body.address_id, body.asset, body.network, body.amount, is_fiat=False,
            code=body.mfa_code, fee_quote_id=body.fee_quote_id, client_withdrawal_id=body.client_withdrawal_id,
        )  # fmt: skip
        return json_response(created, 201)

    @router.post(
        "/withdraw/fiat", _WITHDRAW, status=201, response=WithdrawalRecord, refusals=_REFUSALS,
        summary="Withdraw to a saved bank account",
    )  # fmt: skip
    async def withdraw_fiat(request: Request, body: FiatWithdrawalBody) -> Response:
        operation = operation_of(context_of(request))
        created = await withdrawals.withdraw(
            caller(request).user_id, operation, body.bank_account_id, body.currency, None, body.amount, is_fiat=True,
            code=body.mfa_code, client_withdrawal_id=body.client_withdrawal_id,
        )  # fmt: skip
        return json_response(created, 201)

    @router.get(
        "/deposits", _READ, response=list[Deposit], headers=NEXT_CURSOR_HEADER,
        refusals={400: "a parameter is not valid"}, summary="Your deposits, newest first",
    )  # fmt: skip
    async def list_deposits(
        request: Request, asset: OptionalAssetQuery = None, limit: Limit = LIMIT_DEFAULT, cursor: Cursor = None
    ) -> Response:
        position = _position(cursor)
        after = None if position is None else DepositPosition(*position)
        page, following = await withdrawals.deposits(caller(request).user_id, asset, limit, after)
        return page_response(
            page, encode_cursor([following.created_at.isoformat(), following.tx_hash]) if following else None
        )

    @router.get(
        "/withdrawals", _READ, response=list[WithdrawalRecord], headers=NEXT_CURSOR_HEADER,
        refusals={400: "a parameter is not valid"}, summary="Your withdrawals, newest first",
    )  # fmt: skip
    async def list_withdrawals(
        request: Request,
        asset: OptionalAssetQuery = None,
        status: StatusQuery = None,
        limit: Limit = LIMIT_DEFAULT,
        cursor: Cursor = None,
    ) -> Response:
        page, following = await withdrawals.page(
            caller(request).user_id, WithdrawalFilter(asset, status), limit, _position(cursor)
        )
        next_cursor = encode_cursor([following.created_at.isoformat(), following.withdrawal_id]) if following else None
        return page_response(page, next_cursor)

    @router.get(
        "/withdrawals/{withdrawalId}", _READ, response=WithdrawalRecord,
        refusals={404: "you have no such withdrawal"}, summary="One withdrawal",
    )  # fmt: skip
    async def get_withdrawal(request: Request, withdrawal_id: WithdrawalIdPath) -> Response:
        return json_response(await withdrawals.get(caller(request).user_id, withdrawal_id))

    @router.delete(
        "/withdrawals/{withdrawalId}", _CANCEL, response=WithdrawalRecord,
        refusals={
            404: "you have no such withdrawal", 409: "it is approved already, or has ended: NOT_CANCELLABLE",
            503: "custody does not respond", 504: "nobody knows yet whether it is cancelled",
        },
        summary="Cancel a withdrawal that is not approved yet",
    )  # fmt: skip
    async def cancel_withdrawal(request: Request, withdrawal_id: WithdrawalIdPath) -> Response:
        return json_response(await withdrawals.cancel(caller(request).user_id, withdrawal_id))

    return router
