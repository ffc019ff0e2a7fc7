from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class LoginRequest(_message.Message):
    __slots__ = ("participant_id", "password")
    PARTICIPANT_ID_FIELD_NUMBER: _ClassVar[int]
    PASSWORD_FIELD_NUMBER: _ClassVar[int]
    participant_id: str
    password: str
    def __init__(self, participant_id: _Optional[str] = ..., password: _Optional[str] = ...) -> None: ...

class LoginResponse(_message.Message):
    __slots__ = ("success", "error", "token", "participant_id", "name", "type", "expires_at")
    SUCCESS_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    TOKEN_FIELD_NUMBER: _ClassVar[int]
    PARTICIPANT_ID_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    TYPE_FIELD_NUMBER: _ClassVar[int]
    EXPIRES_AT_FIELD_NUMBER: _ClassVar[int]
    success: bool
    error: str
    token: str
    participant_id: str
    name: str
    type: str
    expires_at: int
    def __init__(self, success: _Optional[bool] = ..., error: _Optional[str] = ..., token: _Optional[str] = ..., participant_id: _Optional[str] = ..., name: _Optional[str] = ..., type: _Optional[str] = ..., expires_at: _Optional[int] = ...) -> None: ...

class ValidateTokenRequest(_message.Message):
    __slots__ = ("token",)
    TOKEN_FIELD_NUMBER: _ClassVar[int]
    token: str
    def __init__(self, token: _Optional[str] = ...) -> None: ...

class ValidateTokenResponse(_message.Message):
    __slots__ = ("valid", "participant_id", "type")
    VALID_FIELD_NUMBER: _ClassVar[int]
    PARTICIPANT_ID_FIELD_NUMBER: _ClassVar[int]
    TYPE_FIELD_NUMBER: _ClassVar[int]
    valid: bool
    participant_id: str
    type: str
    def __init__(self, valid: _Optional[bool] = ..., participant_id: _Optional[str] = ..., type: _Optional[str] = ...) -> None: ...

class LogoutRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class LogoutResponse(_message.Message):
    __slots__ = ("success", "error")
    SUCCESS_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    success: bool
    error: str
    def __init__(self, success: _Optional[bool] = ..., error: _Optional[str] = ...) -> None: ...

class GetExchangeStatsRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class GetExchangeStatsResponse(_message.Message):
    __slots__ = ("matching", "orders", "trades", "participants", "system")
    MATCHING_FIELD_NUMBER: _ClassVar[int]
    ORDERS_FIELD_NUMBER: _ClassVar[int]
    TRADES_FIELD_NUMBER: _ClassVar[int]
    PARTICIPANTS_FIELD_NUMBER: _ClassVar[int]
    SYSTEM_FIELD_NUMBER: _ClassVar[int]
    matching: MatchingStats
    orders: OrderStats
    trades: TradeStats
    participants: ParticipantStats
    system: SystemStats
    def __init__(self, matching: _Optional[_Union[MatchingStats, _Mapping]] = ..., orders: _Optional[_Union[OrderStats, _Mapping]] = ..., trades: _Optional[_Union[TradeStats, _Mapping]] = ..., participants: _Optional[_Union[ParticipantStats, _Mapping]] = ..., system: _Optional[_Union[SystemStats, _Mapping]] = ...) -> None: ...

class MatchingStats(_message.Message):
    __slots__ = ("core", "commands", "events", "symbols", "state_hash", "state_hash_commands")
    CORE_FIELD_NUMBER: _ClassVar[int]
    COMMANDS_FIELD_NUMBER: _ClassVar[int]
    EVENTS_FIELD_NUMBER: _ClassVar[int]
    SYMBOLS_FIELD_NUMBER: _ClassVar[int]
    STATE_HASH_FIELD_NUMBER: _ClassVar[int]
    STATE_HASH_COMMANDS_FIELD_NUMBER: _ClassVar[int]
    core: str
    commands: int
    events: int
    symbols: int
    state_hash: str
    state_hash_commands: int
    def __init__(self, core: _Optional[str] = ..., commands: _Optional[int] = ..., events: _Optional[int] = ..., symbols: _Optional[int] = ..., state_hash: _Optional[str] = ..., state_hash_commands: _Optional[int] = ...) -> None: ...

class OrderStats(_message.Message):
    __slots__ = ("open", "placed", "rejected", "cancelled")
    OPEN_FIELD_NUMBER: _ClassVar[int]
    PLACED_FIELD_NUMBER: _ClassVar[int]
    REJECTED_FIELD_NUMBER: _ClassVar[int]
    CANCELLED_FIELD_NUMBER: _ClassVar[int]
    open: int
    placed: int
    rejected: int
    cancelled: int
    def __init__(self, open: _Optional[int] = ..., placed: _Optional[int] = ..., rejected: _Optional[int] = ..., cancelled: _Optional[int] = ...) -> None: ...

class TradeStats(_message.Message):
    __slots__ = ("count", "volume_by_symbol", "notional_by_symbol")
    class VolumeBySymbolEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    class NotionalBySymbolEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    COUNT_FIELD_NUMBER: _ClassVar[int]
    VOLUME_BY_SYMBOL_FIELD_NUMBER: _ClassVar[int]
    NOTIONAL_BY_SYMBOL_FIELD_NUMBER: _ClassVar[int]
    count: int
    volume_by_symbol: _containers.ScalarMap[str, str]
    notional_by_symbol: _containers.ScalarMap[str, str]
    def __init__(self, count: _Optional[int] = ..., volume_by_symbol: _Optional[_Mapping[str, str]] = ..., notional_by_symbol: _Optional[_Mapping[str, str]] = ...) -> None: ...

class ParticipantStats(_message.Message):
    __slots__ = ("total", "active")
    TOTAL_FIELD_NUMBER: _ClassVar[int]
    ACTIVE_FIELD_NUMBER: _ClassVar[int]
    total: int
    active: int
    def __init__(self, total: _Optional[int] = ..., active: _Optional[int] = ...) -> None: ...

class SystemStats(_message.Message):
    __slots__ = ("uptime_ms", "memory_bytes", "journal_bytes", "queue_depth", "version")
    UPTIME_MS_FIELD_NUMBER: _ClassVar[int]
    MEMORY_BYTES_FIELD_NUMBER: _ClassVar[int]
    JOURNAL_BYTES_FIELD_NUMBER: _ClassVar[int]
    QUEUE_DEPTH_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    uptime_ms: int
    memory_bytes: int
    journal_bytes: int
    queue_depth: int
    version: str
    def __init__(self, uptime_ms: _Optional[int] = ..., memory_bytes: _Optional[int] = ..., journal_bytes: _Optional[int] = ..., queue_depth: _Optional[int] = ..., version: _Optional[str] = ...) -> None: ...

class Participant(_message.Message):
    __slots__ = ("participant_id", "name", "type", "stp_mode", "active", "created_at", "frozen")
    PARTICIPANT_ID_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    TYPE_FIELD_NUMBER: _ClassVar[int]
    STP_MODE_FIELD_NUMBER: _ClassVar[int]
    ACTIVE_FIELD_NUMBER: _ClassVar[int]
    CREATED_AT_FIELD_NUMBER: _ClassVar[int]
    FROZEN_FIELD_NUMBER: _ClassVar[int]
    participant_id: str
    name: str
    type: str
    stp_mode: str
    active: bool
    created_at: int
    frozen: bool
    def __init__(self, participant_id: _Optional[str] = ..., name: _Optional[str] = ..., type: _Optional[str] = ..., stp_mode: _Optional[str] = ..., active: _Optional[bool] = ..., created_at: _Optional[int] = ..., frozen: _Optional[bool] = ...) -> None: ...

class ListParticipantsRequest(_message.Message):
    __slots__ = ("limit", "offset")
    LIMIT_FIELD_NUMBER: _ClassVar[int]
    OFFSET_FIELD_NUMBER: _ClassVar[int]
    limit: int
    offset: int
    def __init__(self, limit: _Optional[int] = ..., offset: _Optional[int] = ...) -> None: ...

class ListParticipantsResponse(_message.Message):
    __slots__ = ("participants", "total")
    PARTICIPANTS_FIELD_NUMBER: _ClassVar[int]
    TOTAL_FIELD_NUMBER: _ClassVar[int]
    participants: _containers.RepeatedCompositeFieldContainer[Participant]
    total: int
    def __init__(self, participants: _Optional[_Iterable[_Union[Participant, _Mapping]]] = ..., total: _Optional[int] = ...) -> None: ...

class GetParticipantRequest(_message.Message):
    __slots__ = ("participant_id",)
    PARTICIPANT_ID_FIELD_NUMBER: _ClassVar[int]
    participant_id: str
    def __init__(self, participant_id: _Optional[str] = ...) -> None: ...

class ParticipantResponse(_message.Message):
    __slots__ = ("success", "error", "participant")
    SUCCESS_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    PARTICIPANT_FIELD_NUMBER: _ClassVar[int]
    success: bool
    error: str
    participant: Participant
    def __init__(self, success: _Optional[bool] = ..., error: _Optional[str] = ..., participant: _Optional[_Union[Participant, _Mapping]] = ...) -> None: ...

class CreateParticipantRequest(_message.Message):
    __slots__ = ("participant_id", "password", "name", "type", "stp_mode")
    PARTICIPANT_ID_FIELD_NUMBER: _ClassVar[int]
    PASSWORD_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    TYPE_FIELD_NUMBER: _ClassVar[int]
    STP_MODE_FIELD_NUMBER: _ClassVar[int]
    participant_id: str
    password: str
    name: str
    type: str
    stp_mode: str
    def __init__(self, participant_id: _Optional[str] = ..., password: _Optional[str] = ..., name: _Optional[str] = ..., type: _Optional[str] = ..., stp_mode: _Optional[str] = ...) -> None: ...

class ActivateParticipantRequest(_message.Message):
    __slots__ = ("participant_id",)
    PARTICIPANT_ID_FIELD_NUMBER: _ClassVar[int]
    participant_id: str
    def __init__(self, participant_id: _Optional[str] = ...) -> None: ...

class DeactivateParticipantRequest(_message.Message):
    __slots__ = ("participant_id", "reason")
    PARTICIPANT_ID_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    participant_id: str
    reason: str
    def __init__(self, participant_id: _Optional[str] = ..., reason: _Optional[str] = ...) -> None: ...

class UpdateStpModeRequest(_message.Message):
    __slots__ = ("participant_id", "stp_mode")
    PARTICIPANT_ID_FIELD_NUMBER: _ClassVar[int]
    STP_MODE_FIELD_NUMBER: _ClassVar[int]
    participant_id: str
    stp_mode: str
    def __init__(self, participant_id: _Optional[str] = ..., stp_mode: _Optional[str] = ...) -> None: ...

class ListOrdersRequest(_message.Message):
    __slots__ = ("participant_id", "symbol", "status", "limit", "offset")
    PARTICIPANT_ID_FIELD_NUMBER: _ClassVar[int]
    SYMBOL_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    LIMIT_FIELD_NUMBER: _ClassVar[int]
    OFFSET_FIELD_NUMBER: _ClassVar[int]
    participant_id: str
    symbol: str
    status: str
    limit: int
    offset: int
    def __init__(self, participant_id: _Optional[str] = ..., symbol: _Optional[str] = ..., status: _Optional[str] = ..., limit: _Optional[int] = ..., offset: _Optional[int] = ...) -> None: ...

class AdminOrder(_message.Message):
    __slots__ = ("order_id", "external_id", "participant_id", "symbol", "side", "type", "price", "quantity", "filled_quantity", "remaining_quantity", "status", "created_at")
    ORDER_ID_FIELD_NUMBER: _ClassVar[int]
    EXTERNAL_ID_FIELD_NUMBER: _ClassVar[int]
    PARTICIPANT_ID_FIELD_NUMBER: _ClassVar[int]
    SYMBOL_FIELD_NUMBER: _ClassVar[int]
    SIDE_FIELD_NUMBER: _ClassVar[int]
    TYPE_FIELD_NUMBER: _ClassVar[int]
    PRICE_FIELD_NUMBER: _ClassVar[int]
    QUANTITY_FIELD_NUMBER: _ClassVar[int]
    FILLED_QUANTITY_FIELD_NUMBER: _ClassVar[int]
    REMAINING_QUANTITY_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    CREATED_AT_FIELD_NUMBER: _ClassVar[int]
    order_id: str
    external_id: str
    participant_id: str
    symbol: str
    side: str
    type: str
    price: str
    quantity: str
    filled_quantity: str
    remaining_quantity: str
    status: str
    created_at: int
    def __init__(self, order_id: _Optional[str] = ..., external_id: _Optional[str] = ..., participant_id: _Optional[str] = ..., symbol: _Optional[str] = ..., side: _Optional[str] = ..., type: _Optional[str] = ..., price: _Optional[str] = ..., quantity: _Optional[str] = ..., filled_quantity: _Optional[str] = ..., remaining_quantity: _Optional[str] = ..., status: _Optional[str] = ..., created_at: _Optional[int] = ...) -> None: ...

class ListOrdersResponse(_message.Message):
    __slots__ = ("orders", "total")
    ORDERS_FIELD_NUMBER: _ClassVar[int]
    TOTAL_FIELD_NUMBER: _ClassVar[int]
    orders: _containers.RepeatedCompositeFieldContainer[AdminOrder]
    total: int
    def __init__(self, orders: _Optional[_Iterable[_Union[AdminOrder, _Mapping]]] = ..., total: _Optional[int] = ...) -> None: ...

class CancelOrderAdminRequest(_message.Message):
    __slots__ = ("order_id", "participant_id", "symbol", "reason")
    ORDER_ID_FIELD_NUMBER: _ClassVar[int]
    PARTICIPANT_ID_FIELD_NUMBER: _ClassVar[int]
    SYMBOL_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    order_id: str
    participant_id: str
    symbol: str
    reason: str
    def __init__(self, order_id: _Optional[str] = ..., participant_id: _Optional[str] = ..., symbol: _Optional[str] = ..., reason: _Optional[str] = ...) -> None: ...

class CancelOrderAdminResponse(_message.Message):
    __slots__ = ("order_id", "status", "result_code", "success", "error")
    ORDER_ID_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    RESULT_CODE_FIELD_NUMBER: _ClassVar[int]
    SUCCESS_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    order_id: str
    status: str
    result_code: str
    success: bool
    error: str
    def __init__(self, order_id: _Optional[str] = ..., status: _Optional[str] = ..., result_code: _Optional[str] = ..., success: _Optional[bool] = ..., error: _Optional[str] = ...) -> None: ...

class ListTradesRequest(_message.Message):
    __slots__ = ("symbol", "participant_id", "limit", "offset")
    SYMBOL_FIELD_NUMBER: _ClassVar[int]
    PARTICIPANT_ID_FIELD_NUMBER: _ClassVar[int]
    LIMIT_FIELD_NUMBER: _ClassVar[int]
    OFFSET_FIELD_NUMBER: _ClassVar[int]
    symbol: str
    participant_id: str
    limit: int
    offset: int
    def __init__(self, symbol: _Optional[str] = ..., participant_id: _Optional[str] = ..., limit: _Optional[int] = ..., offset: _Optional[int] = ...) -> None: ...

class AdminTrade(_message.Message):
    __slots__ = ("trade_id", "symbol", "price", "quantity", "taker_order_id", "maker_order_id", "taker_participant_id", "maker_participant_id", "taker_side", "taker_fee", "maker_fee", "fee_currency", "timestamp")
    TRADE_ID_FIELD_NUMBER: _ClassVar[int]
    SYMBOL_FIELD_NUMBER: _ClassVar[int]
    PRICE_FIELD_NUMBER: _ClassVar[int]
    QUANTITY_FIELD_NUMBER: _ClassVar[int]
    TAKER_ORDER_ID_FIELD_NUMBER: _ClassVar[int]
    MAKER_ORDER_ID_FIELD_NUMBER: _ClassVar[int]
    TAKER_PARTICIPANT_ID_FIELD_NUMBER: _ClassVar[int]
    MAKER_PARTICIPANT_ID_FIELD_NUMBER: _ClassVar[int]
    TAKER_SIDE_FIELD_NUMBER: _ClassVar[int]
    TAKER_FEE_FIELD_NUMBER: _ClassVar[int]
    MAKER_FEE_FIELD_NUMBER: _ClassVar[int]
    FEE_CURRENCY_FIELD_NUMBER: _ClassVar[int]
    TIMESTAMP_FIELD_NUMBER: _ClassVar[int]
    trade_id: str
    symbol: str
    price: str
    quantity: str
    taker_order_id: str
    maker_order_id: str
    taker_participant_id: str
    maker_participant_id: str
    taker_side: str
    taker_fee: str
    maker_fee: str
    fee_currency: str
    timestamp: int
    def __init__(self, trade_id: _Optional[str] = ..., symbol: _Optional[str] = ..., price: _Optional[str] = ..., quantity: _Optional[str] = ..., taker_order_id: _Optional[str] = ..., maker_order_id: _Optional[str] = ..., taker_participant_id: _Optional[str] = ..., maker_participant_id: _Optional[str] = ..., taker_side: _Optional[str] = ..., taker_fee: _Optional[str] = ..., maker_fee: _Optional[str] = ..., fee_currency: _Optional[str] = ..., timestamp: _Optional[int] = ...) -> None: ...

class ListTradesResponse(_message.Message):
    __slots__ = ("trades", "total")
    TRADES_FIELD_NUMBER: _ClassVar[int]
    TOTAL_FIELD_NUMBER: _ClassVar[int]
    trades: _containers.RepeatedCompositeFieldContainer[AdminTrade]
    total: int
    def __init__(self, trades: _Optional[_Iterable[_Union[AdminTrade, _Mapping]]] = ..., total: _Optional[int] = ...) -> None: ...

class ListBalancesRequest(_message.Message):
    __slots__ = ("participant_id",)
    PARTICIPANT_ID_FIELD_NUMBER: _ClassVar[int]
    participant_id: str
    def __init__(self, participant_id: _Optional[str] = ...) -> None: ...

class AdminBalance(_message.Message):
    __slots__ = ("participant_id", "currency", "total", "available", "locked", "reserved")
    PARTICIPANT_ID_FIELD_NUMBER: _ClassVar[int]
    CURRENCY_FIELD_NUMBER: _ClassVar[int]
    TOTAL_FIELD_NUMBER: _ClassVar[int]
    AVAILABLE_FIELD_NUMBER: _ClassVar[int]
    LOCKED_FIELD_NUMBER: _ClassVar[int]
    RESERVED_FIELD_NUMBER: _ClassVar[int]
    participant_id: str
    currency: str
    total: str
    available: str
    locked: str
    reserved: str
    def __init__(self, participant_id: _Optional[str] = ..., currency: _Optional[str] = ..., total: _Optional[str] = ..., available: _Optional[str] = ..., locked: _Optional[str] = ..., reserved: _Optional[str] = ...) -> None: ...

class ListBalancesResponse(_message.Message):
    __slots__ = ("balances",)
    BALANCES_FIELD_NUMBER: _ClassVar[int]
    balances: _containers.RepeatedCompositeFieldContainer[AdminBalance]
    def __init__(self, balances: _Optional[_Iterable[_Union[AdminBalance, _Mapping]]] = ...) -> None: ...

class AdjustBalanceRequest(_message.Message):
    __slots__ = ("participant_id", "currency", "amount", "type", "reason")
    PARTICIPANT_ID_FIELD_NUMBER: _ClassVar[int]
    CURRENCY_FIELD_NUMBER: _ClassVar[int]
    AMOUNT_FIELD_NUMBER: _ClassVar[int]
    TYPE_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    participant_id: str
    currency: str
    amount: str
    type: str
    reason: str
    def __init__(self, participant_id: _Optional[str] = ..., currency: _Optional[str] = ..., amount: _Optional[str] = ..., type: _Optional[str] = ..., reason: _Optional[str] = ...) -> None: ...

class AdjustBalanceResponse(_message.Message):
    __slots__ = ("success", "result_code", "error")
    SUCCESS_FIELD_NUMBER: _ClassVar[int]
    RESULT_CODE_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    success: bool
    result_code: str
    error: str
    def __init__(self, success: _Optional[bool] = ..., result_code: _Optional[str] = ..., error: _Optional[str] = ...) -> None: ...

class ListRiskMetricsRequest(_message.Message):
    __slots__ = ("participant_id",)
    PARTICIPANT_ID_FIELD_NUMBER: _ClassVar[int]
    participant_id: str
    def __init__(self, participant_id: _Optional[str] = ...) -> None: ...

class RiskMetric(_message.Message):
    __slots__ = ("participant_id", "currency", "total", "locked", "utilisation_percent", "open_orders")
    PARTICIPANT_ID_FIELD_NUMBER: _ClassVar[int]
    CURRENCY_FIELD_NUMBER: _ClassVar[int]
    TOTAL_FIELD_NUMBER: _ClassVar[int]
    LOCKED_FIELD_NUMBER: _ClassVar[int]
    UTILISATION_PERCENT_FIELD_NUMBER: _ClassVar[int]
    OPEN_ORDERS_FIELD_NUMBER: _ClassVar[int]
    participant_id: str
    currency: str
    total: str
    locked: str
    utilisation_percent: str
    open_orders: int
    def __init__(self, participant_id: _Optional[str] = ..., currency: _Optional[str] = ..., total: _Optional[str] = ..., locked: _Optional[str] = ..., utilisation_percent: _Optional[str] = ..., open_orders: _Optional[int] = ...) -> None: ...

class ListRiskMetricsResponse(_message.Message):
    __slots__ = ("metrics",)
    METRICS_FIELD_NUMBER: _ClassVar[int]
    metrics: _containers.RepeatedCompositeFieldContainer[RiskMetric]
    def __init__(self, metrics: _Optional[_Iterable[_Union[RiskMetric, _Mapping]]] = ...) -> None: ...

class ListSymbolsRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class AdminSymbol(_message.Message):
    __slots__ = ("symbol", "symbol_id", "base_currency", "quote_currency", "active")
    SYMBOL_FIELD_NUMBER: _ClassVar[int]
    SYMBOL_ID_FIELD_NUMBER: _ClassVar[int]
    BASE_CURRENCY_FIELD_NUMBER: _ClassVar[int]
    QUOTE_CURRENCY_FIELD_NUMBER: _ClassVar[int]
    ACTIVE_FIELD_NUMBER: _ClassVar[int]
    symbol: str
    symbol_id: int
    base_currency: str
    quote_currency: str
    active: bool
    def __init__(self, symbol: _Optional[str] = ..., symbol_id: _Optional[int] = ..., base_currency: _Optional[str] = ..., quote_currency: _Optional[str] = ..., active: _Optional[bool] = ...) -> None: ...

class ListSymbolsResponse(_message.Message):
    __slots__ = ("symbols",)
    SYMBOLS_FIELD_NUMBER: _ClassVar[int]
    symbols: _containers.RepeatedCompositeFieldContainer[AdminSymbol]
    def __init__(self, symbols: _Optional[_Iterable[_Union[AdminSymbol, _Mapping]]] = ...) -> None: ...

class SetMarketPhaseRequest(_message.Message):
    __slots__ = ("symbol", "phase", "seconds", "reason")
    SYMBOL_FIELD_NUMBER: _ClassVar[int]
    PHASE_FIELD_NUMBER: _ClassVar[int]
    SECONDS_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    symbol: str
    phase: str
    seconds: int
    reason: str
    def __init__(self, symbol: _Optional[str] = ..., phase: _Optional[str] = ..., seconds: _Optional[int] = ..., reason: _Optional[str] = ...) -> None: ...

class SetMarketPhaseResponse(_message.Message):
    __slots__ = ("success", "error", "phase", "phase_ends_at")
    SUCCESS_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    PHASE_FIELD_NUMBER: _ClassVar[int]
    PHASE_ENDS_AT_FIELD_NUMBER: _ClassVar[int]
    success: bool
    error: str
    phase: str
    phase_ends_at: int
    def __init__(self, success: _Optional[bool] = ..., error: _Optional[str] = ..., phase: _Optional[str] = ..., phase_ends_at: _Optional[int] = ...) -> None: ...
