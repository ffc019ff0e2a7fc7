"""Changes that operators make to participants and balances. Each is a durable command.

All methods raise FieldError if a field is refused, and IntakeRefusal or EngineStoppedError if the engine accepts no
command.
"""

import asyncio

from openspot.domain.ids import FEE_ACCOUNT_ID, HOUSE_PREFIX
from openspot.domain.money import amount_to_text, decimal_to_text, to_amount
from openspot.domain.order import StpMode
from openspot.domain.result_code import ResultCode
from openspot.engine.admin import fields
from openspot.engine.admin.acting import Acting
from openspot.engine.admin.authority import AdminSession, Authority
from openspot.engine.admin.errors import FieldError
from openspot.engine.admin.freezing import freeze_fault, state_of
from openspot.engine.core.records import FLAG_ACTIVE, Command, CommandKind, decode_results
from openspot.engine.engine import Engine
from openspot.engine.state.directory import UNKNOWN_ACCOUNT, Note
from openspot.engine.state.participants import FREEZE_NOTE, ParticipantAccount, ParticipantProfile
from openspot.engine.transport.account_service import money_result
from openspot.engine_client.participant_schemas import ACTIVE, FROZEN, INACTIVE
from openspot.http.errors import HttpError

_ADJUSTMENT_FAULTS = {
    ResultCode.INVALID_AMOUNT: "amount is too large",
    ResultCode.RISK_NSF: "amount is more than the participant's free funds",
}


class ParticipantChanges:
    """The participants and balances of one engine."""

    def __init__(self, engine: Engine, authority: Authority) -> None:
        self._engine = engine
        self._directory = engine.machine.directory
        self._authority = authority
        self._turn = asyncio.Lock()

    def known(self, participant_id: str) -> ParticipantAccount:
        """The account and profile of a participant. Raises FieldError if it does not exist."""
        found = self._authority.find(fields.participant_id(participant_id))
        if found is None:
            raise FieldError(f"participantId: there is no {participant_id}")
        return found

    # Participants

    async def create(
        self,
        participant_id: str,
        password: str,
        name: str,
        participant_type: str,
        stp_mode: str,
        acting: Acting,
    ) -> None:
        """Create an active participant that can log in."""
        fields.participant_id(participant_id)
        fields.new_password(password)
        name = fields.name(name, participant_id)
        fields.one_of("type", participant_type, fields.PARTICIPANT_TYPES)
        mode = fields.stp_mode(stp_mode)
        taken = FieldError(f"participantId: {participant_id} already exists")
        if self._authority.find(participant_id) is not None:
            raise taken
        if participant_id.startswith(HOUSE_PREFIX):
            raise FieldError(f"participantId: must not begin with {HOUSE_PREFIX}, which marks the house's own accounts")
        password_hash = await self._authority.passwords.hash(password)
        outcome = await self._engine.intake.create_account(
            (participant_id, name, participant_type, password_hash),
            Command(CommandKind.CREATE_ACCOUNT, order_type=mode, flags=FLAG_ACTIVE),
            # The name may be a person's: it is not in the note.
            acting.note(
                "participants.create",
                ("participant", participant_id),
                {},
                {"type": participant_type, "stpMode": mode.name, "active": True},
            ),
        )
        result = next(decode_results(outcome.results))
        if result.code == ResultCode.ACCOUNT_ALREADY_EXISTS:
            raise taken
        assert result.code == ResultCode.SUCCESS, "all other rules were checked"

    async def set_active(self, participant_id: str, active: bool, by: AdminSession, acting: Acting) -> None:
        """Activate or deactivate a participant.

        An inactive one cannot place orders or log in; its open orders stay (facts B4.4-45 to B4.4-47).
        """
        self.known(participant_id)
        if not active and participant_id == by.participant_id:
            # This guarantees that one active administrator remains.
            raise FieldError("participantId: a session cannot deactivate its own participant")
        await self._set(participant_id, by, acting, active=active)

    async def set_stp_mode(self, participant_id: str, stp_mode: str, by: AdminSession, acting: Acting) -> None:
        """Set the self-trade prevention mode for future orders of a participant."""
        self.known(participant_id)
        await self._set(participant_id, by, acting, mode=fields.stp_mode(stp_mode))

    async def set_frozen(self, participant_id: str, acting: Acting, reason: str, *, frozen: bool) -> ParticipantProfile:
        """Freeze a participant, or end that. Returns its profile afterwards. Freezing twice changes nothing.

        A frozen one is inactive as a deactivated one is, but an operator may end it. Raises FieldError for an unknown
        participant, HttpError (409 `PARTICIPANT_NOT_FREEZABLE`, `PARTICIPANT_INACTIVE`, `PARTICIPANT_NOT_FROZEN`).
        """
        async with self._turn:
            await self._engine.sequencer.settle()
            account, profile = self.known(participant_id)
            if fault := freeze_fault(participant_id, profile):
                raise HttpError(409, f"participantId: {participant_id} {fault}", "PARTICIPANT_NOT_FREEZABLE")
            if profile.frozen == frozen:
                if frozen:
                    return profile
                message = f"participantId: {participant_id} is {state_of(profile)}, and not frozen"
                raise HttpError(409, message, "PARTICIPANT_NOT_FROZEN")
            if frozen and not profile.active:
                message = f"participantId: {participant_id} is inactive already, by an administrator of the engine"
                raise HttpError(409, message, "PARTICIPANT_INACTIVE")
            states = ({"state": ACTIVE}, {"state": FROZEN})
            before, after = states if frozen else reversed(states)
            verb, subject = "freeze" if frozen else "unfreeze", ("participant", participant_id)
            action = acting.note(f"participants.{verb}", subject, before, after, reason)
            mode = StpMode(profile.stp_mode)
            await self._submit(participant_id, account, action, active=not frozen, frozen=frozen, mode=mode)
            return self.known(participant_id).profile

    async def _set(
        self,
        participant_id: str,
        by: AdminSession,
        acting: Acting,
        *,
        active: bool | None = None,
        mode: StpMode | None = None,
    ) -> None:
        if participant_id == FEE_ACCOUNT_ID:
            raise FieldError(f"participantId: {FEE_ACCOUNT_ID} is the fee account and cannot be changed")
        async with self._turn:
            # The command sets both properties, so earlier changes must be applied first, even if their caller is gone.
            await self._engine.sequencer.settle()
            self._authority.check_still_active(by)
            account, profile = self.known(participant_id)
            verb, before, after = _change(profile, active, mode)
            action = acting.note(f"participants.{verb}", ("participant", participant_id), before, after)
            await self._submit(
                participant_id,
                account,
                action,
                active=profile.active if active is None else active,
                # What an administrator activates or deactivates is no operator's freeze any more.
                frozen=profile.frozen if active is None else False,
                mode=StpMode(profile.stp_mode) if mode is None else mode,
            )

    async def _submit(
        self, participant_id: str, account: int, action: Note, *, active: bool, frozen: bool, mode: StpMode
    ) -> None:
        flags = FLAG_ACTIVE if active else 0
        command = Command(CommandKind.SET_ACCOUNT, account=account, flags=flags, order_type=mode)
        note = (participant_id, FREEZE_NOTE) if frozen else (participant_id,)
        outcome = await self._engine.intake.submit(command, note, action)
        result = next(decode_results(outcome.results))
        assert result.code == ResultCode.SUCCESS, "the participant exists and is not the fee account"

    # Balances

    async def adjust(self, participant_id: str, currency: str, amount: str, adjustment: str, acting: Acting) -> None:
        """Add to a balance or subtract from it (facts B4.4-54 to B4.4-56). Adding creates a missing account.

        It changes the engine only, not the ledger (fact A1.5-12). The `code` of the FieldError is the result code.
        """
        fields.participant_id(participant_id)
        value = fields.positive_amount(amount)
        if fields.one_of("type", adjustment, fields.ADJUSTMENT_TYPES) == "WITHDRAW":
            if self._directory.account(participant_id) == UNKNOWN_ACCOUNT:
                raise FieldError(f"participantId: there is no {participant_id}", ResultCode.RISK_NSF)
            value = -value
        if currency not in self._directory.currencies:
            raise FieldError("currency: Unknown currency", ResultCode.INVALID_CURRENCY)
        text = decimal_to_text(value)
        before, after = self._totals(participant_id, currency, to_amount(value))
        action = acting.note(
            "balances.adjust",
            ("participant", participant_id),
            {"total": before},
            {"total": after, "amount": text, "currency": currency},
        )
        code = (
            await money_result(
                self._engine.money_intake.change_balance(CommandKind.ADJUST, participant_id, currency, text, "", action)
            )
        ).code
        if code is not ResultCode.SUCCESS:
            raise FieldError(_ADJUSTMENT_FAULTS.get(code, code.name), code)

    def _totals(self, participant_id: str, currency: str, change: int) -> tuple[str, str]:
        """A total now, and after the change. What others submitted a moment ago may still be missing in both."""
        account, number = self._directory.account(participant_id), self._directory.currencies[currency].currency_id
        known = [] if account == UNKNOWN_ACCOUNT else self._engine.machine.core.balances(account)
        total = sum(balance.total for balance in known if balance.currency == number)
        return amount_to_text(total), amount_to_text(total + change)


def _change(
    profile: ParticipantProfile, active: bool | None, mode: StpMode | None
) -> tuple[str, dict[str, object], dict[str, object]]:
    """What a change is called, and the property that it sets, before and after."""
    if mode is not None:
        return "stp_mode", {"stpMode": StpMode(profile.stp_mode).name}, {"stpMode": mode.name}
    # Of a frozen one, an activation ends the freeze, and a deactivation takes it out of the operators' hands.
    before: dict[str, object] = {"state": state_of(profile)}
    return ("activate", before, {"state": ACTIVE}) if active else ("deactivate", before, {"state": INACTIVE})
