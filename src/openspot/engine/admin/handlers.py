"""The methods of exchange.v1.AdminService, without a transport (facts B4.4-32 to B4.4-59).

Each method takes its request and the caller, and returns its response. dispatch.py decides who may call it and turns
exceptions into responses.
"""

from itertools import islice
from typing import NamedTuple

from openspot.contracts.engine_events import TradeEvent
from openspot.contracts.gen.exchange.v1 import admin_pb2 as pb
from openspot.domain.market_phase import PHASE_OF_TEXT, SETTABLE_PHASES, MarketPhase
from openspot.domain.order import StpMode
from openspot.domain.result_code import ResultCode
from openspot.domain.symbol import SymbolSpec
from openspot.engine.admin import fields
from openspot.engine.admin.acting import Acting, engine_name
from openspot.engine.admin.authority import AdminSession, Authority
from openspot.engine.admin.errors import AdminError, FieldError
from openspot.engine.admin.listing_routes import listings_of
from openspot.engine.admin.listings import ListingError
from openspot.engine.admin.order_list import OrderQueries
from openspot.engine.admin.participant_changes import ParticipantChanges
from openspot.engine.admin.reports import Reports
from openspot.engine.admin.trade_index import TradeIndex
from openspot.engine.core.records import decode_results
from openspot.engine.engine import Engine
from openspot.engine.state.directory import UNKNOWN_ACCOUNT
from openspot.engine.state.participants import ParticipantProfile
from openspot.engine_client.listing_schemas import PHASE_SECONDS_MAX
from openspot.kit.clock import NANOSECONDS_PER_MS
from openspot.kit.log import get_logger

log = get_logger("admin")

_SETTABLE = tuple(phase.text for phase in sorted(SETTABLE_PHASES))
_ORDER_ID_MAX = 2**64 - 1
_ORDER_ID_DIGITS_MAX = 20


class Caller(NamedTuple):
    """The caller's address, its session if the method requires one, and its reason if the call gave one beside."""

    address: str
    session: AdminSession | None = None
    reason: str = ""

    @property
    def logged_in(self) -> AdminSession:
        """The session, in a method that requires one."""
        assert self.session is not None, "dispatch.py requires a session"
        return self.session


class Handlers:
    """The methods of one engine. They raise FieldError, AdminError, IntakeRefusal, EngineStoppedError.

    `changes` and `reports` are also behind the routes for services: one change of a participant follows the other.
    """

    def __init__(self, engine: Engine, authority: Authority) -> None:
        self._engine = engine
        self._machine = engine.machine
        self._authority = authority
        self.changes = ParticipantChanges(engine, authority)
        self._orders = OrderQueries(engine)
        self._trades = TradeIndex(engine)
        self.reports = Reports(engine, self._orders)
        self._listings = listings_of(engine)

    # Sessions

    async def login(self, request: pb.LoginRequest, caller: Caller) -> pb.LoginResponse:
        token, session = await self._authority.login(request.participant_id, request.password, caller.address)
        return pb.LoginResponse(
            success=True,
            token=token,
            participant_id=session.participant_id,
            name=session.profile.name,
            type=session.profile.type,
            expires_at=session.expires_ms,
        )

    async def validate_token(self, request: pb.ValidateTokenRequest, caller: Caller) -> pb.ValidateTokenResponse:
        """Return whether a token is valid, and whose session it is."""
        try:
            session = self._authority.session(request.token)
        except AdminError:
            return pb.ValidateTokenResponse(valid=False)
        return pb.ValidateTokenResponse(valid=True, participant_id=session.participant_id, type=session.profile.type)

    async def logout(self, request: pb.LogoutRequest, caller: Caller) -> pb.LogoutResponse:
        await self._authority.logout(caller.logged_in)
        return pb.LogoutResponse(success=True)

    # Participants

    async def list_participants(
        self, request: pb.ListParticipantsRequest, caller: Caller
    ) -> pb.ListParticipantsResponse:
        """Participants in order of creation."""
        limit, offset = fields.page(request.limit, request.offset)
        profiles = self._machine.participants.profiles
        return pb.ListParticipantsResponse(
            participants=[
                self._participant(account, profile)
                for account, profile in islice(profiles.items(), offset, offset + limit)
            ],
            total=len(profiles),
        )

    async def get_participant(self, request: pb.GetParticipantRequest, caller: Caller) -> pb.ParticipantResponse:
        return self._participant_response(request.participant_id)

    async def create_participant(self, request: pb.CreateParticipantRequest, caller: Caller) -> pb.ParticipantResponse:
        await self.changes.create(
            request.participant_id,
            request.password,
            request.name,
            request.type,
            request.stp_mode,
            self._acting(caller),
        )
        _log_change(caller, "created a participant", participant=request.participant_id, type=request.type)
        return self._participant_response(request.participant_id)

    async def activate_participant(
        self, request: pb.ActivateParticipantRequest, caller: Caller
    ) -> pb.ParticipantResponse:
        """Let a participant place orders and log in again."""
        await self.changes.set_active(request.participant_id, True, caller.logged_in, self._acting(caller))
        _log_change(caller, "activated a participant", participant=request.participant_id)
        return self._participant_response(request.participant_id)

    async def deactivate_participant(
        self, request: pb.DeactivateParticipantRequest, caller: Caller
    ) -> pb.ParticipantResponse:
        """Refuse a participant's new orders and end its sessions; its open orders stay."""
        reason = fields.reason(request.reason)
        acting = self._acting(caller, reason)
        await self.changes.set_active(request.participant_id, False, caller.logged_in, acting)
        _log_change(caller, "deactivated a participant", participant=request.participant_id, reason=reason)
        return self._participant_response(request.participant_id)

    async def update_stp_mode(self, request: pb.UpdateStpModeRequest, caller: Caller) -> pb.ParticipantResponse:
        """Set a participant's self-trade prevention."""
        acting = self._acting(caller)
        await self.changes.set_stp_mode(request.participant_id, request.stp_mode, caller.logged_in, acting)
        _log_change(caller, "set an STP mode", participant=request.participant_id, stp_mode=request.stp_mode)
        return self._participant_response(request.participant_id)

    def _participant_response(self, participant_id: str) -> pb.ParticipantResponse:
        account, profile = self.changes.known(participant_id)
        return pb.ParticipantResponse(success=True, participant=self._participant(account, profile))

    def _participant(self, account: int, profile: ParticipantProfile) -> pb.Participant:
        return pb.Participant(
            participant_id=self._machine.directory.participant(account),
            name=profile.name,
            type=profile.type,
            stp_mode=StpMode(profile.stp_mode).name,
            active=profile.active,
            created_at=profile.created_ms,
            # Left out of most, as before there were freezes.
            frozen=profile.frozen or None,
        )

    # Orders and trades

    async def list_orders(self, request: pb.ListOrdersRequest, caller: Caller) -> pb.ListOrdersResponse:
        """Open orders and remembered ended ones."""
        limit, offset = fields.page(request.limit, request.offset)
        status = fields.order_status(request.status)
        symbols = self._symbols(request.symbol)
        account = self._account(request.participant_id)
        if account == UNKNOWN_ACCOUNT:
            return pb.ListOrdersResponse()
        orders, total = await self._orders.page(account, symbols, status, limit, offset)
        return pb.ListOrdersResponse(orders=orders, total=total)

    async def cancel_order_admin(
        self, request: pb.CancelOrderAdminRequest, caller: Caller
    ) -> pb.CancelOrderAdminResponse:
        """Cancel the order of any participant, which emits a reduce event (facts A1.4-07, A1.4-08)."""
        reason = fields.reason(request.reason)
        engine_order_id = self._engine_order_id(request.order_id)
        order = self._machine.orders.find(engine_order_id)
        code, error = ResultCode.MATCHING_UNKNOWN_ORDER_ID, "orderId: there is no such open order"
        if order is not None:
            owner = self._machine.directory.participant(order.account)
            if request.participant_id not in ("", owner):
                code, error = ResultCode.AUTH_INVALID_USER, "participantId: the order is another participant's"
            elif request.symbol and order.symbol not in self._machine.directory.symbol_numbers(request.symbol):
                error = "symbol: the order is on another symbol"
            else:
                spec = self._machine.directory.symbol(order.symbol)
                before = {
                    "orderId": order.order_id,
                    "participant": owner,
                    "market": spec.symbol if spec else None,
                    "status": "OPEN",
                }
                subject = "order", str(engine_order_id)
                after = {"status": "CANCELLED"}
                action = self._acting(caller, reason).note("orders.cancel", subject, before, after)
                outcome = await self._engine.intake.cancel_as_administrator(engine_order_id, action)
                code = ResultCode(next(decode_results(outcome.results)).code)
        success = code is ResultCode.SUCCESS
        if success:
            _log_change(caller, "cancelled an order", engine_order_id=engine_order_id, participant=owner, reason=reason)
        return pb.CancelOrderAdminResponse(
            order_id=str(engine_order_id) if engine_order_id else request.order_id,
            status="CANCELLED" if success else "REJECTED",
            result_code=code.name,
            success=success,
            error="" if success else error,
        )

    async def list_trades(self, request: pb.ListTradesRequest, caller: Caller) -> pb.ListTradesResponse:
        """The newest trades."""
        limit, offset = fields.page(request.limit, request.offset)
        symbols = self._symbols(request.symbol)
        account = self._account(request.participant_id)
        if account == UNKNOWN_ACCOUNT:
            return pb.ListTradesResponse()
        trades, total = await self._trades.page(account, symbols, limit, offset)
        return pb.ListTradesResponse(trades=[_trade(trade) for trade in trades], total=total)

    def _engine_order_id(self, text: str) -> int:
        """The engine order id for `text`, which is either id of an order; 0 if there is no such order."""
        if text.isascii() and text.isdigit():
            number = int(text) if len(text) <= _ORDER_ID_DIGITS_MAX else 0
            return number if number <= _ORDER_ID_MAX else 0
        return self._machine.orders.ids.get(text, 0) if text else 0

    def _account(self, participant_id: str) -> int:
        """The account to filter by. 0 means any; UNKNOWN_ACCOUNT means that the participant does not exist."""
        wanted = fields.optional_participant_id(participant_id)
        return self._machine.directory.account(wanted) if wanted else 0

    def _symbols(self, text: str) -> frozenset[int]:
        """The symbol numbers to filter by, including deleted symbols. Empty means any. Raises FieldError."""
        numbers = self._machine.directory.symbol_numbers(text) if text else frozenset()
        if text and not numbers:
            raise FieldError(f"symbol: there is no {text!r}")
        return numbers

    # Balances, risk, symbols, statistics

    async def list_balances(self, request: pb.ListBalancesRequest, caller: Caller) -> pb.ListBalancesResponse:
        """The balances of one participant, or of all."""
        wanted = fields.optional_participant_id(request.participant_id)
        return pb.ListBalancesResponse(balances=await self.reports.balances(wanted))

    async def adjust_balance(self, request: pb.AdjustBalanceRequest, caller: Caller) -> pb.AdjustBalanceResponse:
        """Add to a balance or subtract from it."""
        try:
            reason = fields.reason(request.reason)
            acting = self._acting(caller, reason)
            await self.changes.adjust(request.participant_id, request.currency, request.amount, request.type, acting)
        except FieldError as error:
            return pb.AdjustBalanceResponse(success=False, result_code=error.code.name, error=str(error))
        _log_change(
            caller,
            "adjusted a balance",
            participant=request.participant_id,
            currency=request.currency,
            amount=request.amount,
            type=request.type,
            reason=reason,
        )
        return pb.AdjustBalanceResponse(success=True, result_code=ResultCode.SUCCESS.name)

    async def list_risk_metrics(self, request: pb.ListRiskMetricsRequest, caller: Caller) -> pb.ListRiskMetricsResponse:
        """How much of each balance is locked by open orders, of one participant or of all."""
        wanted = fields.optional_participant_id(request.participant_id)
        return pb.ListRiskMetricsResponse(metrics=await self.reports.risk(wanted))

    async def list_symbols(self, request: pb.ListSymbolsRequest, caller: Caller) -> pb.ListSymbolsResponse:
        """All symbols in order of their numbers."""
        specs = sorted(self._machine.directory.symbols.values(), key=lambda spec: spec.symbol_id)
        return pb.ListSymbolsResponse(symbols=[self._symbol(spec) for spec in specs])

    async def set_market_phase(self, request: pb.SetMarketPhaseRequest, caller: Caller) -> pb.SetMarketPhaseResponse:
        """Let a market enter a phase, for some seconds or until the next change."""
        phase = PHASE_OF_TEXT[fields.one_of("phase", request.phase, _SETTABLE)]
        if request.seconds > PHASE_SECONDS_MAX:
            raise FieldError(f"seconds must be at most {PHASE_SECONDS_MAX}")
        reason = fields.reason(request.reason)
        if not reason:
            raise FieldError("reason must say why the phase is set")
        try:
            acting = self._acting(caller)
            present = await self._listings.set_phase(request.symbol, phase, request.seconds, acting, reason)
        except ListingError as error:
            raise FieldError(str(error), error.code) from error
        _log_change(
            caller, "set a phase", symbol=request.symbol, phase=phase.text, seconds=request.seconds, reason=reason
        )
        return pb.SetMarketPhaseResponse(
            success=True,
            phase=MarketPhase(present.phase if present else MarketPhase.CONTINUOUS).text,
            phase_ends_at=present.ends_ns // NANOSECONDS_PER_MS if present else 0,
        )

    def _acting(self, caller: Caller, reason: str = "") -> Acting:
        """Who acts; `reason` is one that the request itself has."""
        name = engine_name(caller.logged_in.participant_id)
        return Acting(name, reason or caller.reason, "", caller.address, self._engine.origins)

    def _symbol(self, spec: SymbolSpec) -> pb.AdminSymbol:
        return pb.AdminSymbol(
            symbol=spec.symbol,
            symbol_id=spec.symbol_id,
            base_currency=spec.base,
            quote_currency=spec.quote,
            active=spec.active,
        )

    async def get_exchange_stats(
        self, request: pb.GetExchangeStatsRequest, caller: Caller
    ) -> pb.GetExchangeStatsResponse:
        """Statistics of the whole exchange."""
        return self.reports.exchange()


def _trade(trade: TradeEvent) -> pb.AdminTrade:
    return pb.AdminTrade(
        trade_id=trade.trade_id,
        symbol=trade.symbol,
        price=trade.price,
        quantity=trade.quantity,
        taker_order_id=trade.taker_engine_order_id,
        maker_order_id=trade.maker_engine_order_id,
        taker_participant_id=trade.taker_participant_id,
        maker_participant_id=trade.maker_participant_id,
        taker_side=trade.taker_side.upper(),
        taker_fee=trade.taker_fee_amount,
        maker_fee=trade.maker_fee_amount,
        fee_currency=trade.fee_currency,
        timestamp=trade.timestamp,
    )


def _log_change(caller: Caller, change: str, **details: object) -> None:
    """Log a change and who made it."""
    log.info(change, by=caller.logged_in.participant_id, address=caller.address, **details)
