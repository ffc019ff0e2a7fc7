"""Verification: a user's level limits withdrawals (settings). The provider's signed events raise and lower it."""

import os
from dataclasses import replace

from openspot.domain.ids import short_id
from openspot.http.errors import HttpError, service_unavailable, validation_error
from openspot.kit.clock import Clock, iso_of, utc_datetime
from openspot.kit.log import get_logger
from openspot.rest_edge.common.payload_digest import is_signed
from openspot.rest_edge.funds.kyc.provider import Provider
from openspot.rest_edge.funds.kyc.rules import AGE_MIN, OPEN_STATES, KycLevel, KycState, Standing, is_of_age
from openspot.rest_edge.funds.kyc.schemas import (
    LEVELS,
    NAMES,
    BasicInformationBody,
    KycEventBody,
    KycSessionResponse,
    KycStatusResponse,
    StartBody,
)
from openspot.rest_edge.funds.kyc.store import BasicInformation, KycProfile, KycStore

log = get_logger("kyc")

REFERENCE_LENGTH = 20
EARLIEST_BIRTH_YEAR = 1900


class KycService:
    """Handles the requests to the routes of verification. Methods raise HttpError to refuse a request."""

    def __init__(
        self,
        store: KycStore,
        provider: Provider | None,
        webhook_secret: str,
        limits: tuple[int, int, int],
        clock: Clock,
    ) -> None:
        self._store = store
        self._provider = provider
        self._secret = webhook_secret
        self._limits = limits
        self._clock = clock

    async def seal_clear_information(self) -> None:
        """Seal the information that an earlier version stored in clear."""
        while sealed := await self._store.seal_clear_information():
            log.info("information sealed that was kept in clear", users=sealed)

    async def level(self, user_id: str) -> int:
        """The user's level: 0 none, 1 basic, 2 verified."""
        return (await self._store.get(user_id)).standing.level

    async def status(self, user_id: str) -> KycStatusResponse:
        """The state of the user's verification."""
        return await self._described(user_id, await self._store.get(user_id))

    async def give_basic_information(self, user_id: str, body: BasicInformationBody) -> KycStatusResponse:
        """Store the information; the level becomes basic. 409 if the provider has verified or rejected the user."""
        now = utc_datetime(self._clock)
        if body.date_of_birth.year < EARLIEST_BIRTH_YEAR or not is_of_age(body.date_of_birth, now.date()):
            raise validation_error([f"dateOfBirth must be at least {AGE_MIN} years ago and not before 1900"])

        def change(profile: KycProfile) -> KycProfile:
            _check_open(profile.standing)
            standing = replace(
                profile.standing, level=max(profile.standing.level, KycLevel.BASIC), has_basic_information=True
            )
            return replace(profile, standing=standing, updated_at=now)

        information = BasicInformation(
            body.first_name, body.last_name, body.date_of_birth, body.country, body.city, body.street, body.postal_code
        )
        return await self._described(user_id, await self._store.change(user_id, change, now, information))

    async def start(self, user_id: str, body: StartBody) -> KycSessionResponse:
        """Begin the provider's check. While it runs, another call returns the same session."""
        if self._provider is None:
            raise service_unavailable("no provider of verification is set up", "KYC_PROVIDER_UNAVAILABLE")
        now, wanted = utc_datetime(self._clock), LEVELS[body.level]
        reference = short_id(os.urandom(REFERENCE_LENGTH), REFERENCE_LENGTH)

        def change(profile: KycProfile) -> KycProfile:
            standing = profile.standing
            if standing.status in OPEN_STATES and profile.provider_reference is not None:
                return profile
            if not standing.has_basic_information:
                raise HttpError(409, "give your basic information first", "KYC_BASIC_INFO_REQUIRED")
            _check_open(standing)
            # The time of the newest event stays, so that an older event cannot decide the new check.
            return KycProfile(replace(standing, status=KycState.PENDING), wanted, reference, now)

        profile = await self._store.change(user_id, change, now)
        assert profile.provider_reference is not None, "a check that has begun has a reference"
        session = await self._provider.start(user_id, wanted, profile.provider_reference)
        return KycSessionResponse(
            reference=session.reference,
            provider=self._provider.name,
            status=profile.standing.status.value,
            level=NAMES[wanted],
            url=session.url,
            instructions=session.instructions,
        )

    def check_signature(self, body: bytes, digest: str | None) -> None:
        """Raise HttpError (401) unless the provider has signed `body`."""
        # Blanks around the digest do not matter here. The callback of payments refuses them.
        if not is_signed(self._secret, body, (digest or "").strip()):
            raise HttpError(401, "X-Payload-Digest is missing or wrong", "SIGNATURE_INVALID")

    async def take_event(self, event: KycEventBody) -> bool:
        """Apply an event with a right signature. False if it changes nothing."""
        applied = await self._store.take_event(event.event_id, event.user_id, event.review(), utc_datetime(self._clock))
        log.info("verification event", event_id=event.event_id, user_id=event.user_id, applied=applied)
        return applied

    async def _described(self, user_id: str, profile: KycProfile) -> KycStatusResponse:
        standing, own = profile.standing, await self._store.own_withdrawal_limit(user_id)
        updated = profile.updated_at
        return KycStatusResponse(
            level=NAMES[standing.level],
            status=standing.status.value,
            requested_level=None if profile.requested_level is None else NAMES[profile.requested_level],
            has_basic_information=standing.has_basic_information,
            daily_withdrawal_limit=str(self._limits[standing.level] if own is None else own),
            updated_at=None if updated is None else iso_of(updated),
        )


def _check_open(standing: Standing) -> None:
    """Raise HttpError (409) if the verification is decided."""
    if standing.status is KycState.REJECTED:
        raise HttpError(409, "the verification was refused for good", "KYC_REJECTED")
    if standing.level is KycLevel.VERIFIED:
        raise HttpError(409, "you are verified already", "KYC_ALREADY_VERIFIED")
