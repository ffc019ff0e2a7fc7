"""The calls about conversions, staking, payments, fees and proofs of reserves."""

from openspot.client.calls import Calls, Number, exact, given, segment
from openspot.client.gen.records import (
    Conversion,
    ConversionPair,
    ConversionQuote,
    NetworkFee,
    NetworkFeeQuote,
    Payment,
    PaymentFee,
    PaymentRoute,
    PaymentSession,
    ReserveProof,
    ReserveStatement,
    Stake,
    StakingEvent,
    StakingProduct,
    TradingFees,
    Unstake,
)
from openspot.client.records import Page


class FundsCalls(Calls):
    """Conversions, staking, payments, fees."""

    # Conversions

    async def conversion_pairs(self) -> list[ConversionPair]:
        """The pairs of assets that can be converted."""
        return await self._call("GET", "/conversions/pairs", list[ConversionPair])

    async def quote_conversion(
        self,
        from_asset: str,
        to_asset: str,
        *,
        from_amount: Number | None = None,
        to_amount: Number | None = None,
    ) -> ConversionQuote:
        """Get the price of a conversion for its whole amount. Pass one of the two amounts."""
        body = {
            "fromAsset": from_asset,
            "toAsset": to_asset,
            "fromAmount": exact(from_amount, "from_amount"),
            "toAmount": exact(to_amount, "to_amount"),
        }
        return await self._call("POST", "/conversions/quote", ConversionQuote, body=given(body))

    async def convert(self, quote_id: str, *, idempotency_key: str | None = None) -> Conversion:
        """Execute a quote. A repeated call returns the same conversion."""
        return await self._call(
            "POST", "/conversions", Conversion, body={"quoteId": quote_id}, idempotency_key=idempotency_key
        )

    async def conversions(self, *, limit: int = 100, cursor: str | None = None) -> Page[Conversion]:
        """The user's conversions, newest first."""
        return await self._page("/conversions", Conversion, {"limit": limit, "cursor": cursor})

    async def conversion(self, conversion_id: str) -> Conversion:
        """One of the user's conversions."""
        return await self._call("GET", f"/conversions/{segment(conversion_id)}", Conversion)

    # Staking

    async def staking_products(self) -> list[StakingProduct]:
        """Staking products."""
        return await self._call("GET", "/staking/products", list[StakingProduct])

    async def staking_product(self, product_id: str) -> StakingProduct:
        """One staking product."""
        return await self._call("GET", f"/staking/products/{segment(product_id)}", StakingProduct)

    async def stake(self, product_id: str, amount: Number, *, idempotency_key: str | None = None) -> Stake:
        """Stake an amount."""
        body = {"productId": product_id, "amount": exact(amount, "amount")}
        return await self._call("POST", "/staking/stake", Stake, body=body, idempotency_key=idempotency_key)

    async def unstake(
        self, stake_id: str, *, amount: Number | None = None, idempotency_key: str | None = None
    ) -> Unstake:
        """Take back a stake, or an `amount` of a flexible one."""
        body = {"balanceId": stake_id, "amount": exact(amount, "amount")}
        return await self._call("POST", "/staking/unstake", Unstake, body=given(body), idempotency_key=idempotency_key)

    async def stakes(self, *, limit: int = 100, cursor: str | None = None) -> Page[Stake]:
        """The user's stakes, newest first."""
        return await self._page("/staking/balances", Stake, {"limit": limit, "cursor": cursor})

    async def stake_status(self, stake_id: str) -> Stake:
        """One of the user's stakes."""
        return await self._call("GET", f"/staking/balances/{segment(stake_id)}", Stake)

    async def staking_history(self, *, limit: int = 100, cursor: str | None = None) -> Page[StakingEvent]:
        """The user's stakes, rewards and payouts, newest first."""
        return await self._page("/staking/history", StakingEvent, {"limit": limit, "cursor": cursor})

    async def pending_unstakes(self, *, limit: int = 100, cursor: str | None = None) -> Page[Unstake]:
        """The unstaked amounts that are not paid yet, newest first."""
        return await self._page("/staking/pending", Unstake, {"limit": limit, "cursor": cursor})

    # Payments

    async def payment_routes(self) -> list[PaymentRoute]:
        """Ways to pay in."""
        return await self._call("GET", "/payments/routes", list[PaymentRoute])

    async def payment_route(self, route_id: str) -> PaymentRoute:
        """One way to pay in."""
        return await self._call("GET", f"/payments/routes/{segment(route_id)}", PaymentRoute)

    async def open_payment(
        self,
        route_id: str,
        amount: Number,
        currency: str,
        *,
        return_url: str | None = None,
        idempotency_key: str | None = None,
    ) -> PaymentSession:
        """Open a payment. The payer goes to the session's `url`."""
        body = {
            "routeId": route_id,
            "amount": exact(amount, "amount"),
            "currency": currency,
            "returnUrl": return_url,
        }
        return await self._call(
            "POST", "/payments/session", PaymentSession, body=given(body), idempotency_key=idempotency_key
        )

    async def payments(self, *, limit: int = 100, cursor: str | None = None) -> Page[Payment]:
        """The user's payments, newest first."""
        return await self._page("/payments", Payment, {"limit": limit, "cursor": cursor})

    async def payment(self, payment_id: str) -> Payment:
        """One of the user's payments."""
        return await self._call("GET", f"/payments/{segment(payment_id)}", Payment)

    # Fees

    async def trading_fees(self) -> TradingFees:
        """The user's trading fees, and all tiers."""
        return await self._call("GET", "/fees/trading", TradingFees)

    async def quote_network_fee(self, asset: str, network: str, amount: Number) -> NetworkFeeQuote:
        """The fee of a withdrawal. It holds for five minutes for a withdrawal with its `fee_quote_id`."""
        query = {"asset": asset, "network": network, "amount": exact(amount, "amount")}
        return await self._call("GET", "/fees/network", NetworkFeeQuote, query=query)

    async def network_fees(self) -> list[NetworkFee]:
        """The withdrawal fees of all assets and networks."""
        return await self._call("GET", "/fees/network/all", list[NetworkFee])

    async def payment_fees(self) -> list[PaymentFee]:
        """The fees of payments."""
        return await self._call("GET", "/fees/payment", list[PaymentFee])

    # Proofs of reserves

    async def reserve_statements(self) -> list[ReserveStatement]:
        """What the exchange has proved that it owes, newest first."""
        return await self._call("GET", "/reserves", list[ReserveStatement])

    async def own_reserve_proof(self, proof_id: str) -> ReserveProof:
        """The user's leaves of a proof, and their ways to its root."""
        return await self._call("GET", f"/reserves/{segment(proof_id)}/own", ReserveProof)
