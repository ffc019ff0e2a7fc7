"""Payment sessions and the callbacks that complete them.

A paid payment enters the platform as a deposit of its whole amount into `house:payments`. One transfer then credits the
user with the amount less the fee. Each of the two has a key of its own and is repeated until it is done. So a payment
is credited once, even if processes are killed meanwhile.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta

from openspot.contracts import subjects
from openspot.contracts.messages import DepositConfirmed
from openspot.domain.ids import PAYMENTS_ACCOUNT_ID
from openspot.domain.market import MarketConfiguration
from openspot.domain.money import amount_to_text
from openspot.domain.transfer import Movement, TransferKind
from openspot.engine_transfers.model import Transfer, TransferResult
from openspot.engine_transfers.runner import TransferRunner
from openspot.http.context import IdempotentOperation
from openspot.http.errors import HttpError, service_unavailable, validation_error
from openspot.http.paging import Page, page_of, time_and_id_of, time_place
from openspot.kit.bus import Bus
from openspot.kit.clock import Clock, iso_of, ms_from_datetime, utc_datetime
from openspot.kit.database import Connection
from openspot.kit.log import get_logger
from openspot.kit.sql import numeric
from openspot.rest_edge.common.amounts import amount_of_asset
from openspot.rest_edge.common.payload_digest import is_signed
from openspot.rest_edge.products.known_offers import require_known_offers
from openspot.rest_edge.products.payments.payment_routes import PaymentRoute
from openspot.rest_edge.products.payments.return_urls import is_allowed
from openspot.rest_edge.products.payments.schemas import (
    CallbackBody,
    CallbackResponse,
    PaymentPageResponse,
    PaymentResponse,
    PaymentRouteResponse,
    PaymentSessionResponse,
    SessionBody,
)
from openspot.rest_edge.products.payments.store import DELETED_AT_A_TIME, Payment, PaymentStore

log = get_logger("payments")

SESSION_LIFE = timedelta(hours=24)


class PaymentRules:
    """Handles a payment's transfer. The deposit comes first. Until it covers the credit, the transfer is repeated."""

    is_owed = True

    def __init__(self, store: PaymentStore, bus: Bus) -> None:
        self._store = store
        self._bus = bus

    async def before(self, transfer: Transfer) -> None:
        """Announce the deposit. The router credits it only once, however often it is announced."""
        payment = await self._store.get(transfer.subject_id)
        assert payment is not None and payment.completed_at is not None, "a transfer names a payment that is paid"
        # The transfer's own reference would not do: the engine takes a reference only once, for any purpose.
        reference = f"payment-in:{payment.payment_id}"
        event = DepositConfirmed(
            reference,
            PAYMENTS_ACCOUNT_ID,
            payment.asset,
            amount_to_text(payment.amount),
            timestamp=ms_from_datetime(payment.completed_at),
        )
        await self._bus.publish(subjects.CUSTODY_DEPOSIT_CONFIRMED, event, f"deposit-{reference}")

    async def settle(self, connection: Connection, transfer: Transfer, result: TransferResult, now: datetime) -> None:
        """Write that the user is credited."""
        await self._store.mark_credited(connection, transfer.subject_id)


class PaymentService:
    """Handles the requests to the payment routes. Methods raise HttpError to refuse a request."""

    def __init__(
        self,
        store: PaymentStore,
        runner: TransferRunner,
        routes: Mapping[str, PaymentRoute],
        markets: MarketConfiguration,
        clock: Clock,
        *,
        secret: str,
        return_origins: frozenset[str],
        page_url: str,
        open_max: int,
        kept: timedelta,
    ) -> None:
        """A user may have `open_max` payments that wait for money. Unpaid ones are `kept` after their end."""
        self._store = store
        self._runner = runner
        self._routes = routes
        self._markets = markets
        self._assets = markets.assets
        self._clock = clock
        self._secret = secret
        self._return_origins = return_origins
        self._page_url = page_url
        self._open_max = open_max
        self._kept = kept

    def routes(self) -> list[PaymentRouteResponse]:
        """All payment routes that are offered, by id. 503 while nobody knows what markets offer."""
        require_known_offers(self._markets)
        return [_route_response(route) for _, route in sorted(self._routes.items())]

    def route(self, route_id: str) -> PaymentRouteResponse:
        """One payment route. 404 for an unknown one."""
        return _route_response(self._known(route_id))

    def _known(self, route_id: str) -> PaymentRoute:
        route = self._routes.get(route_id)
        if route is None:
            require_known_offers(self._markets)
            raise HttpError(404, f"payment route {route_id} not found", "PAYMENT_ROUTE_NOT_FOUND")
        return route

    async def open_session(
        self, user_id: str, body: SessionBody, operation: IdempotentOperation
    ) -> PaymentSessionResponse:
        """Open a payment for the user. It has the operation's id. 409 if too many of the user's wait for money."""
        if operation.is_resumed:
            earlier = await self._store.get(operation.operation_id)
            if earlier is not None:
                return self._session_response(earlier)
        route = self._known(body.route_id)
        if body.currency != route.asset:
            raise validation_error([f"currency must be {route.asset} on this route"])
        amount = amount_of_asset("amount", body.amount, self._assets[route.asset])
        if not route.minimum <= amount <= route.maximum:
            bounds = f"{amount_to_text(route.minimum)} and {amount_to_text(route.maximum)} {route.asset}"
            raise validation_error([f"amount must be between {bounds}"])
        if body.return_url is not None and not is_allowed(body.return_url, self._return_origins):
            raise validation_error(["returnUrl must lie at an origin that the platform allows"])
        now = utc_datetime(self._clock)
        payment = Payment(
            payment_id=operation.operation_id,
            user_id=user_id,
            route_id=route.route_id,
            asset=route.asset,
            amount=amount,
            fee=route.fee(amount),
            return_url=body.return_url,
            status="open",
            payment_status="unpaid",
            credited=False,
            created_at=now,
            expires_at=now + SESSION_LIFE,
            completed_at=None,
        )
        first_end = await self._store.add(payment, self._open_max)
        if first_end is not None:
            message = f"{self._open_max} payments of yours wait for money: pay one, or wait until {iso_of(first_end)}"
            raise HttpError(409, message, "TOO_MANY_PAYMENTS")
        return self._session_response(payment)

    async def delete_unpaid(self) -> None:
        """Delete the payments that ended long ago and for which no money arrived. A later callback answers 404."""
        before = utc_datetime(self._clock) - self._kept
        while await self._store.delete_unpaid(before) == DELETED_AT_A_TIME:
            pass

    async def payments(self, user_id: str, limit: int, cursor: str | None) -> Page[PaymentResponse]:
        """A page of the user's payments, newest first."""
        rows = await self._store.list_of(user_id, limit + 1, time_and_id_of(cursor))
        return page_of(rows, limit, lambda row: time_place(row.created_at, row.payment_id), self._response)

    async def payment(self, user_id: str, payment_id: str) -> PaymentResponse:
        """One payment of the user. 404 if this user has no such payment."""
        payment = await self._store.get(payment_id)
        if payment is None or payment.user_id != user_id:
            raise _not_found()
        return self._response(payment)

    async def page(self, payment_id: str) -> PaymentPageResponse:
        """The development provider's view of a payment: only what its payer must know."""
        payment = await self._store.get(payment_id)
        if payment is None:
            raise _not_found()
        return PaymentPageResponse(
            payment_id=payment.payment_id,
            currency=payment.asset,
            amount=amount_to_text(payment.amount),
            status=self._status(payment),
            payment_status=payment.payment_status,
            simulated=True,
        )

    async def take_callback(self, raw: bytes, digest: str | None, body: CallbackBody) -> CallbackResponse:
        """Apply a provider's report on a payment, once. 401 for a wrong signature.

        A payment that was opened before its route was taken back counts as any other.
        The report `paid` counts even after the session has expired or failed, because the money has arrived. It does
        not count for a cancelled payment: its user's account is deleted, and the provider must return the money.
        """
        if not is_signed(self._secret, raw, digest):
            raise HttpError(401, "X-Payload-Digest does not sign this body", "SIGNATURE_INVALID")
        now = utc_datetime(self._clock)
        async with self._store.pool.acquire() as connection, connection.transaction():
            payment = await self._store.lock(connection, body.payment_id)
            if payment is None:
                raise _not_found()
            self._check_amount(payment, body)
            if payment.status == "cancelled" and body.payment_status == "paid":
                log.error("a cancelled payment was paid", payment_id=payment.payment_id)
                raise HttpError(409, "the payment was cancelled: return the money to its payer", "PAYMENT_CANCELLED")
            is_new = await self._store.note_event(
                connection, body.event_id, payment.payment_id, body.payment_status, now
            )
            settled = payment.payment_status in ("paid", body.payment_status) or payment.status == "cancelled"
            if not is_new or settled:
                return CallbackResponse(payment_id=payment.payment_id, repeated=True)
            await self._store.complete(connection, payment.payment_id, body.payment_status, now)
            transfer = credit_of(payment) if body.payment_status == "paid" else None
            if transfer is not None:
                await self._runner.begin(connection, transfer)
        if transfer is not None:
            await self._runner.attempt(transfer)
        return CallbackResponse(payment_id=payment.payment_id, repeated=False)

    def _check_amount(self, payment: Payment, body: CallbackBody) -> None:
        if payment.asset not in self._assets:
            raise service_unavailable(f"the decimal places of {payment.asset} are not known yet")
        if body.currency == payment.asset:
            amount = amount_of_asset("amount", body.amount, self._assets[payment.asset])
            if amount == payment.amount:
                return
        log.error("a callback names another amount than its payment", payment_id=payment.payment_id)
        expected = f"{amount_to_text(payment.amount)} {payment.asset}"
        raise HttpError(409, f"the payment is of {expected}", "AMOUNT_MISMATCH")

    def _status(self, payment: Payment) -> str:
        is_over = payment.status == "open" and utc_datetime(self._clock) >= payment.expires_at
        return "expired" if is_over else payment.status

    def _url_of(self, payment: Payment) -> str:
        return f"{self._page_url}/{payment.payment_id}"

    def _session_response(self, row: Payment) -> PaymentSessionResponse:
        return PaymentSessionResponse(
            id=row.payment_id,
            url=self._url_of(row),
            status=self._status(row),
            payment_status=row.payment_status,
            expires_at=iso_of(row.expires_at),
        )

    def _response(self, row: Payment) -> PaymentResponse:
        return PaymentResponse(
            id=row.payment_id,
            route_id=row.route_id,
            currency=row.asset,
            amount=amount_to_text(row.amount),
            fee=amount_to_text(row.fee),
            net_amount=amount_to_text(row.amount - row.fee),
            status=self._status(row),
            payment_status=row.payment_status,
            credited=row.credited,
            url=self._url_of(row),
            return_url=row.return_url,
            created_at=iso_of(row.created_at),
            expires_at=iso_of(row.expires_at),
            completed_at=None if row.completed_at is None else iso_of(row.completed_at),
        )


def credit_of(payment: Payment) -> Transfer:
    """The transfer that credits a paid payment. The fee stays in the payments account."""
    return Transfer(
        f"payment:{payment.payment_id}",
        TransferKind.PAYMENT,
        payment.payment_id,
        (Movement(PAYMENTS_ACCOUNT_ID, payment.user_id, payment.asset, numeric(payment.amount - payment.fee)),),
    )


def _not_found() -> HttpError:
    return HttpError(404, "payment not found", "PAYMENT_NOT_FOUND")


def _route_response(route: PaymentRoute) -> PaymentRouteResponse:
    return PaymentRouteResponse(
        id=route.route_id,
        name=route.name,
        currency=route.asset,
        provider=route.provider,
        minimum=amount_to_text(route.minimum),
        maximum=amount_to_text(route.maximum),
        fee_bps=route.fee_bps,
        fee_fixed=amount_to_text(route.fee_fixed),
        simulated=route.provider == "development",
    )
