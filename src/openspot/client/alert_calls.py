"""The calls about price alerts."""

from openspot.client.calls import Calls, Done, Number, exact, given, segment
from openspot.client.gen.records import PriceAlert


class AlertCalls(Calls):
    """Price alerts: what the user wants to be told of the price of a market."""

    async def price_alerts(self) -> list[PriceAlert]:
        """The user's price alerts, newest first."""
        return await self._call("GET", "/alerts", list[PriceAlert])

    async def add_price_alert(
        self,
        symbol: str,
        direction: str,
        price: Number,
        *,
        source: str | None = None,
        note: str | None = None,
        repeat: bool = False,
        rearm_distance: Number | None = None,
        minimum_interval_seconds: int | None = None,
        idempotency_key: str | None = None,
    ) -> PriceAlert:
        """Be told when a price is at or `above`, or at or `below`, `price`. Raises ApiError 409 at the bound of alerts.

        `source` is last_trade, which is taken if none is given, or fair_price. An alert with `repeat` has a
        `rearm_distance` in the quote currency, a `minimum_interval_seconds` of at least 60, or both.
        """
        body = {
            "symbol": symbol,
            "direction": direction,
            "price": exact(price, "price"),
            "source": source,
            "note": note,
            "repeat": repeat,
            "rearmDistance": exact(rearm_distance, "rearm_distance"),
            "minimumIntervalSeconds": minimum_interval_seconds,
        }
        return await self._call("POST", "/alerts", PriceAlert, body=given(body), idempotency_key=idempotency_key)

    async def change_price_alert(
        self,
        alert_id: str,
        *,
        direction: str | None = None,
        price: Number | None = None,
        source: str | None = None,
        note: str | None = None,
        repeat: bool | None = None,
        rearm_distance: Number | None = None,
        minimum_interval_seconds: int | None = None,
        arm: bool = False,
        remove_note: bool = False,
        remove_rearm_distance: bool = False,
        remove_minimum_interval: bool = False,
    ) -> PriceAlert:
        """Change what is given, and remove what is said. The alert is armed again unless only its note changes.

        `arm` arms it without a change. Raises ApiError 404 for an alert that the user does not have.
        """
        body = {
            "direction": direction,
            "price": exact(price, "price"),
            "source": source,
            "note": note,
            "repeat": repeat,
            "rearmDistance": exact(rearm_distance, "rearm_distance"),
            "minimumIntervalSeconds": minimum_interval_seconds,
            "armed": True if arm else None,
        }
        removed = {
            "note": remove_note,
            "rearmDistance": remove_rearm_distance,
            "minimumIntervalSeconds": remove_minimum_interval,
        }
        changes = given(body) | {name: None for name, is_removed in removed.items() if is_removed}
        return await self._call("PATCH", f"/alerts/{segment(alert_id)}", PriceAlert, body=changes)

    async def delete_price_alert(self, alert_id: str) -> None:
        """Delete a price alert."""
        await self._call("DELETE", f"/alerts/{segment(alert_id)}", Done)
