"""The REST methods of the ccxt class: what they ask of the platform, and what they make of its answers."""

from typing import Any

import pytest

from tests.unit.integrations.conftest import Recorded

QUOTE = {
    "quoteId": "q1", "fromAsset": "USD", "toAsset": "BTC", "fromAmount": "100", "toAmount": "0.00199",
    "price": "0.0000199", "inversePrice": "50251.2", "spreadBps": 50, "spreadAmount": "0.5",
    "createdAt": "2026-01-02T03:04:05.006Z", "expiresAt": "2026-01-02T03:04:15.006Z",
}  # fmt: skip


def conversion(number: int, given: str, received: str) -> dict[str, Any]:
    return {
        "id": f"c{number}", "quoteId": f"q{number}", "status": "completed", "fromAsset": given, "toAsset": received,
        "fromAmount": "100", "toAmount": "2", "spreadAmount": "0.5", "price": "0.02", "failureCode": None,
        "createdAt": f"2026-01-02T03:04:0{number}.000Z", "completedAt": f"2026-01-02T03:04:0{number}.500Z",
    }  # fmt: skip


def loan(number: int, asset: str, outstanding: str, interest: str, status: str = "active") -> dict[str, Any]:
    return {
        "loanId": f"loan{number}", "marginAccountId": "m", "asset": asset, "principal": "100",
        "outstanding": outstanding, "interest": interest, "interestPaid": "0.25", "rate": "0.1", "status": status,
        "createdAt": f"2026-01-02T03:04:0{number}.000Z", "endedAt": None,
    }  # fmt: skip


def account(*loans: dict[str, Any]) -> dict[str, Any]:
    balance = {"asset": "USD", "total": "500", "available": "450", "borrowed": "100", "interest": "0.5"}
    return {"marginAccountId": "m", "status": "active", "balances": [balance], "loans": list(loans)}


def errors() -> Any:
    from ccxt.base import errors

    return errors


# What `has` says


def test_has_names_exactly_the_methods_that_the_classes_have(exchange: Any) -> None:
    from openspot_ccxt.description import OFFERED, OFFERED_BY_COMPLETE_RULES, STREAMS_OFFERED
    from openspot_ccxt.stream import OpenSpot as Streams

    own = {name for base in Streams.__mro__ if "openspot_ccxt" in base.__module__ for name in vars(base)}
    methods = {name: exchange.un_camel_case(name.replace("OHLCV", "Ohlcv")) for name in Streams().has}
    by_base = {
        "cancelOrderWithClientOrderId", "cancelOrdersWithClientOrderId", "createLimitOrder",
        "createMarketOrder", "createPostOnlyOrder",
        "createStopLimitOrder", "createStopLossOrder", "createStopMarketOrder", "createStopOrder",
        "createTakeProfitOrder", "createTriggerOrder", "editOrderWithClientOrderId",
        "fetchDepositWithdrawFee", "fetchOrderWithClientOrderId",
    }  # fmt: skip
    """Methods that ccxt builds of ours."""
    every = (*OFFERED, *OFFERED_BY_COMPLETE_RULES, *STREAMS_OFFERED)
    offered = {name for name in every if name not in ("spot", "ws")}
    assert {name for name in offered - by_base if methods[name] not in own} == set()
    assert {name for name, method in methods.items() if method in own} - offered == set()


# Market data, fees and ledger


def test_best_prices_of_markets(exchange: Any, platform: Recorded) -> None:
    tickers = [
        {
            "symbol": f"{base}-USD", "bidPrice": "99.5", "bidQuantity": "2.25", "askPrice": "100.5",
            "askQuantity": "0.5", "lastPrice": "9", "timestamp": 1_700_000_000,
        }
        for base in ("BTC", "ETH")
    ]  # fmt: skip
    platform.answer("GET", "/markets/tickers", tickers)
    assert set(exchange.fetch_bids_asks()) == {"BTC/USD", "ETH/USD"}
    [(symbol, ticker)] = exchange.fetch_bids_asks(["ETH/USD"]).items()
    assert (symbol, ticker["bid"], ticker["ask"], ticker["last"]) == ("ETH/USD", 99.5, 100.5, None)
    assert (ticker["bidVolume"], ticker["askVolume"], ticker["timestamp"]) == (2.25, 0.5, 1_700_000_000)
    assert {
        name: (row["bidVolume"], row["askVolume"], row["last"]) for name, row in exchange.fetch_tickers().items()
    } == dict.fromkeys(("BTC/USD", "ETH/USD"), (2.25, 0.5, 9))
    with pytest.raises(errors().BadSymbol):
        exchange.fetch_bids_asks(["NO/USD"])


def test_an_interval_that_does_not_exist_is_refused_here(exchange: Any) -> None:
    with pytest.raises(errors().BadRequest, match="1m, 5m"):
        exchange.fetch_ohlcv("BTC/USD", "7m")


def test_fees_of_deposits_and_withdrawals(exchange: Any) -> None:
    fees = exchange.fetch_deposit_withdraw_fees(["BTC"])
    assert list(fees) == ["BTC"]
    cost = {"fee": 0.0001, "percentage": False}
    assert (fees["BTC"]["withdraw"], fees["BTC"]["networks"]["BTC"]["withdraw"]) == (cost, cost)
    assert exchange.fetch_deposit_withdraw_fee("USD")["withdraw"]["fee"] == 5
    assert set(exchange.fetch_deposit_withdraw_fees()) == {"BTC", "ETH", "USD"}


def test_ledger_entries_have_a_direction_and_the_balance_before(exchange: Any, platform: Recorded) -> None:
    def entry(number: int, kind: str, amount: str, balance: str) -> dict[str, Any]:
        return {
            "transactionId": f"t{number}", "asset": "USD", "amount": amount, "balance": balance, "entryType": kind,
            "referenceType": "trade", "referenceId": "7", "createdAt": "2026-01-02T03:04:05.006Z",
        }  # fmt: skip

    newest_first = [
        entry(4, "conversion", "10", "104.75"), entry(3, "fee", "-0.25", "94.75"), entry(2, "trade", "-5", "95"),
        entry(1, "deposit", "100", "100"),
    ]  # fmt: skip
    platform.answer("GET", "/accounts/transactions?limit=4&asset=USD", newest_first)
    rows = exchange.fetch_ledger("USD", None, 4)
    names = ("id", "type", "direction", "amount", "before", "after", "currency", "referenceId")
    assert [tuple(row[name] for name in names) for row in rows] == [
        ("t1", "transaction", "in", 100, 0, 100, "USD", "7"),
        ("t2", "trade", "out", 5, 100, 95, "USD", "7"),
        ("t3", "fee", "out", 0.25, 95, 94.75, "USD", "7"),
        ("t4", "transfer", "in", 10, 94.75, 104.75, "USD", "7"),
    ]
    assert rows[0]["fee"] == {"cost": 0, "currency": "USD"}


# Conversions


def test_a_conversion_is_quoted_and_executed(exchange: Any, platform: Recorded) -> None:
    platform.answer("POST", "/conversions/quote", QUOTE, 201)
    platform.answer("POST", "/conversions", conversion(1, "USD", "BTC"), 201)
    quote = exchange.fetch_convert_quote("USD", "BTC", 100)
    names = ("id", "fromCurrency", "fromAmount", "toCurrency", "toAmount", "price", "fee")
    assert tuple(quote[name] for name in names) == ("q1", "USD", 100, "BTC", 0.00199, 0.0000199, 0.5)
    trade = exchange.create_convert_trade(quote["id"], "USD", "BTC", 100)
    assert tuple(trade[name] for name in names) == ("c1", "USD", 100, "BTC", 2, 0.02, 0.5)
    exchange.fetch_convert_quote("USD", "BTC", None, {"toAmount": "0.5"})
    assert [body for _, _, body in platform.sent()] == [
        {"fromAsset": "USD", "toAsset": "BTC", "fromAmount": "100"},
        {"quoteId": "q1"},
        {"fromAsset": "USD", "toAsset": "BTC", "toAmount": "0.5"},
    ]
    with pytest.raises(errors().ArgumentsRequired):
        exchange.fetch_convert_quote("USD", "BTC")


def test_conversions_of_a_currency(exchange: Any, platform: Recorded) -> None:
    rows = [conversion(3, "BTC", "ETH"), conversion(2, "USD", "ETH"), conversion(1, "USD", "BTC")]
    platform.answer("GET", "/conversions?limit=1000", rows)
    platform.answer("GET", "/conversions?limit=2", rows[:2])
    platform.answer("GET", "/conversions/c2", rows[1])
    assert [row["id"] for row in exchange.fetch_convert_trade_history(None, None, 2)] == ["c2", "c3"]
    assert [row["id"] for row in exchange.fetch_convert_trade_history("BTC", None, 10)] == ["c1", "c3"]
    since = exchange.parse8601("2026-01-02T03:04:02.000Z")
    assert [row["id"] for row in exchange.fetch_convert_trade_history("BTC", since)] == ["c3"]
    assert exchange.fetch_convert_trade("c2")["toCurrency"] == "ETH"


def test_currencies_that_can_be_converted(exchange: Any, platform: Recorded) -> None:
    names = ("fromAsset", "toAsset", "symbol", "minimum", "maximum")
    pairs = [("BTC", "USD", "BTC-USD", "0.001", "2"), ("BTC", "ETH", "BTC-ETH", "0.01", "1"),
             ("USD", "BTC", "BTC-USD", "10", "5000")]  # fmt: skip
    platform.answer("GET", "/conversions/pairs", [dict(zip(names, pair, strict=True)) for pair in pairs])
    currencies = exchange.fetch_convert_currencies()
    limits = {code: currency["limits"]["amount"] for code, currency in currencies.items()}
    assert limits == {
        "BTC": {"min": 0.001, "max": 2}, "ETH": {"min": None, "max": None}, "USD": {"min": 10, "max": 5000},
    }  # fmt: skip


@pytest.mark.parametrize(
    ("status", "code", "error"),
    [
        (404, "PAIR_NOT_FOUND", "BadSymbol"),
        (404, "QUOTE_NOT_FOUND", "OrderNotFound"),
        (409, "QUOTE_EXPIRED", "InvalidOrder"),
        (409, "CONVERSION_LIMIT", "InvalidOrder"),
        (409, "INSUFFICIENT_LIQUIDITY", "InvalidOrder"),
        (409, "INVENTORY_INSUFFICIENT", "InvalidOrder"),
        (409, "PRICE_UNCERTAIN", "InvalidOrder"),
        (400, "INSUFFICIENT_BALANCE", "InsufficientFunds"),
        (400, "VALIDATION_FAILED", "BadRequest"),
    ],
)
def test_refusals_of_conversions_are_errors_of_ccxt(
    exchange: Any, platform: Recorded, status: int, code: str, error: str
) -> None:
    platform.refuse("POST", "/conversions", status, code)
    with pytest.raises(errors().BaseError) as raised:
        exchange.create_convert_trade("q1", "USD", "BTC")
    assert raised.type.__name__ == error


def test_an_id_that_no_conversion_can_have_is_one_that_is_not_found(exchange: Any, platform: Recorded) -> None:
    for method, path, field in (("POST", "", "quoteId"), ("GET", "/no-such-id", "id")):
        target, message = f"/conversions{path}", f"{field} has characters that are not allowed"
        platform.refuse(method, target, 400, "VALIDATION_FAILED", message)
    with pytest.raises(errors().OrderNotFound):
        exchange.create_convert_trade("no-such-id", "USD", "BTC")
    with pytest.raises(errors().OrderNotFound):
        exchange.fetch_convert_trade("no-such-id")
    platform.refuse("POST", "/conversions", 400, "VALIDATION_FAILED", "amount must not be sent")
    with pytest.raises(errors().BadRequest):
        exchange.create_convert_trade("no-such-id", "USD", "BTC", None, {"amount": "1"})


# Margin


def test_collateral_moves_between_spot_and_margin(exchange: Any, platform: Recorded) -> None:
    platform.answer("POST", "/margin/transfers", {"positionId": None, "loanId": None, "account": account()}, 201)
    moved = exchange.transfer("USD", 0.00000123, "spot", "margin")
    assert (moved["currency"], moved["amount"], moved["status"]) == ("USD", 0.00000123, "ok")
    exchange.transfer("USD", 400, "cross", "spot", {"requestId": "r1"})
    assert [body for _, _, body in platform.sent()] == [
        {"asset": "USD", "amount": "0.00000123", "direction": "in"},
        {"asset": "USD", "amount": "400", "direction": "out", "requestId": "r1"},
    ]
    for source, destination in (("spot", "spot"), ("spot", "funding")):
        with pytest.raises(errors().BadRequest):
            exchange.transfer("USD", 1, source, destination)


def test_borrowing_returns_the_loan(exchange: Any, platform: Recorded) -> None:
    after = account(loan(1, "USD", "50", "0"), loan(2, "USD", "100", "0"))
    platform.answer("POST", "/margin/loans", {"positionId": None, "loanId": "loan2", "account": after}, 201)
    borrowed = exchange.borrow_cross_margin("USD", 100)
    assert (borrowed["id"], borrowed["currency"], borrowed["amount"]) == ("loan2", "USD", 100)
    assert borrowed["datetime"] == "2026-01-02T03:04:02.000Z"
    assert platform.sent() == [("POST", "/margin/loans", {"asset": "USD", "amount": "100"})]


@pytest.mark.parametrize(
    ("amount", "params", "sent"),
    [
        (20, {}, [("loan1", "20")]),
        (70, {}, [("loan1", "70"), ("loan2", "19.5")]),
        (50.5, {}, [("loan1", "50.5")]),
        (None, {}, [("loan1", None), ("loan2", None)]),
        (70, {"loanId": "loan2"}, [("loan2", "70")]),
    ],
)
def test_the_oldest_loan_of_the_currency_is_repaid_first(
    exchange: Any, platform: Recorded, amount: float | None, params: dict[str, Any], sent: list[Any]
) -> None:
    loans = (
        loan(3, "BTC", "1", "0"),
        loan(2, "USD", "100", "1"),
        loan(1, "USD", "50", "0.5"),
        loan(0, "USD", "0", "0", "repaid"),
    )
    platform.answer("GET", "/margin/account", account(*loans))
    platform.answer("POST", "/margin/loans/repay", {"positionId": None, "loanId": "loan1", "account": account(*loans)})
    repaid = exchange.repay_cross_margin("USD", amount, params)
    bodies = [body for method, _, body in platform.sent() if method == "POST"]
    assert [(body["loanId"], body.get("amount")) for body in bodies] == sent
    assert (repaid["currency"], repaid["amount"], len(repaid["info"])) == ("USD", amount, len(sent))


def test_nothing_is_repaid_where_nothing_is_owed(exchange: Any, platform: Recorded) -> None:
    for answer in (None, account(loan(1, "BTC", "1", "0"))):
        platform.answer("GET", "/margin/account", answer)
        with pytest.raises(errors().BadRequest, match="no open loan of USD"):
            exchange.repay_cross_margin("USD", 5)


def test_interest_and_balances_of_the_margin_account(exchange: Any, platform: Recorded) -> None:
    platform.answer("GET", "/margin/account", account(loan(2, "USD", "100", "1"), loan(1, "BTC", "1", "0")))
    [interest] = exchange.fetch_borrow_interest("USD")
    names = ("currency", "interest", "interestRate", "amountBorrowed", "marginMode")
    assert tuple(interest[name] for name in names) == ("USD", 1.25, 0.1, 100, "cross")
    assert [row["currency"] for row in exchange.fetch_borrow_interest()] == ["BTC", "USD"]
    # What the pool refused, or has not decided on, was never borrowed.
    loans = [loan(number, "USD", "5", "0") | {"status": status} for number, status in ((3, "refused"), (4, "pending"))]
    platform.answer("GET", "/margin/account", account(loan(2, "USD", "100", "1"), loan(1, "BTC", "1", "0"), *loans))
    assert [row["currency"] for row in exchange.fetch_borrow_interest()] == ["BTC", "USD"]
    balance = exchange.fetch_balance({"marginMode": "cross"})["USD"]
    assert balance == {"free": 450, "used": 50, "total": 500, "debt": 100.5}
    assert exchange.fetch_balance({"type": "margin"})["USD"] == balance


def test_a_user_without_a_margin_account_has_no_interest_and_no_balances_there(
    exchange: Any, platform: Recorded
) -> None:
    platform.answer("GET", "/margin/account", None)
    assert exchange.fetch_borrow_interest() == []
    assert exchange.fetch_balance({"type": "margin"})["total"] == {}


@pytest.mark.parametrize(
    ("status", "code", "message", "error"),
    [
        (404, "NOT_FOUND", "the user has no margin account: move collateral into it first", "AccountNotEnabled"),
        (400, "INSUFFICIENT_BALANCE", "the spot account does not cover it", "InsufficientFunds"),
        (409, "MARGIN_REFUSED", "the account is liquidating", "OperationRejected"),
        (409, "POOL_EMPTY", "the pool holds less", "OperationRejected"),
        (503, "NO_MARK_PRICE", "no price", "ExchangeNotAvailable"),
        (503, "PRICE_NOT_SURE", "the price is disputed", "ExchangeNotAvailable"),
        (504, "MARGIN_STATUS_UNKNOWN", "nobody knows yet", "RequestTimeout"),
    ],
)
def test_refusals_of_margin_are_errors_of_ccxt(
    exchange: Any, platform: Recorded, status: int, code: str, message: str, error: str
) -> None:
    platform.refuse("POST", "/margin/loans", status, code, message)
    with pytest.raises(errors().BaseError) as raised:
        exchange.borrow_cross_margin("USD", 1)
    assert raised.type.__name__ == error
