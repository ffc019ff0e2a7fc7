"""Bodies of proofs of reserves. Amounts are plain decimals of 0 or more; hashes are SHA-256 in hexadecimal."""

from openspot.contracts.messages.message import DecimalText, TimeText
from openspot.http.validation import ResponseBody


class ReserveAssetResponse(ResponseBody):
    """What is owed to all users of an asset, and what custody said that it holds of it."""

    asset: str
    liabilities: DecimalText
    reserves: DecimalText


class ReserveStatementResponse(ResponseBody):
    """What a proof states: balances right after event `sequence` of the engine's journal `epoch`.

    `digest` is the SHA-256 of the statement's lines (docs/guides/proof-of-reserves.md); `previous` is that of the proof
    before it. The tree has 2^`depth` leaves, and its root `rootHash` commits to the liabilities.
    """

    format: str
    id: str
    taken_at: TimeText
    epoch: str
    sequence: int
    depth: int
    root_hash: str
    previous: str | None
    assets: list[ReserveAssetResponse]
    digest: str


class ReserveNodeResponse(ResponseBody):
    """A node beside the way to the root: its hash, and its sums in the order of the statement's assets."""

    hash: str
    sums: list[DecimalText]


class ReserveLeafResponse(ResponseBody):
    """A leaf of the user. `path` begins beside the leaf; bit 0 of `position` says whether that is on the left."""

    position: int
    nonce: str
    balances: list[DecimalText]
    path: list[ReserveNodeResponse]


class ReserveProofResponse(ResponseBody):
    """A user's own part of a proof. Without `leaves` the user was owed nothing then."""

    statement: ReserveStatementResponse
    user_id: str
    leaves: list[ReserveLeafResponse]
