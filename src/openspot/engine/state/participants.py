"""Participant profiles (facts A2.6-01 to A2.6-09) and revoked session tokens.

Part of the state machine: only durable commands change it, and every snapshot contains it. So participants, their
password hashes and logouts survive a restart.
"""

import struct
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

import msgspec

from openspot.domain.ids import FEE_ACCOUNT_ID
from openspot.domain.order import StpMode
from openspot.domain.result_code import ResultCode
from openspot.engine.core.protocol import FEE_ACCOUNT
from openspot.engine.core.records import COMMAND_SIZE, FLAG_ACTIVE, RESULT_SIZE, CommandKind
from openspot.kit.clock import NANOSECONDS_PER_MS

REVOKE_TOKEN = 201
"""Revokes a session token. Only this module knows this kind: the core refuses it with UNSUPPORTED_COMMAND and advances
its command sequence."""

FREEZE_NOTE = "frozen"
"""The last text of the note of a SET_ACCOUNT that leaves a participant frozen."""
_MONEY_IN = frozenset({int(CommandKind.DEPOSIT), int(CommandKind.ADJUST)})
_CREATE, _SET = int(CommandKind.CREATE_ACCOUNT), int(CommandKind.SET_ACCOUNT)
_SET_FEES = int(CommandKind.SET_ACCOUNT_FEES)
_TRANSFER = int(CommandKind.TRANSFER)
FOLLOWED_KINDS = frozenset({*_MONEY_IN, _CREATE, _SET, _SET_FEES, _TRANSFER, REVOKE_TOKEN})
"""Kinds that can change the state of this module."""

TYPE_OF_DEPOSITORS = "BOTH"
"""Type of a participant that a deposit or transfer created. It has no password, so nobody can log in as it."""
_SUCCESS = int(ResultCode.SUCCESS)
_ACCOUNT_COMMAND = struct.Struct("<BxBBxxxxQ8xQ32x")
"""Fields of a command: kind, order_type (the STP mode of an account), flags, timestamp, account."""
assert _ACCOUNT_COMMAND.size == COMMAND_SIZE


class ParticipantProfile(msgspec.Struct, array_like=True, frozen=True):
    """A participant. Times are milliseconds since 1970.

    `active` and `stp_mode` repeat the core's, so that listing participants needs no core call for each. Nobody can
    log in while `password_hash` is empty. Tokens issued before `sessions_from_ms` are void, because deactivation
    ends all sessions. One that is `frozen` is inactive, and an operator may end that.
    """

    name: str
    type: str
    password_hash: str
    created_ms: int
    active: bool = True
    stp_mode: int = int(StpMode.NONE)
    sessions_from_ms: int = 0
    frozen: bool = False


class ParticipantAccount(NamedTuple):
    """A participant that exists."""

    number: int
    profile: ParticipantProfile


class _Snapshot(msgspec.Struct, frozen=True):
    profiles: list[tuple[int, ParticipantProfile]]
    own_fees: list[int]
    revoked: list[tuple[str, int]]


class Participants:
    """Profiles by account number in order of creation, and revoked tokens."""

    def __init__(self) -> None:
        self.profiles: dict[int, ParticipantProfile] = {
            FEE_ACCOUNT: ParticipantProfile(FEE_ACCOUNT_ID, "SYSTEM", "", 0, active=False)
        }
        self.active_count = 0
        self.own_fees: set[int] = set()
        """Accounts that pay their own fees instead of the symbol's."""
        self._revoked: dict[str, int] = {}
        """Expiry of each revoked token in milliseconds, by token id."""

    def is_revoked(self, token_id: str) -> bool:
        """Whether a logout revoked the token. May be false for an expired token, because those are forgotten."""
        return token_id in self._revoked

    def follow(
        self,
        commands: bytes,
        notes: Sequence[Sequence[str]],
        results: bytes,
        receivers: Mapping[int, Sequence[int]] = MappingProxyType({}),
    ) -> None:
        """Apply durable commands; only FOLLOWED_KINDS change anything.

        `results` are the core's result records. `receivers` are the accounts that each TRANSFER has credited, by the
        place of the TRANSFER in `commands`.
        """
        # The low byte of a result identifies its code; metrics.py asserts that.
        codes = results[::RESULT_SIZE]
        for place, ((kind, stp_mode, flags, time_ns, account), note, code) in enumerate(
            zip(_ACCOUNT_COMMAND.iter_unpack(commands), notes, codes, strict=True)
        ):
            time_ms = time_ns // NANOSECONDS_PER_MS
            if kind == REVOKE_TOKEN:
                self._revoke(note[0], int(note[1]), time_ms)
            elif code != _SUCCESS:
                continue
            elif kind in _MONEY_IN:
                self._add_depositor(account, time_ms)
            elif kind == _TRANSFER:
                for receiver in receivers.get(place, ()):
                    self._add_depositor(receiver, time_ms)
            elif kind == _CREATE:
                _, name, participant_type, password_hash = note
                active = bool(flags & FLAG_ACTIVE)
                self._add(account, ParticipantProfile(name, participant_type, password_hash, time_ms, active, stp_mode))
            elif kind == _SET:
                active, frozen = bool(flags & FLAG_ACTIVE), FREEZE_NOTE in note[1:]
                self._set(account, active=active, frozen=frozen, stp_mode=stp_mode, time_ms=time_ms)
            elif kind == _SET_FEES:
                (self.own_fees.add if flags & FLAG_ACTIVE else self.own_fees.discard)(account)

    def _add_depositor(self, account: int, time_ms: int) -> None:
        if account not in self.profiles:
            self._add(account, ParticipantProfile("", TYPE_OF_DEPOSITORS, "", time_ms))

    def _add(self, account: int, profile: ParticipantProfile) -> None:
        self.profiles[account] = profile
        self.active_count += profile.active

    def _set(self, account: int, *, active: bool, frozen: bool, stp_mode: int, time_ms: int) -> None:
        known = self.profiles[account]
        self.active_count += active - known.active
        # Tokens issued in this same millisecond are void too.
        sessions_from_ms = known.sessions_from_ms if active else time_ms + 1
        self.profiles[account] = msgspec.structs.replace(
            known, active=active, frozen=frozen, stp_mode=stp_mode, sessions_from_ms=sessions_from_ms
        )

    def _revoke(self, token_id: str, expires_ms: int, time_ms: int) -> None:
        # All tokens have the same lifetime, so the oldest entries expire first.
        while self._revoked and next(iter(self._revoked.values())) <= time_ms:
            del self._revoked[next(iter(self._revoked))]
        self._revoked[token_id] = expires_ms

    def snapshot(self) -> bytes:
        """The state as bytes: equal states give equal bytes."""
        return msgspec.msgpack.encode(
            _Snapshot(list(self.profiles.items()), sorted(self.own_fees), list(self._revoked.items()))
        )

    def restore(self, snapshot: bytes) -> None:
        """Replace the state. Raises ValueError unless `snapshot` is complete."""
        try:
            content = msgspec.msgpack.decode(snapshot, type=_Snapshot)
        except msgspec.MsgspecError as error:
            raise ValueError(f"not a snapshot of the participants: {error}") from error
        self.profiles = dict(content.profiles)
        self.active_count = sum(profile.active for profile in self.profiles.values())
        self.own_fees = set(content.own_fees)
        self._revoked = dict(content.revoked)
