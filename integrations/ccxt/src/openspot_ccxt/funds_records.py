"""Records of fees, ledger, deposits, withdrawals, conversions and margin in ccxt's form."""

from typing import Any

from ccxt.base.errors import ArgumentsRequired, BadRequest, InvalidAddress
from ccxt.base.precise import Precise

_LEDGER_TYPES = {
    "trade": "trade",
    "fee": "fee",
    "rebate": "cashback",
    "deposit": "transaction",
    "withdrawal": "transaction",
}
"""ccxt's types of ledger entries by the platform's; any other entry is a `transfer`."""
_WITHDRAWAL_STATUSES = {"completed": "ok", "cancelled": "canceled", "rejected": "failed", "failed": "failed"}
_ACCOUNTS = {"spot": "spot", "margin": "margin", "cross": "margin"}


class FundsRecords:
    """Makes ccxt's records of what the platform says about money that is not an order."""

    # Fees and ledger

    def parse_deposit_withdraw_fee(self, fee: list[dict[str, Any]], currency: Any = None) -> dict[str, Any]:
        """The fees of a currency: `fee` has a row for each of its networks. Deposits cost nothing."""
        result = self.deposit_withdraw_fee(fee)
        for row in fee:
            network = self.network_id_to_code(row["network"], self.safe_string(currency, "code"))
            result["networks"][network] = {
                "withdraw": {"fee": self.safe_number(row, "fee"), "percentage": False},
                "deposit": {"fee": self.parse_number("0"), "percentage": False},
            }
        return self.assign_default_deposit_withdraw_fees(result, currency)

    def parse_ledger_entry(self, item: dict[str, Any], currency: Any = None) -> dict[str, Any]:
        """A ledger entry. The platform's amount has a sign, ccxt's has a direction."""
        amount, after = self.safe_string(item, "amount"), self.safe_string(item, "balance")
        code = self.safe_currency_code(self.safe_string(item, "asset"), currency)
        is_debit = Precise.string_lt(amount, "0")
        created = self.parse8601(self.safe_string(item, "createdAt"))
        return self.safe_ledger_entry(
            {
                "id": self.safe_string(item, "transactionId"),
                "direction": "out" if is_debit else "in",
                "account": "spot",
                "referenceId": self.safe_string(item, "referenceId"),
                "referenceAccount": None,
                "type": self.safe_string(_LEDGER_TYPES, self.safe_string(item, "entryType"), "transfer"),
                "currency": code,
                "amount": Precise.string_abs(amount),
                "before": Precise.string_sub(after, amount),
                "after": after,
                "status": "ok",
                "timestamp": created,
                # Fees are entries of their own.
                "fee": {"cost": "0", "currency": code},
                "info": item,
            },
            currency,
        )

    # Deposits and withdrawals

    def parse_deposit_address(self, address: dict[str, Any], currency: Any = None) -> dict[str, Any]:
        """The user's deposit address on one network."""
        code = self.safe_currency_code(self.safe_string(address, "asset"), currency)
        return {
            "info": address,
            "currency": code,
            "network": self.network_id_to_code(self.safe_string(address, "network"), code),
            "address": self.safe_string(address, "address"),
            "tag": self.safe_string(address, "tag"),
        }

    def parse_transaction(self, transaction: dict[str, Any], currency: Any = None) -> dict[str, Any]:
        """A deposit, or a withdrawal, which has an `id`."""
        code = self.safe_currency_code(self.safe_string(transaction, "asset"), currency)
        created = self.parse8601(self.safe_string(transaction, "createdAt"))
        withdrawal_id = self.safe_string(transaction, "id")
        status = self.safe_string(transaction, "status")
        if withdrawal_id is None:
            updated = self.parse8601(self.safe_string(transaction, "confirmedAt")) or created
            status = "ok" if status == "confirmed" else "pending"
            kind, fee = "deposit", "0"
        else:
            updated = self.parse8601(self.safe_string(transaction, "updatedAt"))
            status = self.safe_string(_WITHDRAWAL_STATUSES, status, "pending")
            kind, fee = "withdrawal", self.safe_string(transaction, "fee")
        address, tag = self.safe_string(transaction, "address"), self.safe_string(transaction, "tag")
        txid = self.safe_string(transaction, "txHash")
        return {
            "info": transaction,
            "id": withdrawal_id if withdrawal_id is not None else txid,
            "txid": txid,
            "timestamp": created,
            "datetime": self.iso8601(created),
            "network": self.network_id_to_code(self.safe_string(transaction, "network"), code),
            "address": address,
            "addressTo": address,
            "addressFrom": None,
            "tag": tag,
            "tagTo": tag,
            "tagFrom": None,
            "type": kind,
            # What the recipient gets; the fee comes on top of it.
            "amount": self.safe_number_2(transaction, "netAmount", "amount"),
            "currency": code,
            "status": status,
            "updated": updated,
            "internal": False,
            "comment": None,
            "fee": {"currency": code, "cost": self.parse_number(fee)},
        }

    def saved_address_of(
        self, rows: list[dict[str, Any]], asset: str, address: str, tag: str | None, network: str | None
    ) -> str:
        """The id of a saved withdrawal address. Raises InvalidAddress if the user has not saved it."""
        for row in rows:
            fits = row["asset"] == asset and row["address"] == address and row["tag"] in (tag, tag or None)
            if fits and network in (None, row["network"]):
                return str(row["id"])
        raise InvalidAddress(
            f"{self.id} withdraw() sends to saved addresses only: save {address} for {asset} at the platform first"
        )

    # Conversions

    def parse_convert_currencies(self, pairs: list[dict[str, Any]]) -> dict[str, Any]:
        """What can be converted. The limits of a currency are those of giving it, over all its pairs."""
        result: dict[str, Any] = {}
        for asset in sorted({pair[side] for pair in pairs for side in ("fromAsset", "toAsset")}):
            code = self.safe_currency_code(asset)
            given = [pair for pair in pairs if pair["fromAsset"] == asset]
            minimums, maximums = ([self.parse_number(pair[name]) for pair in given] for name in ("minimum", "maximum"))
            result[code] = self.safe_currency_structure(
                {
                    "id": asset,
                    "code": code,
                    "active": True,
                    "limits": {"amount": {"min": min(minimums, default=None), "max": max(maximums, default=None)}},
                    "info": [pair for pair in pairs if asset in (pair["fromAsset"], pair["toAsset"])],
                }
            )
        return result

    def convert_request(self, from_code: str, to_code: str, amount: Any, params: dict[str, Any]) -> dict[str, Any]:
        """The body of a request for a quote. Raises ArgumentsRequired without an amount."""
        given, received = self.currency(from_code), self.currency(to_code)
        request = {"fromAsset": given["id"], "toAsset": received["id"]}
        wanted = self.safe_string(params, "toAmount")
        if wanted is not None:
            request["toAmount"] = wanted
        elif amount is not None:
            request["fromAmount"] = self.currency_to_precision(from_code, amount)
        else:
            raise ArgumentsRequired(f"{self.id} fetchConvertQuote() requires an amount, or toAmount in params")
        return request | self.omit(params, ["toAmount"])

    def parse_conversion(
        self, conversion: dict[str, Any], fromCurrency: Any = None, toCurrency: Any = None
    ) -> dict[str, Any]:
        """A conversion, or the quote of one, which has no `id` of its own yet."""
        created = self.parse8601(self.safe_string(conversion, "createdAt"))
        return {
            "info": conversion,
            "timestamp": created,
            "datetime": self.iso8601(created),
            "id": self.safe_string_2(conversion, "id", "quoteId"),
            "fromCurrency": self.safe_currency_code(self.safe_string(conversion, "fromAsset"), fromCurrency),
            "fromAmount": self.safe_number(conversion, "fromAmount"),
            "toCurrency": self.safe_currency_code(self.safe_string(conversion, "toAsset"), toCurrency),
            "toAmount": self.safe_number(conversion, "toAmount"),
            "price": self.safe_number(conversion, "price"),
            "fee": self.safe_number(conversion, "spreadAmount"),
        }

    # Margin

    def is_margin_requested(self, params: dict[str, Any]) -> bool:
        """Whether `params` ask for the margin account's balances. Raises BadRequest for an account that is not."""
        wanted = self.safe_string_2(params, "marginMode", "type", "spot")
        return self.account_named(wanted) == "margin"

    def account_named(self, name: str) -> str:
        """`spot` or `margin`. Raises BadRequest for another account."""
        account = self.safe_string(_ACCOUNTS, name)
        if account is None:
            raise BadRequest(f"{self.id} has the accounts spot and margin, not {name}")
        return account

    def transfer_request(
        self, code: str, amount: Any, from_account: str, to_account: str, params: dict[str, Any]
    ) -> dict[str, Any]:
        """The body of a transfer between the spot and the margin account. Raises BadRequest for other accounts."""
        source, destination = self.account_named(from_account), self.account_named(to_account)
        if source == destination:
            raise BadRequest(f"{self.id} transfer() moves between spot and margin, not within {source}")
        request = self.amount_request(code, amount, "transfer")
        return request | {"direction": "in" if destination == "margin" else "out"} | params

    def amount_request(self, code: str, amount: Any, method: str) -> dict[str, Any]:
        """`asset` and `amount` of a body, with every digit. Raises ArgumentsRequired without an amount."""
        if amount is None:
            raise ArgumentsRequired(f"{self.id} {method}() requires an amount")
        return {"asset": self.currency(code)["id"], "amount": self.number_to_string(amount)}

    def parse_margin_balance(self, account: dict[str, Any] | None) -> dict[str, Any]:
        """Balances of the margin account, if there is one. `debt` is what is owed, with the interest that is posted."""
        result: dict[str, Any] = {"info": account}
        for row in [] if account is None else account["balances"]:
            entry = self.account()
            entry["free"], entry["total"] = self.safe_string(row, "available"), self.safe_string(row, "total")
            entry["debt"] = Precise.string_add(row["borrowed"], row["interest"])
            result[self.safe_currency_code(row["asset"])] = entry
        return self.safe_balance(result)

    def parse_margin_loan(self, info: Any, currency: Any = None) -> dict[str, Any]:
        """What borrowing or repaying did: `info` is the platform's reply, with the margin account after it."""
        loan_id = self.safe_string(info, "loanId")
        loans = info["account"]["loans"]
        loan = next((loan for loan in loans if loan["loanId"] == loan_id), {})
        timestamp = self.parse8601(self.safe_string(loan, "createdAt"))
        return {
            "id": loan_id,
            "currency": self.safe_currency_code(self.safe_string(loan, "asset"), currency),
            "amount": self.safe_number(loan, "principal"),
            "symbol": None,
            "timestamp": timestamp,
            "datetime": self.iso8601(timestamp),
            "info": info,
        }

    def loans_to_repay(
        self, account: dict[str, Any] | None, asset: str, amount: str | None, loan_id: str | None
    ) -> list[tuple[str, str | None]]:
        """The loans that an amount repays, oldest first, each with its part: None repays the whole debt.

        Raises BadRequest if nothing is owed of this asset.
        """
        loans = [] if account is None else account["loans"]
        loans = [loan for loan in loans if loan["asset"] == asset and loan["status"] == "active"]
        if loan_id is not None:
            loans = [loan for loan in loans if loan["loanId"] == loan_id]
        if not loans:
            raise BadRequest(f"{self.id} repayCrossMargin() found no open loan of {asset} to repay")
        parts: list[tuple[str, str | None]] = []
        for loan in sorted(loans, key=lambda loan: loan["createdAt"]):
            owed = Precise.string_add(loan["outstanding"], loan["interest"])
            if amount is None:
                parts.append((loan["loanId"], None))
            elif Precise.string_gt(amount, "0"):
                # The interest goes on: the platform takes what is owed by then, and no more than this.
                parts.append((loan["loanId"], amount))
                amount = Precise.string_sub(amount, owed)
        return parts

    def lent(self, account: dict[str, Any] | None) -> list[dict[str, Any]]:
        """The loans that the user got. The account lists those that were refused, too."""
        loans = [] if account is None else account["loans"]
        return [loan for loan in loans if loan["status"] not in ("pending", "refused")]

    def parse_borrow_interest(self, info: dict[str, Any], market: Any = None) -> dict[str, Any]:
        """The interest of a loan so far, paid or not. `interestRate` is that of a year."""
        timestamp = self.parse8601(self.safe_string(info, "createdAt"))
        return {
            "info": info,
            "symbol": None,
            "currency": self.safe_currency_code(self.safe_string(info, "asset")),
            "interest": self.parse_number(Precise.string_add(info["interest"], info["interestPaid"])),
            "interestRate": self.safe_number(info, "rate"),
            "amountBorrowed": self.safe_number(info, "principal"),
            "marginMode": "cross",
            "timestamp": timestamp,
            "datetime": self.iso8601(timestamp),
        }
