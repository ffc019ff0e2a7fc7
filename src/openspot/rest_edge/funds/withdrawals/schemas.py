"""Request and response bodies of deposits and withdrawals."""

from typing import Annotated

from pydantic import Field, StringConstraints

from openspot.contracts.messages import Message
from openspot.contracts.messages.message import DecimalText, TimeText, listed
from openspot.http.validation import Body, Currency, ExactPositiveDecimal, PrintableText, ResponseBody, example


class DepositAddressResponse(ResponseBody):
    """A deposit address of the caller, the same at every request.

    A deposit counts after `confirmations` blocks if it is at least `minimum`. If the address is `simulated`, never send
    real money to it. While deposits are not enabled, what comes counts when the operators end the pause.
    """

    asset: str
    network: str
    address: str
    tag: str | None
    confirmations: int
    minimum: DecimalText
    simulated: bool
    deposits_enabled: bool


class DepositFiatInfo(ResponseBody):
    """The bank account for a transfer. `reference` names the caller and must be in the transfer's text."""

    currency: str
    network: str
    bank_name: str
    account_name: str
    account: str
    reference: str
    minimum: DecimalText
    simulated: bool


ClientWithdrawalId = Annotated[
    str | None, StringConstraints(pattern=r"^[A-Za-z0-9_-]{1,64}$"), Field(examples=["payout-2026-11"])
]
MfaCode = Annotated[str | None, StringConstraints(max_length=64), Field(repr=False, examples=["123456"])]
AddressId = Annotated[str, StringConstraints(min_length=1, max_length=64), PrintableText]


class CryptoWithdrawalBody(Body):
    """A withdrawal to a saved address. `amount` leaves the account; the fee is taken from it.

    `mfaCode` is required if a second factor is on. A repeated `clientWithdrawalId` does not withdraw twice.
    """

    model_config = example(
        {"asset": "BTC", "network": "bitcoin", "amount": "0.05", "addressId": "Xr7mGk2pQwHb4TnC", "mfaCode": "123456"}
    )

    asset: Currency
    network: Annotated[str | None, StringConstraints(max_length=32), PrintableText] = None
    amount: ExactPositiveDecimal
    address_id: AddressId
    fee_quote_id: Annotated[str | None, StringConstraints(max_length=128), PrintableText] = None
    client_withdrawal_id: ClientWithdrawalId = None
    mfa_code: MfaCode = None


class FiatWithdrawalBody(Body):
    """A withdrawal to a saved bank account, which is an address saved for a fiat network."""

    model_config = example(
        {"currency": "USD", "amount": "250", "bankAccountId": "Xr7mGk2pQwHb4TnC", "mfaCode": "123456"}
    )

    currency: Currency
    amount: ExactPositiveDecimal
    bank_account_id: AddressId
    client_withdrawal_id: ClientWithdrawalId = None
    mfa_code: MfaCode = None


class Deposit(Message, frozen=True):
    """A deposit. It counts once it is `confirmed`. Times are in UTC.

    One that is `waiting` is there, and counts when operators end the pause of such deposits.

    One that came by bank has no `address`. One that the operator booked has no `network` either.
    """

    tx_hash: str
    asset: str
    network: str
    address: str
    amount: DecimalText
    status: Annotated[str, listed("pending", "waiting", "confirmed")]
    required_confirmations: int
    created_at: TimeText
    confirmed_at: TimeText | None
