"""Bodies of the saved withdrawal addresses."""

from typing import Annotated

from pydantic import Field, StringConstraints

from openspot.contracts.messages.message import TimeText
from openspot.http.validation import Body, Currency, PrintableText, ResponseBody, example

ADDRESS_ID_PATTERN = r"^[A-Za-z0-9]{16}$"

Network = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9-]{1,31}$"), Field(examples=["bitcoin"])]
Label = Annotated[
    str, StringConstraints(strip_whitespace=True, min_length=1, max_length=64, pattern=r"^[^\x00-\x1f\x7f]+$")
]
Country = Annotated[str, StringConstraints(pattern=r"^[A-Z]{2}$"), Field(examples=["DE"])]


class Beneficiary(Body):
    """The person who receives the money, for the travel rule. `vaspId` names the beneficiary's exchange."""

    name: Label
    country: Country
    vasp_id: Annotated[str | None, StringConstraints(max_length=64), PrintableText] = None


class WithdrawalAddressBody(Body):
    """An address to save. `tag` is the memo of networks that have one; `isOwn` says that it is the caller's."""

    model_config = example(
        {
            "label": "My wallet",
            "asset": "BTC",
            "network": "bitcoin",
            "address": "tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx",
            "isOwn": True,
        }
    )

    label: Label
    asset: Currency
    network: Network
    address: Annotated[str, StringConstraints(min_length=1, max_length=128), PrintableText]
    tag: Annotated[str | None, StringConstraints(max_length=28), PrintableText] = None
    is_own: bool = True
    beneficiary: Beneficiary | None = None
    mfa_code: Annotated[str | None, StringConstraints(max_length=64), Field(repr=False)] = None


class BeneficiaryResponse(ResponseBody):
    """The person who receives the money."""

    name: str
    country: str
    vasp_id: str | None


class WithdrawalAddressResponse(ResponseBody):
    """A saved address, in the form in which it is stored. It can be used from `availableAt` on (ISO 8601 in UTC)."""

    id: str
    label: str
    asset: str
    network: str
    address: str
    tag: str | None
    is_own: bool
    beneficiary: BeneficiaryResponse | None
    available_at: TimeText
    created_at: TimeText
    simulated: bool


class DeletedResponse(ResponseBody):
    """The address is deleted."""

    success: bool
