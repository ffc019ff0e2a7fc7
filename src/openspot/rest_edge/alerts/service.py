"""Price alerts as users make them."""

import os
from collections.abc import Awaitable, Callable
from dataclasses import replace
from decimal import Decimal
from typing import Any

from openspot.domain.ids import short_id
from openspot.domain.money import decimal_to_text
from openspot.http.errors import HttpError, validation_error
from openspot.kit.clock import DateClock, iso_of, utc_now
from openspot.rest_edge.alerts.rules import Definition, faults_of, state_of
from openspot.rest_edge.alerts.schemas import PriceAlert, PriceAlertBody, PriceAlertChangeBody
from openspot.rest_edge.alerts.store import Alert, AlertStore, Bounds, TooManyAlertsError
from openspot.rest_edge.common.plan_limits import PRICE_ALERTS, PlanLimits

ALERT_ID_LENGTH = 16


class AlertService:
    """Handles the requests to the routes of alerts. Methods raise HttpError to refuse a request.

    `plans` knows how many alerts a user may have; `bounds` holds where it does not. `require_market` raises HttpError
    for a market that does not exist.
    """

    def __init__(
        self,
        store: AlertStore,
        bounds: Bounds,
        plans: PlanLimits,
        require_market: Callable[[str], Awaitable[object]],
        now: DateClock = utc_now,
    ) -> None:
        self._store = store
        self._bounds = bounds
        self._plans = plans
        self._require_market = require_market
        self._now = now

    async def all_of(self, user_id: str) -> list[PriceAlert]:
        """The user's alerts, newest first."""
        return [self._shown(alert) for alert in await self._store.all_of(user_id)]

    async def add(self, user_id: str, body: PriceAlertBody) -> PriceAlert:
        """Add an alert. It counts prices from now on, also if the price is there already."""
        definition = Definition(
            symbol=body.symbol,
            source=body.source,
            direction=body.direction,
            price=Decimal(body.price),
            note=body.note,
            repeat=body.repeat,
            rearm_distance=_decimal(body.rearm_distance),
            interval_s=body.minimum_interval_seconds,
        )
        _check(definition)
        await self._require_market(body.symbol)
        alert_id = short_id(os.urandom(ALERT_ID_LENGTH), ALERT_ID_LENGTH)
        of_user = await self._plans.of_user(user_id, PRICE_ALERTS, self._bounds.of_user)
        bounds = Bounds(of_user, self._bounds.of_all)
        try:
            alert = await self._store.add(alert_id, user_id, definition, self._now(), bounds)
        except TooManyAlertsError as error:
            if error.of_user:
                message = f"you may have at most {of_user} price alerts: delete one, or choose a plan with more"
                raise HttpError(409, message, "TOO_MANY_ALERTS") from None
            raise HttpError(503, "the platform takes no more price alerts at this moment", "ALERTS_FULL") from None
        return self._shown(alert)

    async def change(self, user_id: str, alert_id: str, body: PriceAlertChangeBody) -> PriceAlert:
        """Change an alert. It is armed again unless only its note changes."""

        def change(alert: Alert) -> tuple[Definition, bool]:
            before = alert.definition
            definition = replace(before, **_changes(body))
            _check(definition)
            return definition, body.armed is not None or definition.condition() != before.condition()

        changed = await self._store.change(user_id, alert_id, change)
        if changed is None:
            raise _not_found(alert_id)
        return self._shown(changed)

    async def delete(self, user_id: str, alert_id: str) -> None:
        """Delete an alert."""
        if not await self._store.delete(user_id, alert_id):
            raise _not_found(alert_id)

    def _shown(self, alert: Alert) -> PriceAlert:
        definition = alert.definition
        return PriceAlert(
            id=alert.alert_id,
            symbol=definition.symbol,
            source=definition.source.value,
            direction=definition.direction.value,
            price=decimal_to_text(definition.price),
            note=definition.note,
            repeat=definition.repeat,
            rearm_distance=None if definition.rearm_distance is None else decimal_to_text(definition.rearm_distance),
            minimum_interval_seconds=definition.interval_s,
            state=state_of(definition, alert.progress, self._now()).value,
            times_fired=alert.times_fired,
            fired_at=None if alert.fired_at is None else iso_of(alert.fired_at),
            fired_price=None if alert.fired_price is None else decimal_to_text(alert.fired_price),
            created_at=iso_of(alert.created_at),
        )


def _changes(body: PriceAlertChangeBody) -> dict[str, Any]:
    """The parts of a definition that the body gives."""
    given = {
        "source": body.source,
        "direction": body.direction,
        "price": _decimal(body.price),
        "note": body.note,
        "repeat": body.repeat,
        "rearm_distance": _decimal(body.rearm_distance),
        "interval_s": body.minimum_interval_seconds,
    }
    named = {"minimum_interval_seconds": "interval_s"}
    fields = {named.get(name, name) for name in body.model_fields_set}
    return {name: value for name, value in given.items() if name in fields}


def _decimal(text: str | None) -> Decimal | None:
    return None if text is None else Decimal(text)


def _check(definition: Definition) -> None:
    faults = faults_of(definition)
    if faults:
        raise validation_error(faults)


def _not_found(alert_id: str) -> HttpError:
    return HttpError(404, f"price alert {alert_id} not found", "ALERT_NOT_FOUND")
