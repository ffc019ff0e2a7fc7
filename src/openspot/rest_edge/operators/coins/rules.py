"""What the terms of a coin on a network must be. Pure."""

from collections.abc import Mapping
from decimal import Decimal

from openspot.domain.market import AssetScale
from openspot.domain.money import MoneyError, to_scaled
from openspot.domain.networks import Network, NetworkAsset
from openspot.rest_edge.operators.coins.schemas import CoinNetworkBody

NETWORKS_MAX = 200
"""The platform has at most this many networks."""


def terms_of(asset: AssetScale, body: CoinNetworkBody) -> tuple[NetworkAsset, list[str]]:
    """The terms that a body gives a coin, and what is wrong with them."""
    fields = {
        "withdrawalFee": Decimal(body.withdrawal_fee),
        "withdrawalMinimum": Decimal(body.withdrawal_minimum),
        "depositMinimum": Decimal(body.deposit_minimum),
    }
    faults = []
    for name, value in fields.items():
        try:
            to_scaled(value, 10**asset.places)
        except MoneyError as error:
            faults.append(f"{name} {error}")
    fee, minimum, deposit_minimum = fields.values()
    if minimum <= fee:
        faults.append("withdrawalMinimum must be greater than withdrawalFee")
    return NetworkAsset(asset.asset, fee, minimum, deposit_minimum), faults


def network_of(
    name: str, body: CoinNetworkBody, known: Mapping[str, Network], seed: Mapping[str, Network]
) -> tuple[Network | None, list[str]]:
    """The network that has to be written, None if it stays as it is, and what is wrong.

    The address form and the tag of a known network stay: its addresses were handed out. What `seed` has stays whole.
    """
    before = known.get(name)
    if before is None:
        return _new(name, body, known)
    if before.is_fiat:
        return None, [f"network {name} moves money between banks: its terms are fixed"]
    faults = []
    if body.address_form not in (None, before.family):
        faults.append(f"addressForm of {name} is {before.family} and cannot change")
    if body.takes_tag not in (None, before.takes_tag):
        faults.append(f"takesTag of {name} is {str(before.takes_tag).lower()} and cannot change")
    if body.confirmations in (None, before.confirmations):
        return None, faults
    if name in seed:
        return None, [*faults, f"confirmations of {name} are {before.confirmations} and cannot change"]
    return Network(name, before.family, body.confirmations or 0, before.takes_tag, {}), faults


def _new(name: str, body: CoinNetworkBody, known: Mapping[str, Network]) -> tuple[Network | None, list[str]]:
    faults = [
        f"{field} is needed: the network {name} is new"
        for field, value in (("addressForm", body.address_form), ("confirmations", body.confirmations))
        if value is None
    ]
    if len(known) >= NETWORKS_MAX:
        faults.append(f"network: the platform has {NETWORKS_MAX} already, which is the most")
    if body.takes_tag and body.address_form != "stellar":
        faults.append("takesTag must be false: addresses of this form take no tag")
    if faults or body.address_form is None or body.confirmations is None:
        return None, faults
    return Network(name, body.address_form, body.confirmations, body.takes_tag or False, {}), []
