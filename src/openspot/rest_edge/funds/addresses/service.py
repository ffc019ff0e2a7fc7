"""Saved withdrawal addresses. A new one waits before it can be used, so that a thief cannot use it at once."""

import os
from collections.abc import Mapping
from datetime import timedelta

from openspot.domain.ids import short_id
from openspot.domain.networks import Network
from openspot.http.ended_sessions import SessionOverError
from openspot.http.errors import HttpError, validation_error
from openspot.kit.clock import Clock, iso_of, utc_datetime
from openspot.kit.database import Connection
from openspot.rest_edge.common.plan_limits import SAVED_ADDRESSES, PlanLimits
from openspot.rest_edge.funds.addresses.notices import address_deleted, address_saved
from openspot.rest_edge.funds.addresses.schemas import (
    BeneficiaryResponse,
    WithdrawalAddressBody,
    WithdrawalAddressResponse,
)
from openspot.rest_edge.funds.addresses.store import SavedAddress, WithdrawalAddressStore
from openspot.rest_edge.funds.custody.client import CustodyClient
from openspot.rest_edge.identity.activity.log import ActivityKind, ActivityLog, Origin
from openspot.rest_edge.identity.second_factor.code_check import SecondFactor

ADDRESSES_MAX = 100
ADDRESS_ID_LENGTH = 16


class WithdrawalAddressService:
    """Handles the requests to the routes of saved addresses. Methods raise HttpError to refuse a request."""

    def __init__(
        self,
        store: WithdrawalAddressStore,
        custody: CustodyClient,
        second_factor: SecondFactor,
        activity: ActivityLog,
        networks: Mapping[str, Network],
        plans: PlanLimits,
        wait: timedelta,
        clock: Clock,
    ) -> None:
        self._store = store
        self._custody = custody
        self._second_factor = second_factor
        self._activity = activity
        self._networks = networks
        self._plans = plans
        self._wait = wait
        self._clock = clock

    async def all_of(self, user_id: str) -> list[WithdrawalAddressResponse]:
        """The user's addresses, the oldest first."""
        return [_response(saved) for saved in await self._store.all_of(user_id)]

    async def add(
        self, user_id: str, body: WithdrawalAddressBody, origin: Origin, session_id: str = ""
    ) -> WithdrawalAddressResponse:
        """Save an address that is valid on its network, and tell the user of it by security mail.

        An address that is saved already keeps its waiting time, and is not told again. 401 if the session that asks has
        ended meanwhile.
        """
        network = self._networks.get(body.network)
        if network is None or body.asset not in network.assets:
            fitting = [name for name, known in self._networks.items() if body.asset in known.assets]
            raise validation_error(
                [f"network must be one of {', '.join(fitting)} for {body.asset}"]
                if fitting
                else [f"asset {body.asset} cannot be withdrawn"]
            )
        if not body.is_own and body.beneficiary is None:
            raise validation_error(["beneficiary is required for an address that is not your own"])
        address = await self._custody.check_address(body.asset, body.network, body.address, body.tag)
        await self._second_factor.require(user_id, body.mfa_code)
        now = utc_datetime(self._clock)
        beneficiary = body.beneficiary
        new = SavedAddress(
            address_id=short_id(os.urandom(ADDRESS_ID_LENGTH), ADDRESS_ID_LENGTH),
            label=body.label,
            asset=body.asset,
            network=body.network,
            address=address,
            tag=body.tag,
            is_own=body.is_own,
            beneficiary_name=beneficiary.name if beneficiary else None,
            beneficiary_country=beneficiary.country if beneficiary else None,
            beneficiary_vasp_id=beneficiary.vasp_id if beneficiary else None,
            available_at=now + self._wait,
            created_at=now,
        )
        addresses_max = await self._plans.of_user(user_id, SAVED_ADDRESSES, ADDRESSES_MAX)

        async def record(connection: Connection, saved: SavedAddress) -> None:
            await self._activity.record(
                user_id,
                ActivityKind.WITHDRAWAL_ADDRESS_SAVED,
                origin,
                connection,
                notice=address_saved(saved),
            )

        try:
            address_id = await self._store.add(user_id, new, addresses_max, record, session_id)
        except SessionOverError as error:
            raise HttpError(401, "the session has ended") from error
        if address_id is None:
            message = f"you may have at most {addresses_max} saved addresses: delete one, or choose a plan with more"
            raise HttpError(409, message, "TOO_MANY_ADDRESSES")
        if address_id != new.address_id:
            raise HttpError(409, "the address is saved already", "ADDRESS_EXISTS", details={"id": address_id})
        return _response(new)

    async def delete(self, user_id: str, address_id: str, origin: Origin) -> None:
        """Delete an address, and tell the user of it by security mail. Withdrawals under way to it go on."""

        async def record(connection: Connection, deleted: SavedAddress) -> None:
            await self._activity.record(
                user_id,
                ActivityKind.WITHDRAWAL_ADDRESS_DELETED,
                origin,
                connection,
                notice=address_deleted(deleted),
            )

        if not await self._store.delete(user_id, address_id, record):
            raise HttpError(404, f"address {address_id} not found", "ADDRESS_NOT_FOUND")


def _response(saved: SavedAddress) -> WithdrawalAddressResponse:
    beneficiary = None
    if saved.beneficiary_name is not None and saved.beneficiary_country is not None:
        beneficiary = BeneficiaryResponse(
            name=saved.beneficiary_name, country=saved.beneficiary_country, vasp_id=saved.beneficiary_vasp_id
        )
    return WithdrawalAddressResponse(
        id=saved.address_id,
        label=saved.label,
        asset=saved.asset,
        network=saved.network,
        address=saved.address,
        tag=saved.tag,
        is_own=saved.is_own,
        beneficiary=beneficiary,
        available_at=iso_of(saved.available_at),
        created_at=iso_of(saved.created_at),
        simulated=True,
    )
