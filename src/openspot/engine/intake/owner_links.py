"""Turns the links of users into what each account's owner is. Rules without IO.

The core knows one step only: account and owner. So chains of links are resolved here: of all accounts that belong
together, the one that was created first is the owner of the others.

A stray margin account is one whose number does not name its user's spot account, because an older version made it or
it came before the spot account. Its user is the owner by such a link, too, whether an operator links the user or not.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple, Protocol

from openspot.domain.accounts import MARGIN_PREFIX
from openspot.domain.ids import HOUSE_PREFIX, PARTICIPANT_ID_TEXT
from openspot.domain.owners import LINKS_MAX, Owners
from openspot.domain.result_code import ResultCode
from openspot.engine.core.protocol import OwnerLink
from openspot.engine.intake.refusal import IntakeRefusal


class LinkRequest(Protocol):
    """The fields of exchange.v1.OwnerLink."""

    @property
    def first_participant_id(self) -> str: ...

    @property
    def second_participant_id(self) -> str: ...


class OwnerChange(NamedTuple):
    """A change that a SET_OWNER makes. The owner is 0 where an account is its own owner again."""

    account: int
    owner: int


def checked_owners(links: Sequence[LinkRequest]) -> Owners:
    """The owners by a whole list of links. Raises IntakeRefusal, whose message begins with the name of the field."""
    if len(links) > LINKS_MAX:
        raise _refusal(f"links: must be at most {LINKS_MAX}")
    pairs: list[tuple[str, str]] = []
    for place, link in enumerate(links):
        first, second = link.first_participant_id, link.second_participant_id
        for field, user in (("first_participant_id", first), ("second_participant_id", second)):
            if not PARTICIPANT_ID_TEXT.fullmatch(user) or user.startswith((HOUSE_PREFIX, MARGIN_PREFIX)):
                raise _refusal(
                    f"links[{place}].{field}: must be the id of a user, 1 to 64 letters, digits or _ : -, "
                    f"without {HOUSE_PREFIX} or {MARGIN_PREFIX} in front"
                )
        if first == second:
            raise _refusal(f"links[{place}].second_participant_id: must be another user than first_participant_id")
        pairs.append((first, second))
    return Owners(pairs)


def owner_changes(
    owners: Owners,
    account_of: Callable[[str], int],
    strays: Mapping[str, Sequence[str]],
    present: Iterable[OwnerLink],
) -> list[OwnerChange]:
    """What to change so that the core's links say what `owners` say.

    `account_of` finds the account of a participant, 0 if the core knows none. `strays` are the stray margin accounts of
    each user that has any. `present` are the core's links. Users whom the core does not know join others all the same:
    if A is linked with B, and B with C, A and C are one owner.
    """
    groups = owners.groups()
    linked = {user for users in groups for user in users}
    groups += [[user] for user in strays if user not in linked]
    wanted: dict[int, int] = {}
    for users in groups:
        names = (name for user in users for name in (user, *strays.get(user, ())))
        first, *others = sorted(number for name in names if (number := account_of(name))) or [0]
        wanted |= dict.fromkeys(others, first)
    known = {link.account: link.owner for link in present}
    ended = [OwnerChange(account, 0) for account in known if account not in wanted]
    return ended + [OwnerChange(*pair) for pair in wanted.items() if known.get(pair[0]) != pair[1]]


def _refusal(message: str) -> IntakeRefusal:
    return IntakeRefusal(ResultCode.AUTH_INVALID_USER, message)
