"""Routes for operators: the withdrawals that are not settled, and the decisions on them.

The operator's name in custody's chain is the participant id of a session with the engine, or `user:` and the id of a
user of the REST edge, in small letters. The operators' trail has the name that it has for every operator.
"""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from functools import partial
from typing import Annotated, Literal

from fastapi import Path
from pydantic import StringConstraints
from starlette.requests import Request
from starlette.responses import Response

from openspot.contracts.messages.message import DecimalText
from openspot.custody import withdrawal_store as store
from openspot.custody.bulk_decisions import (
    ApprovalReason,
    BulkApprovalBody,
    BulkDecisions,
    BulkRejectionBody,
    RejectionReason,
    decide_all,
)
from openspot.custody.deciding import Decider
from openspot.custody.progress import WithdrawalProgress
from openspot.custody.wallet_policy import RULES, Wallet, signers_of
from openspot.custody.withdrawal_states import WITHDRAWAL_ID_LENGTH_MAX, Status
from openspot.custody.withdrawal_store import Withdrawal
from openspot.custody.withdrawals import Withdrawals
from openspot.engine_client.operators import OperatorSessions
from openspot.http.context import context_of, operator
from openspot.http.policy import Access, Permission, Policy
from openspot.http.responses import json_response
from openspot.http.routing import Router
from openspot.http.validation import Body, ResponseBody, example
from openspot.kit.database import Pool, text_of

PREFIX = "/operator"
LISTED_MAX = 200
_ID_PATTERN = rf"^[A-Za-z0-9_-]{{1,{WITHDRAWAL_ID_LENGTH_MAX}}}$"
WithdrawalId = Annotated[str, Path(alias="id", pattern=_ID_PATTERN, description="Id of the withdrawal")]
_READ = Policy(Access.OPERATOR, permission=Permission.WITHDRAWALS_READ)
_APPROVE = Policy(Access.OPERATOR, permission=Permission.WITHDRAWALS_APPROVE, audit=True)
_REJECT = Policy(Access.OPERATOR, permission=Permission.WITHDRAWALS_REJECT, audit=True)
_SIGN = Policy(Access.OPERATOR, permission=Permission.WITHDRAWALS_SIGN, audit=True)
_APPROVE_ALL, _REJECT_ALL = replace(_APPROVE, idempotency=True), replace(_REJECT, idempotency=True)
_BAD = {400: "the body is not valid"}
_REFUSALS = {400: "the decision is refused, and why", 404: "there is no such withdrawal"}


class ApproveBody(Body):
    """Why the withdrawal is approved; the audit trail keeps it."""

    model_config = example({"reason": "the owner confirmed it by phone"})

    reason: ApprovalReason


class RejectBody(Body):
    """Why the withdrawal is rejected; the audit trail keeps it, and its owner sees it."""

    model_config = example({"reason": "not explained"})

    reason: RejectionReason


class SignBody(Body):
    """The signer whose key signs: one of the withdrawal's `signers`; and why, which the audit trail keeps."""

    model_config = example({"signer": "warm-1", "reason": "both approvals were looked at"})

    signer: Annotated[str, StringConstraints(pattern="^[a-z]{1,16}-[0-9]{1,2}$")]
    reason: ApprovalReason


class OperatorDecision(ResponseBody):
    """What an operator decided, and why. `operator` is the name in the operators' trail.

    `at` is in milliseconds since 1970.
    """

    operator: str
    decision: Literal["approved", "signed", "rejected"]
    reason: str
    at: int


class OpenWithdrawal(ResponseBody):
    """A withdrawal that is not settled, and what it waits for.

    `valueUsd` is its value at its creation. `approvals` are the operators who approved it, `signatures` the
    `signers` who signed. `assignee` is the operator who is asked to decide, null if nobody is; others may decide all
    the same. `decisions` are those of operators, with their reasons, the oldest first. `createdAt` is in milliseconds
    since 1970.
    """

    id: str
    user_id: str
    asset: str
    network: str
    amount: DecimalText
    fee: DecimalText
    net_amount: DecimalText
    address: str
    tag: str | None
    wallet: Wallet
    value_usd: DecimalText
    status: Status
    reason: str | None
    approvals: list[str]
    approvals_needed: int
    signers: list[str]
    signatures: list[str]
    signatures_needed: int
    confirmations: int
    confirmations_needed: int
    assignee: str | None
    decisions: list[OperatorDecision]
    created_at: int


class OpenWithdrawals(ResponseBody):
    """The oldest come first. `complete` is false if there are more than are listed."""

    withdrawals: list[OpenWithdrawal]
    complete: bool


def operator_routes(
    pool: Pool, withdrawals: Withdrawals, progress: WithdrawalProgress, seed: bytes, sessions: OperatorSessions
) -> Router:
    """The routes of `/operator/withdrawals`. `seed` makes the signatures of the wallets' signers.

    `sessions` says before each decision of several whether the operator still may make it.
    """
    router = Router(f"{PREFIX}/withdrawals", tag="withdrawals")

    def still(request: Request, permission: Permission) -> Callable[[], Awaitable[None]]:
        return partial(sessions.require, context_of(request), permission)

    async def described(found: list[Withdrawal]) -> list[OpenWithdrawal]:
        ids = [withdrawal.withdrawal_id for withdrawal in found]
        approvals, signatures = await store.approvers_of_all(pool, ids), await store.signers_of_all(pool, ids)
        assignees, decisions = (
            await store.assignees_of_all(pool, ids),
            await store.operator_decisions_of_all(pool, ids),
        )
        return [
            _row(
                each,
                approvals.get(each.withdrawal_id, []),
                signatures.get(each.withdrawal_id, []),
                assignees.get(each.withdrawal_id),
                decisions.get(each.withdrawal_id, []),
            )
            for each in found
        ]

    async def decided(withdrawal: Withdrawal) -> Response:
        progress.wake()
        (row,) = await described([withdrawal])
        return json_response(row.model_dump(by_alias=True))

    def all_decided(decisions: BulkDecisions) -> Response:
        progress.wake()
        return json_response(decisions.model_dump(by_alias=True))

    @router.get("", _READ, response=OpenWithdrawals, summary="The withdrawals that are not settled, the oldest first")
    async def list_open_withdrawals() -> Response:
        found = await store.list_open(pool, LISTED_MAX + 1)
        rows = await described(found[:LISTED_MAX])
        shown = OpenWithdrawals(withdrawals=rows, complete=len(found) <= LISTED_MAX)
        return json_response(shown.model_dump(by_alias=True))

    @router.post(
        "/{id}/approvals", _APPROVE, response=OpenWithdrawal, refusals=_REFUSALS, summary="Approve a withdrawal"
    )  # fmt: skip
    async def approve_withdrawal(request: Request, withdrawal_id: WithdrawalId, body: ApproveBody) -> Response:
        by = _decider(request, body.reason)
        return await decided(await withdrawals.approve(withdrawal_id, _operator(request), by))

    @router.post(
        "/{id}/rejection", _REJECT, response=OpenWithdrawal, refusals=_REFUSALS,
        summary="Reject a withdrawal that is not being sent yet; its funds are released",
    )  # fmt: skip
    async def reject_withdrawal(request: Request, withdrawal_id: WithdrawalId, body: RejectBody) -> Response:
        by = _decider(request, body.reason)
        return await decided(await withdrawals.reject(withdrawal_id, _operator(request), by))

    @router.post(
        "/{id}/signatures", _SIGN, response=OpenWithdrawal, refusals=_REFUSALS,
        summary="Sign a withdrawal with the key of one of its signers, which the simulator holds",
    )  # fmt: skip
    async def sign_withdrawal(request: Request, withdrawal_id: WithdrawalId, body: SignBody) -> Response:
        by = _decider(request, body.reason)
        return await decided(await withdrawals.sign(withdrawal_id, body.signer, seed, by, operator=_operator(request)))

    @router.post(
        "/bulk-approvals", _APPROVE_ALL, response=BulkDecisions, refusals=_BAD, summary="Approve several withdrawals"
    )  # fmt: skip
    async def approve_withdrawals(request: Request, body: BulkApprovalBody) -> Response:
        name, by, is_rehearsal = _operator(request), _decider(request, body.reason), body.dry_run

        async def approve(withdrawal_id: str) -> None:
            await withdrawals.approve(withdrawal_id, name, by, is_rehearsal=is_rehearsal)

        return all_decided(
            await decide_all(
                body.ids, approve, still(request, Permission.WITHDRAWALS_APPROVE), is_rehearsal=is_rehearsal
            )
        )

    @router.post(
        "/bulk-rejections", _REJECT_ALL, response=BulkDecisions, refusals=_BAD, summary="Reject several withdrawals"
    )  # fmt: skip
    async def reject_withdrawals(request: Request, body: BulkRejectionBody) -> Response:
        name, by, is_rehearsal = _operator(request), _decider(request, body.reason), body.dry_run

        async def reject(withdrawal_id: str) -> None:
            await withdrawals.reject(withdrawal_id, name, by, is_rehearsal=is_rehearsal)

        return all_decided(
            await decide_all(body.ids, reject, still(request, Permission.WITHDRAWALS_REJECT), is_rehearsal=is_rehearsal)
        )

    return router


def _operator(request: Request) -> str:
    """The caller's name in custody's chain. Small letters, so that no two spellings approve as two people."""
    return operator(request).name.removeprefix("engine:").lower()


def _decider(request: Request, reason: str) -> Decider:
    context = context_of(request)
    return Decider(operator(request).name, reason, context.request_id, context.address)


def _row(
    withdrawal: Withdrawal,
    approvals: list[str],
    signatures: list[str],
    assignee: str | None,
    decisions: list[store.OperatorDecision],
) -> OpenWithdrawal:
    cents = withdrawal.value_cents
    return OpenWithdrawal(
        id=withdrawal.withdrawal_id,
        user_id=withdrawal.user_id,
        asset=withdrawal.asset,
        network=withdrawal.network,
        amount=text_of(withdrawal.amount),
        fee=text_of(withdrawal.fee),
        net_amount=text_of(withdrawal.net_amount),
        address=withdrawal.address,
        tag=withdrawal.tag,
        wallet=withdrawal.wallet,
        value_usd=f"{cents // 100}.{cents % 100:02d}",
        status=withdrawal.status,
        reason=withdrawal.reason,
        approvals=approvals,
        approvals_needed=withdrawal.approvals_needed,
        signers=list(signers_of(withdrawal.wallet)),
        signatures=signatures,
        signatures_needed=RULES[withdrawal.wallet].signatures,
        confirmations=withdrawal.confirmations,
        confirmations_needed=withdrawal.required_confirmations,
        assignee=assignee,
        decisions=[
            OperatorDecision(operator=each.operator, decision=each.decision, reason=each.reason, at=each.at_ms)
            for each in decisions
        ],
        created_at=int(withdrawal.created_at.timestamp() * 1000),
    )
