"""The routes of proofs of reserves: `/reserves`."""

from typing import Annotated

from fastapi import Path
from starlette.requests import Request
from starlette.responses import Response

from openspot.http.context import caller
from openspot.http.policy import PUBLIC, Access, Policy, Scope
from openspot.http.responses import body_of, json_response, respond
from openspot.http.routing import Router
from openspot.rest_edge.funds.reserves.schemas import ReserveProofResponse, ReserveStatementResponse
from openspot.rest_edge.funds.reserves.service import ReserveService

ProofPath = Annotated[str, Path(alias="proofId", pattern="^[A-Za-z0-9]{1,32}$", description="Id of the proof")]

_READ = Policy(Access.USER, Scope.READ)


def reserve_routes(prefix: str, reserves: ReserveService) -> Router:
    """`/reserves`, below `prefix`."""
    router = Router(f"{prefix}/reserves", tag="reserves")

    @router.get(
        "", PUBLIC, response=list[ReserveStatementResponse],
        summary="What the exchange has proved that it owes, newest first",
    )  # fmt: skip
    async def list_reserve_statements() -> Response:
        return json_response([body_of(each) for each in await reserves.statements()])

    @router.get(
        "/{proofId}/own", _READ, response=ReserveProofResponse,
        refusals={404: "there is no such proof, or it is not kept any more: PROOF_NOT_FOUND"},
        summary="Your leaves of a proof, and their ways to its root",
    )  # fmt: skip
    async def get_own_reserve_proof(request: Request, proof_id: ProofPath) -> Response:
        return respond(await reserves.own(proof_id, caller(request).user_id))

    return router
