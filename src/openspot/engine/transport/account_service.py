"""exchange.v1.AccountService (facts B4.4-25, B4.4-26): deposits, withdrawals and balances."""

import asyncio
from collections.abc import Callable
from typing import NamedTuple, TypeVar

from openspot.contracts.gen.exchange.v1 import accounts_pb2 as pb
from openspot.contracts.gen.exchange.v1 import accounts_pb2_grpc
from openspot.domain.money import amount_to_text
from openspot.domain.result_code import ResultCode
from openspot.engine.core.records import CommandKind, decode_results
from openspot.engine.engine import Engine
from openspot.engine.intake.refusal import IntakeRefusal
from openspot.engine.intake.sequencer import CommandOutcome, EngineStoppedError
from openspot.engine.intake.transfers import TRANSFER_REFUSALS
from openspot.engine.transport.balance_views import balance_views
from openspot.engine.transport.order_service import Context, abort_stopped

Response = TypeVar("Response", pb.DepositResponse, pb.WithdrawResponse, pb.ReserveWithdrawalResponse)


class MoneyResult(NamedTuple):
    """The result of a command that moves money. `balance` is the account's total afterwards, "0" if refused."""

    code: ResultCode
    balance: str
    sequence: int

    @property
    def success(self) -> bool:
        """Whether the money was moved."""
        return self.code is ResultCode.SUCCESS


def _accepted(outcome: CommandOutcome) -> int:
    return sum(result.code == ResultCode.SUCCESS for result in decode_results(outcome.results))


async def money_result(future: asyncio.Future[CommandOutcome]) -> MoneyResult:
    """Wait for the result of a command that moves money. Raises EngineStoppedError."""
    outcome = await future
    result = next(decode_results(outcome.results))
    sequence = outcome.events_before + result.events if result.events else 0
    return MoneyResult(ResultCode(result.code), amount_to_text(result.notional), sequence)


class AccountService(accounts_pb2_grpc.AccountServiceServicer):
    """Account operations. A refused request gets a response with its result code, never a gRPC error."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._intake = engine.money_intake

    async def Deposit(self, request: pb.DepositRequest, context: Context) -> pb.DepositResponse:  # noqa: N802
        """Credit an account and create it if it is missing. A repeated reference credits once."""
        return await self._move(CommandKind.DEPOSIT, request, context, pb.DepositResponse)

    async def Withdraw(self, request: pb.WithdrawRequest, context: Context) -> pb.WithdrawResponse:  # noqa: N802
        """Debit an account."""
        return await self._move(CommandKind.WITHDRAW, request, context, pb.WithdrawResponse)

    async def ReserveWithdrawal(  # noqa: N802
        self, request: pb.ReserveWithdrawalRequest, context: Context
    ) -> pb.ReserveWithdrawalResponse:
        """Hold funds for a withdrawal."""
        return await self._move(CommandKind.RESERVE, request, context, pb.ReserveWithdrawalResponse)

    async def ReleaseWithdrawal(  # noqa: N802
        self, request: pb.ReleaseWithdrawalRequest, context: Context
    ) -> pb.ReleaseWithdrawalResponse:
        """Release a held amount."""
        result = await _result(lambda: self._intake.end_reservation(CommandKind.RELEASE, request.reference), context)
        return pb.ReleaseWithdrawalResponse(success=result.success, result_code=result.code.name)

    async def CompleteWithdrawal(  # noqa: N802
        self, request: pb.CompleteWithdrawalRequest, context: Context
    ) -> pb.CompleteWithdrawalResponse:
        """Debit a held amount. If the request has an amount, it must equal what is held."""
        named = (request.reference, request.participant_id, request.currency, request.amount)
        result = await _result(lambda: self._intake.end_reservation(CommandKind.COMMIT, *named), context)
        return pb.CompleteWithdrawalResponse(success=result.success, result_code=result.code.name)

    async def Transfer(self, request: pb.TransferRequest, context: Context) -> pb.TransferResponse:  # noqa: N802
        """Carry out movements between accounts, all or none, once for the reference."""
        try:
            outcome = await self._intake.transfer(request.reference, request.kind, request.movements)
        except IntakeRefusal as refusal:
            return pb.TransferResponse(result_code=refusal.code.name, message=str(refusal))
        except EngineStoppedError as error:
            await abort_stopped(context, error)
        *_, result = decode_results(outcome.results)
        code = ResultCode(result.code)
        success = code is ResultCode.SUCCESS
        sequence = outcome.events_before + result.events if result.events else 0
        message = "" if success else TRANSFER_REFUSALS.get(code, code.name)
        return pb.TransferResponse(success=success, result_code=code.name, sequence=sequence, message=message)

    async def SetOwners(self, request: pb.SetOwnersRequest, context: Context) -> pb.SetOwnersResponse:  # noqa: N802
        """Let the links of the request, which are all that count, say which users are one owner."""
        try:
            changes = self._intake.set_owners(request.links)
            outcome = None if changes.future is None else await changes.future
        except IntakeRefusal as refusal:
            return pb.SetOwnersResponse(result_code=refusal.code.name, message=str(refusal))
        except EngineStoppedError as error:
            await abort_stopped(context, error)
        return pb.SetOwnersResponse(
            success=True,
            result_code=ResultCode.SUCCESS.name,
            changed=0 if outcome is None else _accepted(outcome),
            remaining=changes.remaining,
        )

    async def GetBalances(  # noqa: N802
        self, request: pb.GetBalancesRequest, context: Context
    ) -> pb.GetBalancesResponse:
        """The balances of one participant; empty for an unknown one."""
        views = balance_views(self._engine.machine, request.participant_id) if request.participant_id else []
        return pb.GetBalancesResponse(balances=[pb.Balance(**view._asdict()) for view in views])

    async def _move(
        self,
        kind: CommandKind,
        request: pb.DepositRequest | pb.WithdrawRequest | pb.ReserveWithdrawalRequest,
        context: Context,
        response: type[Response],
    ) -> Response:
        fields = (request.participant_id, request.currency, request.amount, request.reference)
        result = await _result(lambda: self._intake.change_balance(kind, *fields), context)
        return response(
            success=result.success, result_code=result.code.name, balance=result.balance, sequence=result.sequence
        )


async def _result(submit: Callable[[], asyncio.Future[CommandOutcome]], context: Context) -> MoneyResult:
    """Call `submit` and wait for the result; a refusal becomes a result with its code."""
    try:
        return await money_result(submit())
    except IntakeRefusal as refusal:
        return MoneyResult(refusal.code, "0", 0)
    except EngineStoppedError as error:
        await abort_stopped(context, error)
