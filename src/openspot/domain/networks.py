"""The networks over which assets arrive and leave. The configuration file is beside this module."""

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from importlib.resources import files

from openspot.domain.money import parse_decimal

FIAT_FAMILIES = frozenset({"aba", "iban"})
FAMILIES = frozenset({"bitcoin", "ethereum", "solana", "tron", "stellar"}) | FIAT_FAMILIES


@dataclass(frozen=True, slots=True)
class NetworkAsset:
    """One asset on one network. All three figures are in the asset.

    `fee` is what a withdrawal costs; `minimum` is the smallest withdrawal, fee included; `deposit_minimum` is the
    smallest deposit.
    """

    asset: str
    fee: Decimal
    minimum: Decimal
    deposit_minimum: Decimal


@dataclass(frozen=True, slots=True)
class BankAccount:
    """The platform's own account at the bank behind a fiat network."""

    name: str
    account_name: str
    account: str


@dataclass(frozen=True, slots=True)
class Network:
    """A network: the rules for its addresses, the blocks after which a transfer counts, and the assets it carries."""

    name: str
    family: str
    confirmations: int
    takes_tag: bool
    assets: dict[str, NetworkAsset]
    bank: BankAccount | None = None

    @property
    def is_fiat(self) -> bool:
        """Whether money moves between bank accounts, not between addresses of a chain."""
        return self.family in FIAT_FAMILIES


def load_networks(text: str | None = None) -> dict[str, Network]:
    """Parse `text` (TOML), or by default the file of the package. Raises ValueError or KeyError if it is invalid."""
    document = tomllib.loads(text or files("openspot.domain").joinpath("networks.toml").read_text("utf-8"))
    return {name: _network(name, row) for name, row in document["networks"].items()}


def with_listed(
    seed: Mapping[str, Network], added: Iterable[Network], terms: Iterable[tuple[str, NetworkAsset]]
) -> dict[str, Network]:
    """The networks of `seed`, the `added` ones, and on each the coins of `terms`, by its name.

    A network that `seed` has stays as it is there. Terms of a network that nobody has are left out.
    """
    networks = {network.name: network for network in added} | dict(seed)
    networks = {name: networks[name] for name in (*seed, *(name for name in networks if name not in seed))}
    for name, asset in terms:
        if name in networks:
            networks[name] = replace(networks[name], assets={**networks[name].assets, asset.asset: asset})
    return networks


def _network(name: str, row: dict[str, object]) -> Network:
    fields: dict[str, dict[str, str]] = row["assets"]  # type: ignore[assignment]
    assets = {
        asset: NetworkAsset(
            asset,
            parse_decimal(given["fee"]),
            parse_decimal(given["minimum"]),
            parse_decimal(given["deposit_minimum"]),
        )
        for asset, given in fields.items()
    }
    if row["family"] not in FAMILIES:
        raise ValueError(f"{name}: family must be one of {', '.join(sorted(FAMILIES))}")
    for asset in assets.values():
        if not 0 <= asset.fee < asset.minimum:
            raise ValueError(f"{name}: minimum of {asset.asset} must be greater than its fee, which is at least 0")
    bank: dict[str, str] | None = row.get("bank")  # type: ignore[assignment]
    network = Network(
        name,
        str(row["family"]),
        int(str(row["confirmations"])),
        bool(row["tag"]),
        assets,
        BankAccount(**bank) if bank is not None else None,
    )
    if network.is_fiat != (bank is not None):
        raise ValueError(f"{name}: a fiat network needs a bank, and no other network has one")
    return network
