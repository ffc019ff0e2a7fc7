"""Proofs of reserves: the statements for everybody, and a user's leaves with their paths."""

from openspot.domain.money import amount_to_text
from openspot.domain.reserves import unpacked
from openspot.http.errors import HttpError
from openspot.rest_edge.funds.reserves.schemas import (
    ReserveLeafResponse,
    ReserveNodeResponse,
    ReserveProofResponse,
    ReserveStatementResponse,
)
from openspot.rest_edge.funds.reserves.store import OwnLeaf, ReserveStore


class ReserveService:
    """What users see of the proofs."""

    def __init__(self, store: ReserveStore) -> None:
        self._store = store

    async def statements(self) -> list[ReserveStatementResponse]:
        """What the newest proofs state, newest first."""
        return [ReserveStatementResponse.model_validate_json(text) for text in await self._store.statements()]

    async def own(self, proof_id: str, user_id: str) -> ReserveProofResponse:
        """The user's part of a proof. Raises HttpError (404) if there is no such proof."""
        found = await self._store.own(proof_id, user_id)
        if found is None:
            raise HttpError(404, "there is no such proof, or it is not kept any more", "PROOF_NOT_FOUND")
        return ReserveProofResponse(
            statement=ReserveStatementResponse.model_validate_json(found.statement),
            user_id=user_id,
            leaves=[_leaf(each, found.width) for each in found.leaves],
        )


def _leaf(leaf: OwnLeaf, width: int) -> ReserveLeafResponse:
    return ReserveLeafResponse(
        position=leaf.position,
        nonce=leaf.nonce.hex(),
        balances=[amount_to_text(leaf.amounts.get(asset, 0)) for asset in range(width)],
        path=[
            ReserveNodeResponse(
                hash=node.hash.hex(), sums=[amount_to_text(each) for each in unpacked(node.sums, width)]
            )
            for node in leaf.path
        ],
    )
