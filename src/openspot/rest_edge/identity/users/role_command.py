"""The commands `openspot users …`: they make a user an administrator, and end that.

They write to the database of the running platform, and tell its services over the bus which sessions have ended.
"""

import getpass
import os
from datetime import timedelta

from openspot.domain.ids import short_id
from openspot.http.audit import AuditRecord
from openspot.kit.clock import utc_now
from openspot.kit.database import Pool, pool_of_command
from openspot.rest_edge.identity.activity.log import ActivityLog
from openspot.rest_edge.identity.sessions.ending_command import UntoldError, tell_ended
from openspot.rest_edge.identity.users.roles import Role, RoleChange, Roles, UserWithRole
from openspot.rest_edge.mail.outbox import Outbox
from openspot.rest_edge.notifications.store import NotificationStore
from openspot.rest_edge.push.queue import PushQueue
from openspot.rest_edge.settings import RestEdgeSettings


class RoleError(Exception):
    """A command was not carried out, or not wholly. The message says what holds now, and what to do."""


async def users_with(settings: RestEdgeSettings, role: Role | None) -> list[UserWithRole]:
    """The users with a role, or all of them. Raises RoleError."""
    async with pool_of_command(settings, RoleError) as pool:
        return await _roles(pool, settings).list(role)


async def change_role(settings: RestEdgeSettings, user: str, role: Role) -> str:
    """Give a user the role, and return a line to print. Raises RoleError."""
    async with pool_of_command(settings, RoleError, "; look with `openspot users list`") as pool:
        change = await _roles(pool, settings).change(user.lower() if "@" in user else user, role, _record)
    if change is None:
        raise RoleError(f"USER: nobody is registered as {user}")
    await _tell(settings, change)
    has_already = "" if change.is_new else " already"
    if role is Role.ADMIN:
        return f"{change.email} ({change.user_id}) is an administrator{has_already}, from the next login or refresh on"
    return f"{change.email} ({change.user_id}) is no administrator{has_already}; all sessions have ended"


def _roles(pool: Pool, settings: RestEdgeSettings) -> Roles:
    outbox, pushes = Outbox(pool, settings.mail_queue_max), PushQueue(pool, settings.push_queue_max)
    activity = ActivityLog(pool, NotificationStore(pool, outbox, pushes))
    return Roles(pool, activity, timedelta(seconds=settings.ended_session_life_s))


def _record(change: RoleChange) -> AuditRecord:
    """The command, and the account of the machine that ran it. The user's id is enough: addresses are personal."""
    command = "promote" if change.role is Role.ADMIN else "demote"
    what = f"openspot users {command} {change.user_id} by {getpass.getuser()}"
    return AuditRecord(short_id(os.urandom(16)), None, "COMMAND", what, 200, "", 0.0, utc_now())


async def _tell(settings: RestEdgeSettings, change: RoleChange) -> None:
    """Tell every service that the sessions have ended."""
    try:
        await tell_ended(settings, change.ended)
    except UntoldError as error:
        raise RoleError(
            f"{change.email} is no administrator, but the bus does not answer: access tokens that are out keep the "
            f"role for up to {settings.ended_session_life_s} s. Run the command again when it does ({error})"
        ) from error
