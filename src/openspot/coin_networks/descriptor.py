"""The networks of coins own their tables; REST edge and custody read and write them through this package."""

from openspot.kit.description import Descriptor, Tables

DESCRIPTOR = Descriptor(
    name="coin_networks",
    title="Networks of coins",
    tables=Tables(
        owns=("listed_networks", "listed_network_assets", "transfer_pauses"),
        reads=("custody_addresses", "custody_deposits", "custody_withdrawals"),
    ),
)
