"""Who is one owner: users whom an operator has linked. Rules without IO.

The owner of an account is that of its user (`domain.accounts.user_of_account`).
"""

from collections import defaultdict
from collections.abc import Iterable

LINKS_MAX = 10_000
"""Links that may count at a time, at most."""


class Owners:
    """The owners as of one moment. It never changes, so that whoever caches by it compares by identity.

    `links` are pairs of users. Links join transitively: if A is linked with B, and B with C, all three are one owner.
    """

    def __init__(self, links: Iterable[tuple[str, str]] = ()) -> None:
        parents: dict[str, str] = {}
        for one, other in links:
            first, second = sorted((_root(parents, one), _root(parents, other)))
            if first != second:
                parents[second] = first
        self._owners = {user: _root(parents, user) for user in parents}

    def of_user(self, user_id: str) -> str:
        """The owner's name: the first of its users by id."""
        return self._owners.get(user_id, user_id)

    def groups(self) -> list[list[str]]:
        """The users of each owner who has more than one."""
        users: defaultdict[str, list[str]] = defaultdict(list)
        for user, owner in self._owners.items():
            users[owner].append(user)
        return [[owner, *others] for owner, others in users.items()]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Owners) and self._owners == other._owners

    def __hash__(self) -> int:
        return hash(frozenset(self._owners.items()))


def _root(parents: dict[str, str], user: str) -> str:
    """The first user of the group. Shortens the way there, or a long chain would cost the square of its length."""
    while (parent := parents.get(user)) is not None:
        parents[user] = parents.get(parent, parent)
        user = parent
    return user
