"""The table `house_flows`: money of the house that came from outside or went there."""

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any, NamedTuple, Self

from openspot.domain.ids import EXTERNAL_ACCOUNT_ID
from openspot.domain.transfer import Movement
from openspot.kit.database import Connection
from openspot.rest_edge.operators.moves.rules import given_or_taken
from openspot.rest_edge.operators.moves.table import MoveTable
from openspot.rest_edge.operators.newest import equal_to
from openspot.rest_edge.operators.pending.rules import ActionKind, OperatorRequest
from openspot.rest_edge.operators.spans import Span
from openspot.rest_edge.operators.treasury.rules import FlowCategory


@dataclass(frozen=True, slots=True)
class HouseFlow:
    """What a move is as a flow. Its amount is what came in; below 0 what went out."""

    account: str
    category: FlowCategory
    reference: str

    @classmethod
    def of_row(cls, row: Any) -> Self:
        """From a row of the table."""
        return cls(row["account"], FlowCategory(row["category"]), row["reference"])

    @classmethod
    def of_request(cls, request: OperatorRequest) -> Self:
        """From a request for a flow."""
        return cls(request.user_id, FlowCategory(request.detail["category"]), request.detail["reference"])

    @property
    def subject(self) -> str:
        """The account of the house."""
        return self.account

    def detail(self) -> dict[str, str]:
        """What request and trail keep beside the account."""
        return {"category": self.category.value, "reference": self.reference}

    def movement(self, asset: str, amount: Decimal) -> Movement:
        """With the outside world on one side."""
        return given_or_taken(EXTERNAL_ACCOUNT_ID, self.account, asset, amount)


FLOWS = MoveTable(HouseFlow, table="house_flows", key="flow_id")


class FlowFilter(NamedTuple):
    """The filter of a list; None filters nothing."""

    account: str | None = None
    category: str | None = None
    span: Span = Span()

    def conditions(self, values: list[Any]) -> list[str]:
        """The conditions of SQL. Their values are added to `values`, which are numbered from 1."""
        wanted = {"account": self.account, "category": self.category}
        return equal_to(wanted, values) + self.span.conditions("created_at", values)


class KnownReference(NamedTuple):
    """What has an external reference already: its id, and what it is in words."""

    id: str
    text: str


async def lock_reference(connection: Connection, reference: str) -> None:
    """Let nobody else record something under this reference until the transaction ends, nor `openspot deposit` it."""
    await connection.execute(
        "SELECT pg_advisory_xact_lock(hashtextextended($1, 0))", f"openspot-house-flow:{reference.lower()}"
    )


async def known(connection: Connection, reference: str, now: datetime, *, except_request: str) -> KnownReference | None:
    """What has this reference already, in capital or small letters: a flow, a request that waits, or a deposit.

    A deposit is found as the reference is written, and all in small or all in capital letters; also one that custody
    has seen, and that is credited later.
    """
    flow = await connection.fetchrow(
        "SELECT flow_id, account, asset, amount FROM house_flows"
        " WHERE lower(reference) = lower($1) AND status <> 'refused'",
        reference,
    )
    if flow is not None:
        return KnownReference(flow["flow_id"], f"{flow['amount']:f} {flow['asset']} of {flow['account']}")
    waiting = await connection.fetchrow(
        "SELECT request_id, user_id FROM operator_requests WHERE status = 'waiting' AND kind = $2"
        " AND lower(detail ->> 'reference') = lower($1) AND expires_at > $3 AND request_id <> $4 LIMIT 1",
        reference,
        ActionKind.HOUSE_FLOW.value,
        now,
        except_request,
    )
    if waiting is not None:
        return KnownReference(waiting["request_id"], f"a request for {waiting['user_id']} that waits")
    entry = await connection.fetchrow(
        "SELECT transaction_id, user_id, asset, amount FROM ledger_entries WHERE transaction_id = ANY($1::text[])"
        " UNION ALL"
        " SELECT tx_hash, user_id, asset, amount FROM custody_deposits WHERE tx_hash = ANY($1::text[]) LIMIT 1",
        [reference, reference.lower(), reference.upper()],
    )
    if entry is None:
        return None
    amount = f"{entry['amount'].normalize():f} {entry['asset']}"
    return KnownReference(entry["transaction_id"], f"{amount} of {entry['user_id']}")
