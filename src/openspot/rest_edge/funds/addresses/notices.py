"""What the owner of an account is told of a saved withdrawal address: its waiting time warns nobody else. Pure."""

from openspot.kit.clock import iso_of
from openspot.rest_edge.funds.addresses.store import SavedAddress
from openspot.rest_edge.identity.activity.log import CHANGE_TITLE, ActivityNotice

_KIND = "withdrawal_address.changed"


def address_saved(saved: SavedAddress) -> ActivityNotice:
    """The notice of a new address: where money can go, and from when on."""
    lines = [
        *_lines("A withdrawal address was saved", saved),
        f"Withdrawals can go there from {iso_of(saved.available_at)} on. If you do not know it, delete it on the page "
        "of withdrawals.",
    ]
    return ActivityNotice(_KIND, CHANGE_TITLE, "\n".join(lines))


def address_deleted(deleted: SavedAddress) -> ActivityNotice:
    """The notice of a deleted address."""
    return ActivityNotice(_KIND, CHANGE_TITLE, "\n".join(_lines("A withdrawal address was deleted", deleted)))


def _lines(what: str, saved: SavedAddress) -> list[str]:
    line = f"{what}, for {saved.asset} on {saved.network}: {saved.address}"
    return [line] if saved.tag is None else [line, f"Tag of the address: {saved.tag}"]
