"""The synchronous methods for fees, conversions and margin: made from funds_async.py by `tools/ccxt_sync.py`."""

from typing import Any

from openspot_ccxt.description import PAGE_MAX
from openspot_ccxt.funds_records import FundsRecords

Params = dict[str, Any] | None


class Funds(FundsRecords):
    """The part of an exchange class that is about money without orders."""

    # Fees and ledger

    def fetch_deposit_withdraw_fees(self, codes: list[str] | None = None, params: Params = None) -> dict[str, Any]:
        """The fees of deposits and withdrawals by currency and network."""
        self.load_markets()
        rows = self.call("GET", "fees/network/all", params, "public")
        return self.parse_deposit_withdraw_fees(self.group_by(rows, "asset"), codes)

    def fetch_ledger(
        self, code: str | None = None, since: int | None = None, limit: int | None = None, params: Params = None
    ) -> list[Any]:
        """The ledger entries of the spot account, oldest first, of the newest 1,000."""
        self.load_markets()
        request = self.omit(self.page_request(since, limit, params or {}), ["from", "to"])
        currency = None
        if code is not None:
            currency = self.currency(code)
            request["asset"] = currency["id"]
        rows = self.call("GET", "accounts/transactions", request)
        # The newest come first, and entries of one millisecond stay in their order only if they are turned round here.
        return self.parse_ledger(list(reversed(rows)), currency, since, limit)

    def fetch_withdrawal(self, id: str, code: str | None = None, params: Params = None) -> dict[str, Any]:
        """One withdrawal."""
        self.load_markets()
        return self.parse_transaction(self.call("GET", f"accounts/withdrawals/{self.encode_uri_component(id)}", params))

    # Conversions

    def fetch_convert_currencies(self, params: Params = None) -> dict[str, Any]:
        """The currencies that can be converted."""
        self.load_markets()
        return self.parse_convert_currencies(self.call("GET", "conversions/pairs", params, "public"))

    def fetch_convert_quote(
        self, fromCode: str, toCode: str, amount: float | None = None, params: Params = None
    ) -> dict[str, Any]:
        """A price for giving `amount`, valid for seconds; `toAmount` in `params` names what is to come instead."""
        self.load_markets()
        request = self.convert_request(fromCode, toCode, amount, params or {})
        return self.parse_conversion(self.call("POST", "conversions/quote", request))

    def create_convert_trade(
        self, id: str, fromCode: str, toCode: str, amount: float | None = None, params: Params = None
    ) -> dict[str, Any]:
        """Execute the quote `id`. A repeated call returns the same conversion: nothing is converted twice."""
        self.load_markets()
        request = {"quoteId": id} | (params or {})
        return self.parse_conversion(self.call("POST", "conversions", request))

    def fetch_convert_trade(self, id: str, code: str | None = None, params: Params = None) -> dict[str, Any]:
        """One conversion."""
        self.load_markets()
        return self.parse_conversion(self.call("GET", f"conversions/{self.encode_uri_component(id)}", params))

    def fetch_convert_trade_history(
        self, code: str | None = None, since: int | None = None, limit: int | None = None, params: Params = None
    ) -> list[Any]:
        """The user's conversions, oldest first, of the newest 1,000."""
        self.load_markets()
        # Which of the newest are of this currency, the platform does not say.
        wanted = limit if code is None else PAGE_MAX
        request = self.omit(self.page_request(since, wanted, params or {}), ["from", "to"])
        rows = self.call("GET", "conversions", request)
        found = self.parse_conversions(rows, None, "fromAsset", "toAsset", since)
        if code is not None:
            found = [
                conversion for conversion in found if code in (conversion["fromCurrency"], conversion["toCurrency"])
            ]
        return self.filter_by_since_limit(found, since, limit)

    # Margin

    def margin_account(self, params: Params = None) -> dict[str, Any] | None:
        """The margin account, or None if the user has none."""
        account = self.call("GET", "margin/account", params)
        # ccxt reads objects and lists as JSON, and leaves `null` a text.
        return account if isinstance(account, dict) else None

    def transfer(
        self, code: str, amount: float, fromAccount: str, toAccount: str, params: Params = None
    ) -> dict[str, Any]:
        """Move collateral between the accounts `spot` and `margin`."""
        self.load_markets()
        request = self.transfer_request(code, amount, fromAccount, toAccount, params or {})
        response = self.call("POST", "margin/transfers", request)
        return {
            "info": response,
            "id": None,
            "timestamp": None,
            "datetime": None,
            "currency": code,
            "amount": self.parse_number(request["amount"]),
            "fromAccount": fromAccount,
            "toAccount": toAccount,
            "status": "ok",
        }

    def borrow_cross_margin(self, code: str, amount: float, params: Params = None) -> dict[str, Any]:
        """Borrow from the lending pool, into the margin account."""
        self.load_markets()
        request = self.amount_request(code, amount, "borrowCrossMargin") | (params or {})
        return self.parse_margin_loan(self.call("POST", "margin/loans", request), self.currency(code))

    def repay_cross_margin(self, code: str, amount: float | None, params: Params = None) -> dict[str, Any]:
        """Repay loans of a currency, the oldest first; without `amount` all of them. `loanId` in `params` names one.

        Each loan is a request of its own: what was repaid before a refusal stays repaid.
        """
        self.load_markets()
        currency = self.currency(code)
        wanted = None if amount is None else self.amount_request(code, amount, "repayCrossMargin")["amount"]
        loan_id = self.safe_string(params, "loanId")
        account = self.margin_account()
        replies: list[Any] = []
        for loan, part in self.loans_to_repay(account, currency["id"], wanted, loan_id):
            request = {"loanId": loan} | ({} if part is None else {"amount": part})
            replies.append(self.call("POST", "margin/loans/repay", request | self.omit(params or {}, ["loanId"])))
        repaid = self.parse_margin_loan(replies[-1], currency)
        return repaid | {"amount": amount, "timestamp": None, "datetime": None, "info": replies}

    def fetch_borrow_interest(
        self, code: str | None = None, symbol: str | None = None, since: int | None = None, limit: int | None = None,
        params: Params = None,
    ) -> list[Any]:  # fmt: skip
        """The interest of the margin account's loans, oldest first. Without a margin account there is none."""
        self.load_markets()
        account = self.margin_account(params)
        interests = self.sort_by(self.parse_borrow_interests(self.lent(account)), "timestamp")
        return self.filter_by_currency_since_limit(interests, code, since, limit)
