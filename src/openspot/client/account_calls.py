"""The calls about balances, deposits and withdrawals."""

from datetime import datetime

from openspot.client.calls import Calls, Done, Number, exact, given, milliseconds, segment
from openspot.client.gen.records import (
    Balance,
    BankDetails,
    Beneficiary,
    Deposit,
    DepositAddress,
    PortfolioPoint,
    PortfolioReturn,
    Transaction,
    Withdrawal,
    WithdrawalAddress,
)
from openspot.client.records import Page


class AccountCalls(Calls):
    """Balances, ledger entries, deposits, withdrawals and their addresses."""

    async def balances(self) -> list[Balance]:
        """The user's balances."""
        return await self._call("GET", "/accounts/balances", list[Balance])

    async def balance(self, asset: str) -> Balance:
        """The user's balance of one asset."""
        return await self._call("GET", f"/accounts/balances/{segment(asset)}", Balance)

    async def transactions(
        self,
        *,
        asset: str | None = None,
        entry_type: str | None = None,
        limit: int = 100,
        cursor: str | None = None,
    ) -> Page[Transaction]:
        """The user's ledger entries, newest first, of one asset or all, of one type (`deposit`, `trade` …) or all."""
        query = {"asset": asset, "type": entry_type, "limit": limit, "cursor": cursor}
        return await self._page("/accounts/transactions", Transaction, query)

    async def portfolio_history(
        self, *, interval: str = "1d", since: datetime | None = None, until: datetime | None = None
    ) -> list[PortfolioPoint]:
        """The user's holdings over time and their value in USD, oldest first. Intervals are 1h, 1d and 1w."""
        query = {
            "interval": interval,
            "from": milliseconds(since, "since"),
            "to": milliseconds(until, "until"),
        }
        return await self._call("GET", "/accounts/portfolio-history", list[PortfolioPoint], query=query)

    async def portfolio_return(self, *, period: str = "month") -> PortfolioReturn:
        """What the user gained in USD without what was paid in and out. Periods are day, week, month, year and all."""
        return await self._call("GET", "/accounts/portfolio-return", PortfolioReturn, query={"period": period})

    # Deposits

    async def deposit_address(self, asset: str, *, network: str | None = None) -> DepositAddress:
        """The user's deposit address of an asset; it is assigned at the first request."""
        query = {"asset": asset, "network": network}
        return await self._call("GET", "/accounts/deposit-address", DepositAddress, query=query)

    async def deposit_bank_details(self, currency: str) -> BankDetails:
        """The bank account for the user's deposits of a currency."""
        return await self._call("GET", "/accounts/deposit-fiat-info", BankDetails, query={"currency": currency})

    async def deposits(self, *, asset: str | None = None, limit: int = 100, cursor: str | None = None) -> Page[Deposit]:
        """The user's deposits, newest first, of one asset or all."""
        query = {"asset": asset, "limit": limit, "cursor": cursor}
        return await self._page("/accounts/deposits", Deposit, query)

    # Withdrawals

    async def withdraw_crypto(
        self,
        asset: str,
        amount: Number,
        address_id: str,
        *,
        network: str | None = None,
        fee_quote_id: str | None = None,
        client_withdrawal_id: str | None = None,
        mfa_code: str | None = None,
        idempotency_key: str | None = None,
    ) -> Withdrawal:
        """Withdraw to a saved address. With an `idempotency_key` a repeated call does not withdraw twice."""
        body = {
            "asset": asset,
            "network": network,
            "amount": exact(amount, "amount"),
            "addressId": address_id,
            "feeQuoteId": fee_quote_id,
            "clientWithdrawalId": client_withdrawal_id,
            "mfaCode": mfa_code,
        }
        return await self._call(
            "POST", "/accounts/withdraw/crypto", Withdrawal, body=given(body), idempotency_key=idempotency_key
        )

    async def withdraw_fiat(
        self,
        currency: str,
        amount: Number,
        bank_account_id: str,
        *,
        client_withdrawal_id: str | None = None,
        mfa_code: str | None = None,
        idempotency_key: str | None = None,
    ) -> Withdrawal:
        """Withdraw to a saved bank account. With an `idempotency_key` a repeated call does not withdraw twice."""
        body = {
            "currency": currency,
            "amount": exact(amount, "amount"),
            "bankAccountId": bank_account_id,
            "clientWithdrawalId": client_withdrawal_id,
            "mfaCode": mfa_code,
        }
        return await self._call(
            "POST", "/accounts/withdraw/fiat", Withdrawal, body=given(body), idempotency_key=idempotency_key
        )

    async def withdrawals(
        self, *, asset: str | None = None, status: str | None = None, limit: int = 100, cursor: str | None = None
    ) -> Page[Withdrawal]:
        """The user's withdrawals, newest first."""
        query = {"asset": asset, "status": status, "limit": limit, "cursor": cursor}
        return await self._page("/accounts/withdrawals", Withdrawal, query)

    async def withdrawal(self, withdrawal_id: str) -> Withdrawal:
        """One withdrawal. Raises ApiError 404 if this user has no such withdrawal."""
        return await self._call("GET", f"/accounts/withdrawals/{segment(withdrawal_id)}", Withdrawal)

    async def cancel_withdrawal(self, withdrawal_id: str) -> Withdrawal:
        """Cancel a withdrawal. Raises ApiError 409 if it is approved already."""
        return await self._call("DELETE", f"/accounts/withdrawals/{segment(withdrawal_id)}", Withdrawal)

    async def withdrawal_addresses(self) -> list[WithdrawalAddress]:
        """The user's saved withdrawal addresses, oldest first."""
        return await self._call("GET", "/users/me/withdrawal-addresses", list[WithdrawalAddress])

    async def save_withdrawal_address(
        self,
        label: str,
        asset: str,
        network: str,
        address: str,
        *,
        tag: str | None = None,
        is_own: bool = True,
        beneficiary: Beneficiary | None = None,
        mfa_code: str | None = None,
        idempotency_key: str | None = None,
    ) -> WithdrawalAddress:
        """Save a withdrawal address. Without `is_own` it needs a `beneficiary`."""
        body = {
            "label": label,
            "asset": asset,
            "network": network,
            "address": address,
            "tag": tag,
            "isOwn": is_own,
            "beneficiary": beneficiary,
            "mfaCode": mfa_code,
        }
        return await self._call(
            "POST", "/users/me/withdrawal-addresses", WithdrawalAddress, body=given(body),
            idempotency_key=idempotency_key,
        )  # fmt: skip

    async def delete_withdrawal_address(self, address_id: str) -> None:
        """Delete a saved withdrawal address."""
        await self._call("DELETE", f"/users/me/withdrawal-addresses/{segment(address_id)}", Done)
