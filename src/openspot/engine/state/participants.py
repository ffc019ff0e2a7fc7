"""Participants: what the engine knows of them beyond their account's number (Document A 2.6), and ended sessions.

This is part of the state machine: it changes by durable commands alone and is in every snapshot, so that a
participant, the hash of its password and a logout outlive any restart.
"""

import struct
from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from openspot.domain.ids import FEE_ACCOUNT_ID
from openspot.domain.order import StpMode
from openspot.domain.result_code import ResultCode
from openspot.engine.core.protocol import FEE_ACCOUNT
from openspot.engine.core.records import COMMAND_SIZE, FLAG_ACTIVE, RESULT_SIZE, CommandKind
from openspot.kit.clock import NANOSECONDS_PER_MS

REVOKE_TOKEN = 201
"""A command of this module alone: a session's token is void from here on. Note: (token id, its expiry in ms). The
core knows no such kind and refuses it as UNSUPPORTED_COMMAND, which changes nothing but its command sequence."""

_MONEY_IN = frozenset({int(CommandKind.DEPOSIT), int(CommandKind.ADJUST)})
_CREATE, _SET = int(CommandKind.CREATE_ACCOUNT), int(CommandKind.SET_ACCOUNT)
_SET_FEES = int(CommandKind.SET_ACCOUNT_FEES)
FOLLOWED_KINDS = frozenset({*_MONEY_IN, _CREATE, _SET, _SET_FEES, REVOKE_TOKEN})
"""Kinds that can change what is kept here."""

TYPE_OF_DEPOSITORS = "BOTH"
"""The type of a participant that came to be by a deposit. It has no password: nobody can log in as it."""
_SUCCESS = int(ResultCode.SUCCESS)
_ACCOUNT_COMMAND = struct.Struct("<BxBBxxxxQ8xQ32x")
"""Of a command: kind, order_type (an account's STP mode), flags, timestamp, account."""
assert _ACCOUNT_COMMAND.size == COMMAND_SIZE


class Profile(msgspec.Struct, array_like=True, frozen=True):
    """A participant. `active` and `stp_mode` are the core's, kept here too so that lists need no call an account.

    Without a `password_hash` nobody can log in. Tokens issued before `sessions_from_ms` are void: a deactivation
    ends all sessions. Times are milliseconds since 1970.
    """

    name: str
    type: str
    password_hash: str
    created_ms: int
    active: bool = True
    stp_mode: int = int(StpMode.NONE)
    sessions_from_ms: int = 0


class ParticipantAccount(NamedTuple):
    """A participant that exists."""

    number: int
    profile: Profile


class _Snapshot(msgspec.Struct, frozen=True):
    profiles: list[tuple[int, Profile]]
    own_fees: list[int]
    revoked: list[tuple[str, int]]


class Participants:
    """Profiles by account number, in the order in which the accounts came to be, and revoked tokens."""

    def __init__(self) -> None:
        self.profiles: dict[int, Profile] = {FEE_ACCOUNT: Profile(FEE_ACCOUNT_ID, "SYSTEM", "", 0, active=False)}
        self.active_count = 0
        self.own_fees: set[int] = set()
        """Accounts that are charged fees of their own instead of the symbols'."""
        self._revoked: dict[str, int] = {}
        # Token id → the time in ms at which the token would have expired anyway.

    def is_revoked(self, token_id: str) -> bool:
        """Whether the session of a token that has not expired was ended by a logout."""
        return token_id in self._revoked

    def follow(self, commands: bytes, notes: Sequence[Sequence[str]], results: bytes) -> None:
        """Follow durable commands of any kind that the core has answered with `results`."""
        # The low byte of a result is enough to tell SUCCESS from the rest (metrics.py asserts it).
        codes = results[::RESULT_SIZE]
        for (kind, stp_mode, flags, time_ns, account), note, code in zip(
            _ACCOUNT_COMMAND.iter_unpack(commands), notes, codes, strict=True
        ):
            time_ms = time_ns // NANOSECONDS_PER_MS
            if kind == REVOKE_TOKEN:
                self._revoke(note[0], int(note[1]), time_ms)
            elif code != _SUCCESS:
                continue
            elif kind in _MONEY_IN:
                if account not in self.profiles:
                    self._add(account, Profile("", TYPE_OF_DEPOSITORS, "", time_ms))
            elif kind == _CREATE:
                _, name, participant_type, password_hash = note
                active = bool(flags & FLAG_ACTIVE)
                self._add(account, Profile(name, participant_type, password_hash, time_ms, active, stp_mode))
            elif kind == _SET:
                self._set(account, active=bool(flags & FLAG_ACTIVE), stp_mode=stp_mode, time_ms=time_ms)
            elif kind == _SET_FEES:
                (self.own_fees.add if flags & FLAG_ACTIVE else self.own_fees.discard)(account)

    def _add(self, account: int, profile: Profile) -> None:
        self.profiles[account] = profile
        self.active_count += profile.active

    def _set(self, account: int, *, active: bool, stp_mode: int, time_ms: int) -> None:
        known = self.profiles[account]
        self.active_count += active - known.active
        # What is issued within this millisecond is void too: the next one begins new sessions.
        sessions_from_ms = known.sessions_from_ms if active else time_ms + 1
        self.profiles[account] = msgspec.structs.replace(
            known, active=active, stp_mode=stp_mode, sessions_from_ms=sessions_from_ms
        )

    def _revoke(self, token_id: str, expires_ms: int, time_ms: int) -> None:
        # Tokens live equally long, so the oldest entries expire first.
        while self._revoked and next(iter(self._revoked.values())) <= time_ms:
            del self._revoked[next(iter(self._revoked))]
        self._revoked[token_id] = expires_ms

    def snapshot(self) -> bytes:
        """The state as bytes: equal states, equal bytes."""
        return msgspec.msgpack.encode(
            _Snapshot(list(self.profiles.items()), sorted(self.own_fees), list(self._revoked.items()))
        )

    def restore(self, snapshot: bytes) -> None:
        """Replace the state. Raises ValueError on anything but a whole snapshot."""
        try:
            content = msgspec.msgpack.decode(snapshot, type=_Snapshot)
        except msgspec.MsgspecError as error:
            raise ValueError(f"not a snapshot of the participants: {error}") from error
        self.profiles = dict(content.profiles)
        self.active_count = sum(profile.active for profile in self.profiles.values())
        self.own_fees = set(content.own_fees)
        self._revoked = dict(content.revoked)
