"""Which texts of the services are reasons that a trader can meet, for `tests/unit/test_refusal_reasons.py`."""

PACKAGES = (
    "coin_networks",
    "custody",
    "domain",
    "http",
    "margin",
    "positions",
    "rest_edge",
    "router/orders",
    "subscriptions",
)
"""Packages that refuse what a trader asks for."""

SAID_TO_OTHERS = (
    r"rest_edge/(operators|mail|languages)/",
    r"rest_edge/notifications/(templates|rules|service|store)\.py",
    r"rest_edge/(app|descriptor|settings|service)\.py",
    r"rest_edge/push/(?!service)",
    r"rest_edge/common/(configuration|signed_events)\.py",
    r"rest_edge/alerts/(judge|store)\.py",
    r"custody/(?!(addresses|address_book|handlers|prices|withdrawals)\.py)",
    r"domain/(fees|ids|listing|networks|offer_checks|order_book|reserves|symbol)\.py",
    r"domain/fair_price/reference\.py",
    r"http/(brand|brand_mails|coin_pictures|documentation|edge_settings|ended_sessions|inner_requests|json_body|policy|protocol|server)\.py",
    r"http/api_keys/(replays|settings|store)\.py",
    r"margin/(descriptor|interest|liquidation|liquidator|marks|records|scanner|service|settings|store)\.py",
    r"positions/(app|broker_of_record|descriptor|fills|followed_trade|risk|service|settings|timers)\.py",
    r"positions/(broker/|fifo|import_)",
    r"positions/cost_basis/routes\.py",
    r"rest_edge/funds/(service|kyc/(notices|provider))\.py",
    r"rest_edge/identity/(service|activity/log|users/role_command|users/role_routes)\.py",
    r"rest_edge/(markets/listings|orders/connections|orders/connection_schemas|orders/store|orders/list_store)\.py",
    r"rest_edge/products/(metrics|service|payments/payment_routes|staking/products)\.py",
    r"router/orders/(engine_order_ids|symbols)\.py",
    r"subscriptions/(app|billing_calendar|descriptor|lifecycle|metrics|operated|plans|renewals|settings)\.py",
)
"""Files of these packages, as beginnings of their names (regular expressions), whose texts no trader gets to read."""

NOT_FOR_PEOPLE = frozenset(
    {
        "address must be in the form that custody.address.get returns",
        "userLimitCents must be 0 to {}",
        "userId must be 1 to 64 letters, digits or _ : -",
        "{} must be 1 to {} letters, digits, _ or -",
        "the withdrawal is {}",
        "{} has approved this withdrawal already",
        "signer must be one of {}",
        "{} has signed this withdrawal already",
        "the withdrawal is {} and cannot be rejected",
        "the operator's name must be 1 to 64 small letters, digits or . _ @ + -",
        "nobody may decide on a withdrawal of their own",
        "{} has approved already, and is the same person as {}",
        (
            "{} has approved already, and one of you gave the other a role not long ago, or both have one "
            "from the same person: somebody who is independent must approve"
        ),
        "reason must have {} to {} printable characters",
        "X-API-Key needs X-API-Timestamp and X-API-Signature",
        "a signed request must not have a body that the route does not read",
        "the API key or its signature is not valid",
        "the API key may not be used from {}",
        "the signature was used before: sign each request anew",
        "X-API-Timestamp must be milliseconds since 1970",
        "X-API-Timestamp is more than {} ms away from the server's time, {}",
        "the Authorization header must be: Bearer <token>",
        "a bearer token is required",
        "the headers x-api-key, x-api-secret and x-participant-type are required",
        "x-api-key and x-api-secret must be those of a service",
        "x-participant-type must be SYSTEM",
        "this route needs the access of: {}",
        "this route takes no limited credential",
        "the credential lacks the scope {}",
        "this needs the permission {}, which your roles ({}) do not have",
        "the header Authorization must be given once",
        "the header {} must be given once",
        "the body must be JSON: Content-Type: application/json",
        "Idempotency-Key must be 1 to 255 visible ASCII characters",
        "cursor is not one that this list gave",
        "no credential",
        "the audit trail is not available",
        "no such route",
        "the body is not valid JSON: {}",
        "the route does not take this method",
        "must be 1 to 64 letters, digits or _ : -",
        "marginAccountId is not the id of an account",
        "marginAccountId is not an account of the user",
        "requestId must be 1 to {} letters, digits, _ or -",
        "userId must be 1 to {} letters, digits or _ -",
        "symbol must look like BTC-USD",
        "{} is not the id of anything",
        "reviewAnswer is required for a completed review",
        "X-Payload-Digest is missing or wrong",
        "the user has no such API key",
        "give fromTradeId or cursor, not both",
        "your timer has run out, and your orders are being cancelled: repeat the request",
        "give the conditions in the query or in the body, not in both",
        "orderIds must have at most {} entries",
        "orderIds must be order ids with commas between them",
        "give orderIds or clientOrderId, not both",
        "timeoutSeconds must be 0 or at least {}",
        "X-Payload-Digest does not sign this body",
        "{}endpoint {}",
        "{}keys: {}",
        "{}keys {}",
        "side must be buy, sell or empty",
        "symbol: order {} is on {}, not on {}",
        "userId must be 1 to 64 letters, digits, '_', ':' or '-'",
        "orderId must be 1 to 64 letters, digits, '_', ':' or '-'",
        "listId must be 1 to 64 letters, digits, '_', ':' or '-'",
        "symbol must have the form <BASE>-<QUOTE>",
        "orders must have an orderId each",
        "orderId {} was used before",
        "planId is no id of a plan",
        "limit must lie between 1 and {}",
        "userId is no id of a user",
        "{} must be a time from 1970 on and before the year 10000",
    }
)
"""Reasons for programs alone: the pages send nothing that would be refused with them. They are shown in English."""

NO_REASONS = frozenset(
    {
        "Development payment in {}",
        "The last trade was at",
        "The fair price is",
        "{} {} {}: at or {} {} {}.{}",
        "no reason given",
        "{} of {}",
        "{}, by operator:{}",
        "the price is certain now: {} USD",
        "beyond the user's {} % of {}, so {} sends it",
        "the order book",
        "an outside venue",
        "the entry, then its exits",
        "the two exits",
        "an exit reverses its entry",
        "both are exits",
        (
            "with X-API-Timestamp (milliseconds since 1970, within 5 s of the server's time) and "
            "X-API-Signature: of timestamp + METHOD + path with query + raw body, as hex HMAC-SHA256, or as "
            "base64 Ed25519"
        ),
        "an API key with a signature",
        "with x-api-secret, and x-participant-type: SYSTEM",
        "no authenticator of this service grants {}",
        "Cursor of the next page; absent on the last",
        "{} {} is audited, and there is no audit sink",
        "{} {} is declared twice",
        "decimal places",
        "{} account",
        "the margin account",
        "the lending pool",
        "loan of",
        "notional must not be negative",
        "withdrawal addresses",
        'attachment; filename="{}"',
        "default-src 'none'; sandbox; frame-ancestors 'none'",
        "Verification closed",
        (
            "Your verification was closed, because nothing has happened in it for a long time. Its "
            "documents were deleted. You can start it again."
        ),
        "{} random bytes are needed, got {}",
        "amount {}",
        "{} and {} {}",
        "Test of notifications",
        "This device shows what you asked to be told.",
        "push to devices",
        "delete devices of ended sessions",
        "delete old messages for devices",
        "Candidate | None",
        "notional {} {}",
        "credit must not be negative",
        "Your plan {} has ended.",
        "Your plan {} goes on for now. The charge is tried again on ",
        "Your plan could not be charged",
    }
)
"""Texts that refuse nothing."""

SPELT_OUT = frozenset(
    {
        "{} of {} over {} are paused",
        "orders must have {} entries for a list of type {}: {}",
        "side must be {}: ",
        "{} does not cover the amount ({})",
        "cannot {} a transfer that {}",
        "fromAmount must be between {}, and would be {}",
        "amount must be between {}",
        "the payment is of {}",
        "{} waits for its makers: until then a {} must be {} {}",
        "quoteQuantity is for market {} only",
        "{} is below the minimum of {} on {}",
        "{} is above the maximum of {} on {}",
        "your spot account does not have {} that no order uses: add funds and try again",
        "the engine refused the charge of {}: {}",
    }
)
"""Reasons whose values are words, which stand in the templates: "buy" and "sell" belong to other sentences."""

OF_THE_PAGE = frozenset({"no response from {address}", "the exchange returned {status}"})
"""Templates of what the page itself tells."""

PUT_TOGETHER = frozenset(
    {
        "deposits of {asset} over {name} are paused: {note}",
        "it is {status}",
        "no longer open",
        "withdrawals of {asset} over {name} are paused: {note}",
        "{field} {value} has more than {places} decimal places",
        "{field} {value} is too large",
    }
)
"""Templates of reasons that a service puts together from several texts or of a value."""

RESULTS_OF_NO_ORDER = frozenset(
    {
        "ACCOUNT_ALREADY_EXISTS",
        "CURRENCY_ALREADY_EXISTS",
        "CURRENCY_IN_USE",
        "INVALID_ORDER_ID",
        "INVALID_PHASE",
        "INVALID_SYMBOL_SPECIFICATION",
        "INVALID_TRANSFER",
        "ORDER_NOT_EXPIRED",
        "PHASE_NOT_OVER",
        "REFERENCE_CONFLICT",
        "RESERVATION_CLOSED",
        "RISK_INVALID_RESERVE_BID_PRICE",
        "SUCCESS",
        "SYMBOL_ALREADY_EXISTS",
        "SYMBOL_HAS_OPEN_ORDERS",
        "UNKNOWN_REFERENCE",
        "UNSUPPORTED_COMMAND",
    }
)
"""Results of the engine that no request of a trader has, or that only programs can cause."""
