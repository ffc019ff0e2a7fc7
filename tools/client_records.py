"""Write the records of the client from the OpenAPI document of the REST edge, or check that they are up to date.

    .venv/bin/python tools/client_records.py [--check]

A decimal is a `Decimal` in a record and a time a `datetime`, as the `format` of the property says; an enumeration is a
text, because a newer platform may have more values. The description of the shape is the docstring.
"""

import json
import re
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
DOCUMENT = ROOT / "docs/protocol/openapi/rest-edge.json"
TARGET = ROOT / "src/openspot/client/gen/records.py"

RECORDS = {
    # Orders, the ledger, markets and margin
    "OrderFill": "OrderFill",
    "OrderRecord": "Order",
    "OrderList": "OrderList",
    "OrderTrigger": "OrderTrigger",
    "OwnTrade": "OwnTrade",
    "BatchRefusal": "BatchRefusal",
    "BatchEntry": "BatchEntry",
    "Replacement": "Replacement",
    "CancelFailure": "CancelFailure",
    "BulkCancel": "BulkCancel",
    "CancelTimer": "CancelTimer",
    "Balance": "Balance",
    "LedgerHistoryEntry": "Transaction",
    "Deposit": "Deposit",
    "WithdrawalRecord": "Withdrawal",
    "StatusAt": "ScheduledStatus",
    "Market": "Market",
    "OrderBook": "OrderBook",
    "MarketTrade": "MarketTrade",
    "AggregateTrade": "AggregateTrade",
    "Candle": "Candle",
    "Ticker": "Ticker",
    "AssetFairPrice": "AssetPrice",
    "MarketFairPrice": "FairPrice",
    "MarginBalance": "MarginBalance",
    "MarginPosition": "MarginPosition",
    "MarginLoan": "MarginLoan",
    "MarginPrice": "MarginPrice",
    "MarginAccount": "MarginAccount",
    "MarginResult": "MarginResult",
    "PriceAlert": "PriceAlert",
    "Watchlist": "Watchlist",
    "DrawingPoint": "DrawingPoint",
    "Drawing": "Drawing",
    "Drawings": "Drawings",
    "DrawnMarket": "DrawnMarket",
    "LayoutChart": "LayoutChart",
    "LayoutPanel": "LayoutPanel",
    "ScreenLayout": "ScreenLayout",
    # Fees
    "EstimateResponse": "OrderEstimate",
    "TierResponse": "FeeTier",
    "TokenHolderResponse": "TokenHolderFees",
    "TradingFeesResponse": "TradingFees",
    "NetworkFeeResponse": "NetworkFee",
    "NetworkFeeQuoteResponse": "NetworkFeeQuote",
    "PaymentFeeResponse": "PaymentFee",
    # Proofs of reserves
    "ReserveAssetResponse": "ReserveAsset",
    "ReserveStatementResponse": "ReserveStatement",
    "ReserveNodeResponse": "ReserveNode",
    "ReserveLeafResponse": "ReserveLeaf",
    "ReserveProofResponse": "ReserveProof",
    # Conversions
    "PairResponse": "ConversionPair",
    "QuoteResponse": "ConversionQuote",
    "ConversionResponse": "Conversion",
    # Staking
    "ProductResponse": "StakingProduct",
    "StakingBalanceResponse": "Stake",
    "UnstakeResponse": "Unstake",
    "StakingEventResponse": "StakingEvent",
    # Payments
    "PaymentRouteResponse": "PaymentRoute",
    "PaymentSessionResponse": "PaymentSession",
    "PaymentResponse": "Payment",
    # Deposits, addresses and the portfolio
    "DepositAddressResponse": "DepositAddress",
    "DepositFiatInfo": "BankDetails",
    "Beneficiary": "Beneficiary",
    "WithdrawalAddressResponse": "WithdrawalAddress",
    "HoldingResponse": "Holding",
    "PortfolioPointResponse": "PortfolioPoint",
    "PortfolioFlowsResponse": "PortfolioFlows",
    "PortfolioMovementResponse": "PortfolioMovement",
    "PortfolioReturnResponse": "PortfolioReturn",
    # The user's account, settings, API keys and verification
    "ProfileResponse": "Profile",
    "ActivityResponse": "Activity",
    "NotificationResponse": "ToldNotification",
    "UserSessionResponse": "LoginSession",
    "MfaStatusResponse": "MfaStatus",
    "MfaSetupResponse": "MfaSecret",
    "NotificationPreferenceResponse": "NotificationSetting",
    "PushSubscription": "PushSubscription",
    "PushKey": "PushKey",
    "ApiKeyResponse": "ApiKey",
    "ApiKeySecretResponse": "ApiKeySecret",
    "CheckInResponse": "CheckIn",
    "KycStatusResponse": "KycStatus",
    "KycSessionResponse": "KycSession",
    "KycDocumentResponse": "KycDocument",
    "KycDocumentsResponse": "KycDocuments",
    # The platform
    "CountryResponse": "Country",
    "ProvinceResponse": "Province",
    "SsoResponse": "SignInProviders",
    "ThrottleTierResponse": "ThrottleTier",
    "SystemResponse": "SystemSettings",
    "VolatilityResponse": "VolatilitySettings",
    "TradingResponse": "TradingSettings",
    # Users and sessions
    "UserResponse": "User",
    "TokensResponse": "Session",
    "ChallengeResponse": "MfaChallenge",
}
"""The shapes that become records, by their names in the document; a record stands after those that it holds."""
BASES = {"Order": "RecordWithState", "ApiKeySecret": "ApiKey"}
"""Records that extend another one; every other one is a `Record`."""
SAME = {"BeneficiaryResponse": "Beneficiary"}
"""Shapes of replies whose records are those of what requests send."""
LEFT_OUT = {"tokenType", "mfaRequired"}
"""Properties that no record has, because the type of the record says the same."""
FIELDS = {"volume30D": "volume_30d"}
"""Properties whose names in Python do not follow from their own."""
LEVEL = "[price, quantity]"
"""The description of a price level, which is a list in the document and a `Level` in the client."""

HEAD = '''"""Generated by tools/client_records.py from docs/protocol/openapi/rest-edge.json: do not edit."""

from datetime import date as calendar_date
from datetime import datetime
from decimal import Decimal

import msgspec

from openspot.client.records import Level, Record, RecordWithState
'''
FORMATS = {"decimal": "Decimal", "date": "calendar_date", "date-time": "datetime"}
KINDS = {"string": "str", "integer": "int", "boolean": "bool", "null": "None"}
SHAPES: dict[str, Any] = json.loads(DOCUMENT.read_text("utf-8"))["components"]["schemas"]


def field_name(name: str) -> str:
    """The name of a property in Python."""
    return FIELDS.get(name) or re.sub("[A-Z]", lambda capital: f"_{capital[0].lower()}", name)


def type_of(schema: dict[str, Any]) -> str:
    """The type of a property. Raises KeyError for a shape that has no record."""
    if "$ref" in schema:
        shape = schema["$ref"].rpartition("/")[2]
        return type_of(SHAPES[shape]) if "enum" in SHAPES[shape] else RECORDS[SAME.get(shape, shape)]
    if "anyOf" in schema:
        return " | ".join(type_of(choice) for choice in schema["anyOf"])
    if schema["type"] == "array":
        return "Level" if schema.get("description") == LEVEL else f"list[{type_of(schema['items'])}]"
    if schema["type"] == "object":
        return f"dict[str, {type_of(schema['additionalProperties'])}]"
    return FORMATS.get(schema.get("format", ""), KINDS[schema["type"]])


def docstring_of(schema: dict[str, Any]) -> str:
    """The description with Python's names, None for null, and times that are no texts."""
    text = schema["description"]
    for name in schema["properties"]:
        text = re.sub(rf"\b{name}\b", field_name(name), text)
    text = re.sub(r"\bnull\b", "None", text).replace("ISO 8601 in UTC", "in UTC")
    end = "\n" if "\n" in text else ""
    return textwrap.indent(f'"""{text}{end}"""', "    ")


def field_of(name: str, schema: dict[str, Any], *, is_required: bool) -> str:
    """The line of a field. It names the property where the client's rule would not find it."""
    kind, value = type_of(schema), ""
    if not is_required:
        kind, value = kind if "None" in kind else f"{kind} | None", " = None"
    if name in FIELDS:
        value = f' = msgspec.field(name="{name}")'
    return f"    {field_name(name)}: {kind}{value}"


def record_of(name: str, schema: dict[str, Any]) -> str:
    """The class of a record, without the fields of the record that it extends."""
    base = BASES.get(name, "Record")
    inherited: dict[str, Any] = next(
        (SHAPES[shape]["properties"] for shape, record in RECORDS.items() if record == base), {}
    )
    fields = "\n".join(
        field_of(wire, of_wire, is_required=wire in schema["required"])
        # A field with a default comes after those without one.
        for wire, of_wire in sorted(schema["properties"].items(), key=lambda each: each[0] not in schema["required"])
        if wire not in inherited and wire not in LEFT_OUT
    )
    return f"class {name}({base}, frozen=True):\n{docstring_of(schema)}\n\n{fields}\n"


def rendered() -> str:
    """The whole file, formatted."""
    text = "\n\n".join([HEAD, *(record_of(name, SHAPES[shape]) for shape, name in RECORDS.items())])
    command = [str(Path(sys.executable).parent / "ruff"), "format", "--quiet", "--stdin-filename", str(TARGET), "-"]
    return subprocess.run(command, input=text, cwd=ROOT, check=True, text=True, capture_output=True).stdout


def main() -> int:
    """Write the file; with `--check` only say whether it is up to date."""
    text = rendered()
    if "--check" not in sys.argv[1:]:
        TARGET.write_text(text, "utf-8")
        return 0
    if TARGET.exists() and TARGET.read_text("utf-8") == text:
        return 0
    print(f"{TARGET.relative_to(ROOT)} is out of date: run `make protocol`", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
