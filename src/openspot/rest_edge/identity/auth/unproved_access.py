"""What an account loses when a reset of its password is the first proof of its address.

Anybody can register an address that is not theirs, and leave a way in before the owner comes: an API key, a saved
withdrawal address, a second factor that only they have, an anti-phishing code for forged mails. Who resets the password
of an address that was never proved reads its mail, and need not be who registered it. So all of these go. Who proves
the address by the link of the first mail is the one who registered, and keeps everything. An operator keeps the factor.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from openspot.http.api_keys.store import Ended
from openspot.kit.database import Connection
from openspot.kit.sql import rows_changed
from openspot.rest_edge.identity.activity.log import ActivityKind, ActivityLog, Origin
from openspot.rest_edge.identity.second_factor.store import remove_any_factor


@dataclass(frozen=True, slots=True)
class UnprovedAccess:
    """Removes the ways into an account. The first and the last are called within a transaction.

    `revoke_keys` revokes all API keys of a user and returns them, `announce_keys` ends them in every process after the
    commit, and `delete_addresses` deletes the saved withdrawal addresses and returns their number.
    """

    revoke_keys: Callable[[Connection, str], Awaitable[Sequence[Ended]]]
    announce_keys: Callable[[Sequence[Ended]], Awaitable[None]]
    delete_addresses: Callable[[Connection, str], Awaitable[int]]

    async def remove(
        self, connection: Connection, user_id: str, activity: ActivityLog, origin: Origin
    ) -> Sequence[Ended]:
        """Remove them if nobody has proved the user's address yet. Returns the keys, for `announce_keys`.

        The user is told of each kind that was there. The transaction has locked the user's row to change it.
        """
        query = "SELECT TRUE FROM users WHERE user_id = $1 AND email_verified_at IS NULL"
        if not await connection.fetchval(query, user_id):
            return ()
        keys = await self.revoke_keys(connection, user_id)
        addresses = await self.delete_addresses(connection, user_id)
        # Who has the mailbox alone does not become an operator: earlier releases gave roles without a proof, too.
        has_roles = await connection.fetchval("SELECT EXISTS (SELECT FROM operator_roles WHERE user_id = $1)", user_id)
        had_factor = False if has_roles else await remove_any_factor(connection, user_id)
        code = await connection.execute(
            "UPDATE users SET anti_phishing_code = NULL WHERE user_id = $1 AND anti_phishing_code IS NOT NULL", user_id
        )
        for kind, was_there in (
            (ActivityKind.UNPROVED_API_KEYS_REVOKED, keys),
            (ActivityKind.UNPROVED_ADDRESSES_DELETED, addresses),
            (ActivityKind.UNPROVED_MFA_REMOVED, had_factor),
            (ActivityKind.UNPROVED_ANTI_PHISHING_CODE_REMOVED, rows_changed(code)),
        ):
            if was_there:
                await activity.record(user_id, kind, origin, connection)
        return keys
