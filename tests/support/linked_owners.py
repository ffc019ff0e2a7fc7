"""The owners that SET_OWNER commands make, counted apart from the cores: the auditors compare the cores with it."""

from openspot.engine.core.records import Command


class LinkedOwners:
    """The links by account, and the owner of every account by them."""

    def __init__(self) -> None:
        self.links: dict[int, int] = {}

    def take(self, command: Command) -> None:
        """Count an accepted SET_OWNER."""
        if command.order_id:
            self.links[command.account] = command.order_id
        else:
            self.links.pop(command.account, None)

    def owner_of(self, account: int) -> int:
        """The number of a margin account names its user's spot account, which may be linked."""
        spot_account = account // 2**32 or account
        return self.links.get(spot_account, spot_account)
