from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Side(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    SIDE_UNSPECIFIED: _ClassVar[Side]
    BUY: _ClassVar[Side]
    SELL: _ClassVar[Side]

class OrderType(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    ORDER_TYPE_UNSPECIFIED: _ClassVar[OrderType]
    GTC: _ClassVar[OrderType]
    IOC: _ClassVar[OrderType]
    FOK: _ClassVar[OrderType]
    FOK_BUDGET: _ClassVar[OrderType]

class PostOnly(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    MAY_TAKE: _ClassVar[PostOnly]
    REFUSE: _ClassVar[PostOnly]
    SLIDE: _ClassVar[PostOnly]

class Trigger(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    TRIGGER_NONE: _ClassVar[Trigger]
    TRIGGER_FIXED: _ClassVar[Trigger]
    TRIGGER_TRAILING_DISTANCE: _ClassVar[Trigger]
    TRIGGER_TRAILING_BASIS_POINTS: _ClassVar[Trigger]

class TriggerSource(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    TRIGGER_LAST_TRADE: _ClassVar[TriggerSource]
    TRIGGER_MARK_PRICE: _ClassVar[TriggerSource]

class TriggerDirection(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    TRIGGER_AT_OR_ABOVE: _ClassVar[TriggerDirection]
    TRIGGER_AT_OR_BELOW: _ClassVar[TriggerDirection]

class SelfTradePrevention(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    SELF_TRADE_PREVENTION_UNSPECIFIED: _ClassVar[SelfTradePrevention]
    SELF_TRADE_PREVENTION_NONE: _ClassVar[SelfTradePrevention]
    SELF_TRADE_PREVENTION_CANCEL_RESTING: _ClassVar[SelfTradePrevention]
    SELF_TRADE_PREVENTION_CANCEL_INCOMING: _ClassVar[SelfTradePrevention]
    SELF_TRADE_PREVENTION_CANCEL_BOTH: _ClassVar[SelfTradePrevention]
    SELF_TRADE_PREVENTION_DECREMENT_AND_CANCEL: _ClassVar[SelfTradePrevention]

class OrderAnswer(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    ORDER_ANSWER_UNSPECIFIED: _ClassVar[OrderAnswer]
    ACCEPTED: _ClassVar[OrderAnswer]
    REJECTED: _ClassVar[OrderAnswer]
    CANCELLED: _ClassVar[OrderAnswer]

class OrderListType(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    ORDER_LIST_TYPE_UNSPECIFIED: _ClassVar[OrderListType]
    OCO: _ClassVar[OrderListType]
    OTO: _ClassVar[OrderListType]
    BRACKET: _ClassVar[OrderListType]
SIDE_UNSPECIFIED: Side
BUY: Side
SELL: Side
ORDER_TYPE_UNSPECIFIED: OrderType
GTC: OrderType
IOC: OrderType
FOK: OrderType
FOK_BUDGET: OrderType
MAY_TAKE: PostOnly
REFUSE: PostOnly
SLIDE: PostOnly
TRIGGER_NONE: Trigger
TRIGGER_FIXED: Trigger
TRIGGER_TRAILING_DISTANCE: Trigger
TRIGGER_TRAILING_BASIS_POINTS: Trigger
TRIGGER_LAST_TRADE: TriggerSource
TRIGGER_MARK_PRICE: TriggerSource
TRIGGER_AT_OR_ABOVE: TriggerDirection
TRIGGER_AT_OR_BELOW: TriggerDirection
SELF_TRADE_PREVENTION_UNSPECIFIED: SelfTradePrevention
SELF_TRADE_PREVENTION_NONE: SelfTradePrevention
SELF_TRADE_PREVENTION_CANCEL_RESTING: SelfTradePrevention
SELF_TRADE_PREVENTION_CANCEL_INCOMING: SelfTradePrevention
SELF_TRADE_PREVENTION_CANCEL_BOTH: SelfTradePrevention
SELF_TRADE_PREVENTION_DECREMENT_AND_CANCEL: SelfTradePrevention
ORDER_ANSWER_UNSPECIFIED: OrderAnswer
ACCEPTED: OrderAnswer
REJECTED: OrderAnswer
CANCELLED: OrderAnswer
ORDER_LIST_TYPE_UNSPECIFIED: OrderListType
OCO: OrderListType
OTO: OrderListType
BRACKET: OrderListType

class PlaceOrderRequest(_message.Message):
    __slots__ = ("order_id", "participant_id", "symbol", "side", "type", "price", "quantity", "reserve_price", "budget", "external_id", "metadata", "post_only", "client_order_id", "with_fills", "trigger", "trigger_source", "trigger_direction", "trigger_value", "expires_at_ms", "self_trade_prevention", "display_quantity", "has_limit")
    ORDER_ID_FIELD_NUMBER: _ClassVar[int]
    PARTICIPANT_ID_FIELD_NUMBER: _ClassVar[int]
    SYMBOL_FIELD_NUMBER: _ClassVar[int]
    SIDE_FIELD_NUMBER: _ClassVar[int]
    TYPE_FIELD_NUMBER: _ClassVar[int]
    PRICE_FIELD_NUMBER: _ClassVar[int]
    QUANTITY_FIELD_NUMBER: _ClassVar[int]
    RESERVE_PRICE_FIELD_NUMBER: _ClassVar[int]
    BUDGET_FIELD_NUMBER: _ClassVar[int]
    EXTERNAL_ID_FIELD_NUMBER: _ClassVar[int]
    METADATA_FIELD_NUMBER: _ClassVar[int]
    POST_ONLY_FIELD_NUMBER: _ClassVar[int]
    CLIENT_ORDER_ID_FIELD_NUMBER: _ClassVar[int]
    WITH_FILLS_FIELD_NUMBER: _ClassVar[int]
    TRIGGER_FIELD_NUMBER: _ClassVar[int]
    TRIGGER_SOURCE_FIELD_NUMBER: _ClassVar[int]
    TRIGGER_DIRECTION_FIELD_NUMBER: _ClassVar[int]
    TRIGGER_VALUE_FIELD_NUMBER: _ClassVar[int]
    EXPIRES_AT_MS_FIELD_NUMBER: _ClassVar[int]
    SELF_TRADE_PREVENTION_FIELD_NUMBER: _ClassVar[int]
    DISPLAY_QUANTITY_FIELD_NUMBER: _ClassVar[int]
    HAS_LIMIT_FIELD_NUMBER: _ClassVar[int]
    order_id: int
    participant_id: str
    symbol: str
    side: Side
    type: OrderType
    price: int
    quantity: int
    reserve_price: int
    budget: str
    external_id: str
    metadata: str
    post_only: PostOnly
    client_order_id: str
    with_fills: bool
    trigger: Trigger
    trigger_source: TriggerSource
    trigger_direction: TriggerDirection
    trigger_value: int
    expires_at_ms: int
    self_trade_prevention: SelfTradePrevention
    display_quantity: int
    has_limit: bool
    def __init__(self, order_id: _Optional[int] = ..., participant_id: _Optional[str] = ..., symbol: _Optional[str] = ..., side: _Optional[_Union[Side, str]] = ..., type: _Optional[_Union[OrderType, str]] = ..., price: _Optional[int] = ..., quantity: _Optional[int] = ..., reserve_price: _Optional[int] = ..., budget: _Optional[str] = ..., external_id: _Optional[str] = ..., metadata: _Optional[str] = ..., post_only: _Optional[_Union[PostOnly, str]] = ..., client_order_id: _Optional[str] = ..., with_fills: _Optional[bool] = ..., trigger: _Optional[_Union[Trigger, str]] = ..., trigger_source: _Optional[_Union[TriggerSource, str]] = ..., trigger_direction: _Optional[_Union[TriggerDirection, str]] = ..., trigger_value: _Optional[int] = ..., expires_at_ms: _Optional[int] = ..., self_trade_prevention: _Optional[_Union[SelfTradePrevention, str]] = ..., display_quantity: _Optional[int] = ..., has_limit: _Optional[bool] = ...) -> None: ...

class PlacementFill(_message.Message):
    __slots__ = ("trade_id", "price", "quantity", "fee")
    TRADE_ID_FIELD_NUMBER: _ClassVar[int]
    PRICE_FIELD_NUMBER: _ClassVar[int]
    QUANTITY_FIELD_NUMBER: _ClassVar[int]
    FEE_FIELD_NUMBER: _ClassVar[int]
    trade_id: str
    price: int
    quantity: int
    fee: str
    def __init__(self, trade_id: _Optional[str] = ..., price: _Optional[int] = ..., quantity: _Optional[int] = ..., fee: _Optional[str] = ...) -> None: ...

class PlaceOrderResponse(_message.Message):
    __slots__ = ("order_id", "status", "result_code", "filled_quantity", "remaining_quantity", "sequence", "timestamp", "notional", "fee", "is_order_completed", "accepted_price", "accepted_quantity", "fills", "fills_truncated", "conflicting_id")
    ORDER_ID_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    RESULT_CODE_FIELD_NUMBER: _ClassVar[int]
    FILLED_QUANTITY_FIELD_NUMBER: _ClassVar[int]
    REMAINING_QUANTITY_FIELD_NUMBER: _ClassVar[int]
    SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    TIMESTAMP_FIELD_NUMBER: _ClassVar[int]
    NOTIONAL_FIELD_NUMBER: _ClassVar[int]
    FEE_FIELD_NUMBER: _ClassVar[int]
    IS_ORDER_COMPLETED_FIELD_NUMBER: _ClassVar[int]
    ACCEPTED_PRICE_FIELD_NUMBER: _ClassVar[int]
    ACCEPTED_QUANTITY_FIELD_NUMBER: _ClassVar[int]
    FILLS_FIELD_NUMBER: _ClassVar[int]
    FILLS_TRUNCATED_FIELD_NUMBER: _ClassVar[int]
    CONFLICTING_ID_FIELD_NUMBER: _ClassVar[int]
    order_id: int
    status: OrderAnswer
    result_code: str
    filled_quantity: int
    remaining_quantity: int
    sequence: int
    timestamp: int
    notional: str
    fee: str
    is_order_completed: bool
    accepted_price: int
    accepted_quantity: int
    fills: _containers.RepeatedCompositeFieldContainer[PlacementFill]
    fills_truncated: bool
    conflicting_id: str
    def __init__(self, order_id: _Optional[int] = ..., status: _Optional[_Union[OrderAnswer, str]] = ..., result_code: _Optional[str] = ..., filled_quantity: _Optional[int] = ..., remaining_quantity: _Optional[int] = ..., sequence: _Optional[int] = ..., timestamp: _Optional[int] = ..., notional: _Optional[str] = ..., fee: _Optional[str] = ..., is_order_completed: _Optional[bool] = ..., accepted_price: _Optional[int] = ..., accepted_quantity: _Optional[int] = ..., fills: _Optional[_Iterable[_Union[PlacementFill, _Mapping]]] = ..., fills_truncated: _Optional[bool] = ..., conflicting_id: _Optional[str] = ...) -> None: ...

class PlaceOrdersRequest(_message.Message):
    __slots__ = ("orders",)
    ORDERS_FIELD_NUMBER: _ClassVar[int]
    orders: _containers.RepeatedCompositeFieldContainer[PlaceOrderRequest]
    def __init__(self, orders: _Optional[_Iterable[_Union[PlaceOrderRequest, _Mapping]]] = ...) -> None: ...

class PlaceOrdersResponse(_message.Message):
    __slots__ = ("orders",)
    ORDERS_FIELD_NUMBER: _ClassVar[int]
    orders: _containers.RepeatedCompositeFieldContainer[PlaceOrderResponse]
    def __init__(self, orders: _Optional[_Iterable[_Union[PlaceOrderResponse, _Mapping]]] = ...) -> None: ...

class PlaceOrderListRequest(_message.Message):
    __slots__ = ("list_id", "type", "orders")
    LIST_ID_FIELD_NUMBER: _ClassVar[int]
    TYPE_FIELD_NUMBER: _ClassVar[int]
    ORDERS_FIELD_NUMBER: _ClassVar[int]
    list_id: int
    type: OrderListType
    orders: _containers.RepeatedCompositeFieldContainer[PlaceOrderRequest]
    def __init__(self, list_id: _Optional[int] = ..., type: _Optional[_Union[OrderListType, str]] = ..., orders: _Optional[_Iterable[_Union[PlaceOrderRequest, _Mapping]]] = ...) -> None: ...

class PlaceOrderListResponse(_message.Message):
    __slots__ = ("list_id", "status", "result_code", "failed_order", "filled_quantity", "remaining_quantity", "notional", "sequence", "timestamp")
    LIST_ID_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    RESULT_CODE_FIELD_NUMBER: _ClassVar[int]
    FAILED_ORDER_FIELD_NUMBER: _ClassVar[int]
    FILLED_QUANTITY_FIELD_NUMBER: _ClassVar[int]
    REMAINING_QUANTITY_FIELD_NUMBER: _ClassVar[int]
    NOTIONAL_FIELD_NUMBER: _ClassVar[int]
    SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    TIMESTAMP_FIELD_NUMBER: _ClassVar[int]
    list_id: int
    status: OrderAnswer
    result_code: str
    failed_order: int
    filled_quantity: int
    remaining_quantity: int
    notional: str
    sequence: int
    timestamp: int
    def __init__(self, list_id: _Optional[int] = ..., status: _Optional[_Union[OrderAnswer, str]] = ..., result_code: _Optional[str] = ..., failed_order: _Optional[int] = ..., filled_quantity: _Optional[int] = ..., remaining_quantity: _Optional[int] = ..., notional: _Optional[str] = ..., sequence: _Optional[int] = ..., timestamp: _Optional[int] = ...) -> None: ...

class CancelOrderListRequest(_message.Message):
    __slots__ = ("list_id", "participant_id", "symbol")
    LIST_ID_FIELD_NUMBER: _ClassVar[int]
    PARTICIPANT_ID_FIELD_NUMBER: _ClassVar[int]
    SYMBOL_FIELD_NUMBER: _ClassVar[int]
    list_id: int
    participant_id: str
    symbol: str
    def __init__(self, list_id: _Optional[int] = ..., participant_id: _Optional[str] = ..., symbol: _Optional[str] = ...) -> None: ...

class CancelOrderListResponse(_message.Message):
    __slots__ = ("list_id", "status", "result_code", "sequence")
    LIST_ID_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    RESULT_CODE_FIELD_NUMBER: _ClassVar[int]
    SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    list_id: int
    status: OrderAnswer
    result_code: str
    sequence: int
    def __init__(self, list_id: _Optional[int] = ..., status: _Optional[_Union[OrderAnswer, str]] = ..., result_code: _Optional[str] = ..., sequence: _Optional[int] = ...) -> None: ...

class CancelOrderRequest(_message.Message):
    __slots__ = ("order_id", "participant_id", "symbol", "external_id")
    ORDER_ID_FIELD_NUMBER: _ClassVar[int]
    PARTICIPANT_ID_FIELD_NUMBER: _ClassVar[int]
    SYMBOL_FIELD_NUMBER: _ClassVar[int]
    EXTERNAL_ID_FIELD_NUMBER: _ClassVar[int]
    order_id: int
    participant_id: str
    symbol: str
    external_id: str
    def __init__(self, order_id: _Optional[int] = ..., participant_id: _Optional[str] = ..., symbol: _Optional[str] = ..., external_id: _Optional[str] = ...) -> None: ...

class CancelOrderResponse(_message.Message):
    __slots__ = ("order_id", "status", "result_code", "cancelled_quantity", "sequence")
    ORDER_ID_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    RESULT_CODE_FIELD_NUMBER: _ClassVar[int]
    CANCELLED_QUANTITY_FIELD_NUMBER: _ClassVar[int]
    SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    order_id: int
    status: OrderAnswer
    result_code: str
    cancelled_quantity: int
    sequence: int
    def __init__(self, order_id: _Optional[int] = ..., status: _Optional[_Union[OrderAnswer, str]] = ..., result_code: _Optional[str] = ..., cancelled_quantity: _Optional[int] = ..., sequence: _Optional[int] = ...) -> None: ...

class ReplaceOrderRequest(_message.Message):
    __slots__ = ("order_id", "order", "allow_failure")
    ORDER_ID_FIELD_NUMBER: _ClassVar[int]
    ORDER_FIELD_NUMBER: _ClassVar[int]
    ALLOW_FAILURE_FIELD_NUMBER: _ClassVar[int]
    order_id: int
    order: PlaceOrderRequest
    allow_failure: bool
    def __init__(self, order_id: _Optional[int] = ..., order: _Optional[_Union[PlaceOrderRequest, _Mapping]] = ..., allow_failure: _Optional[bool] = ...) -> None: ...

class ReplaceOrderResponse(_message.Message):
    __slots__ = ("cancelled", "placed")
    CANCELLED_FIELD_NUMBER: _ClassVar[int]
    PLACED_FIELD_NUMBER: _ClassVar[int]
    cancelled: CancelOrderResponse
    placed: PlaceOrderResponse
    def __init__(self, cancelled: _Optional[_Union[CancelOrderResponse, _Mapping]] = ..., placed: _Optional[_Union[PlaceOrderResponse, _Mapping]] = ...) -> None: ...

class CancelOrdersRequest(_message.Message):
    __slots__ = ("participant_id", "symbol", "side", "external_ids")
    PARTICIPANT_ID_FIELD_NUMBER: _ClassVar[int]
    SYMBOL_FIELD_NUMBER: _ClassVar[int]
    SIDE_FIELD_NUMBER: _ClassVar[int]
    EXTERNAL_IDS_FIELD_NUMBER: _ClassVar[int]
    participant_id: str
    symbol: str
    side: Side
    external_ids: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, participant_id: _Optional[str] = ..., symbol: _Optional[str] = ..., side: _Optional[_Union[Side, str]] = ..., external_ids: _Optional[_Iterable[str]] = ...) -> None: ...

class CancelledOrder(_message.Message):
    __slots__ = ("order_id", "external_id", "cancelled_quantity", "sequence")
    ORDER_ID_FIELD_NUMBER: _ClassVar[int]
    EXTERNAL_ID_FIELD_NUMBER: _ClassVar[int]
    CANCELLED_QUANTITY_FIELD_NUMBER: _ClassVar[int]
    SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    order_id: int
    external_id: str
    cancelled_quantity: int
    sequence: int
    def __init__(self, order_id: _Optional[int] = ..., external_id: _Optional[str] = ..., cancelled_quantity: _Optional[int] = ..., sequence: _Optional[int] = ...) -> None: ...

class CancelOrdersResponse(_message.Message):
    __slots__ = ("status", "result_code", "orders", "more_remain")
    STATUS_FIELD_NUMBER: _ClassVar[int]
    RESULT_CODE_FIELD_NUMBER: _ClassVar[int]
    ORDERS_FIELD_NUMBER: _ClassVar[int]
    MORE_REMAIN_FIELD_NUMBER: _ClassVar[int]
    status: OrderAnswer
    result_code: str
    orders: _containers.RepeatedCompositeFieldContainer[CancelledOrder]
    more_remain: bool
    def __init__(self, status: _Optional[_Union[OrderAnswer, str]] = ..., result_code: _Optional[str] = ..., orders: _Optional[_Iterable[_Union[CancelledOrder, _Mapping]]] = ..., more_remain: _Optional[bool] = ...) -> None: ...

class MoveOrderRequest(_message.Message):
    __slots__ = ("order_id", "participant_id", "symbol", "price")
    ORDER_ID_FIELD_NUMBER: _ClassVar[int]
    PARTICIPANT_ID_FIELD_NUMBER: _ClassVar[int]
    SYMBOL_FIELD_NUMBER: _ClassVar[int]
    PRICE_FIELD_NUMBER: _ClassVar[int]
    order_id: int
    participant_id: str
    symbol: str
    price: int
    def __init__(self, order_id: _Optional[int] = ..., participant_id: _Optional[str] = ..., symbol: _Optional[str] = ..., price: _Optional[int] = ...) -> None: ...

class MoveOrderResponse(_message.Message):
    __slots__ = ("order_id", "status", "result_code", "filled_quantity", "remaining_quantity", "sequence")
    ORDER_ID_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    RESULT_CODE_FIELD_NUMBER: _ClassVar[int]
    FILLED_QUANTITY_FIELD_NUMBER: _ClassVar[int]
    REMAINING_QUANTITY_FIELD_NUMBER: _ClassVar[int]
    SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    order_id: int
    status: OrderAnswer
    result_code: str
    filled_quantity: int
    remaining_quantity: int
    sequence: int
    def __init__(self, order_id: _Optional[int] = ..., status: _Optional[_Union[OrderAnswer, str]] = ..., result_code: _Optional[str] = ..., filled_quantity: _Optional[int] = ..., remaining_quantity: _Optional[int] = ..., sequence: _Optional[int] = ...) -> None: ...

class AmendOrderRequest(_message.Message):
    __slots__ = ("order_id", "participant_id", "symbol", "price", "quantity", "trigger_price")
    ORDER_ID_FIELD_NUMBER: _ClassVar[int]
    PARTICIPANT_ID_FIELD_NUMBER: _ClassVar[int]
    SYMBOL_FIELD_NUMBER: _ClassVar[int]
    PRICE_FIELD_NUMBER: _ClassVar[int]
    QUANTITY_FIELD_NUMBER: _ClassVar[int]
    TRIGGER_PRICE_FIELD_NUMBER: _ClassVar[int]
    order_id: int
    participant_id: str
    symbol: str
    price: int
    quantity: int
    trigger_price: int
    def __init__(self, order_id: _Optional[int] = ..., participant_id: _Optional[str] = ..., symbol: _Optional[str] = ..., price: _Optional[int] = ..., quantity: _Optional[int] = ..., trigger_price: _Optional[int] = ...) -> None: ...

class AmendOrdersRequest(_message.Message):
    __slots__ = ("orders",)
    ORDERS_FIELD_NUMBER: _ClassVar[int]
    orders: _containers.RepeatedCompositeFieldContainer[AmendOrderRequest]
    def __init__(self, orders: _Optional[_Iterable[_Union[AmendOrderRequest, _Mapping]]] = ...) -> None: ...

class AmendOrderResponse(_message.Message):
    __slots__ = ("order_id", "status", "result_code", "filled_quantity", "remaining_quantity", "sequence", "timestamp", "price", "quantity", "trigger_price")
    ORDER_ID_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    RESULT_CODE_FIELD_NUMBER: _ClassVar[int]
    FILLED_QUANTITY_FIELD_NUMBER: _ClassVar[int]
    REMAINING_QUANTITY_FIELD_NUMBER: _ClassVar[int]
    SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    TIMESTAMP_FIELD_NUMBER: _ClassVar[int]
    PRICE_FIELD_NUMBER: _ClassVar[int]
    QUANTITY_FIELD_NUMBER: _ClassVar[int]
    TRIGGER_PRICE_FIELD_NUMBER: _ClassVar[int]
    order_id: int
    status: OrderAnswer
    result_code: str
    filled_quantity: int
    remaining_quantity: int
    sequence: int
    timestamp: int
    price: int
    quantity: int
    trigger_price: int
    def __init__(self, order_id: _Optional[int] = ..., status: _Optional[_Union[OrderAnswer, str]] = ..., result_code: _Optional[str] = ..., filled_quantity: _Optional[int] = ..., remaining_quantity: _Optional[int] = ..., sequence: _Optional[int] = ..., timestamp: _Optional[int] = ..., price: _Optional[int] = ..., quantity: _Optional[int] = ..., trigger_price: _Optional[int] = ...) -> None: ...

class AmendOrdersResponse(_message.Message):
    __slots__ = ("orders",)
    ORDERS_FIELD_NUMBER: _ClassVar[int]
    orders: _containers.RepeatedCompositeFieldContainer[AmendOrderResponse]
    def __init__(self, orders: _Optional[_Iterable[_Union[AmendOrderResponse, _Mapping]]] = ...) -> None: ...

class ReduceOrderRequest(_message.Message):
    __slots__ = ("order_id", "participant_id", "symbol", "quantity")
    ORDER_ID_FIELD_NUMBER: _ClassVar[int]
    PARTICIPANT_ID_FIELD_NUMBER: _ClassVar[int]
    SYMBOL_FIELD_NUMBER: _ClassVar[int]
    QUANTITY_FIELD_NUMBER: _ClassVar[int]
    order_id: int
    participant_id: str
    symbol: str
    quantity: int
    def __init__(self, order_id: _Optional[int] = ..., participant_id: _Optional[str] = ..., symbol: _Optional[str] = ..., quantity: _Optional[int] = ...) -> None: ...

class ReduceOrderResponse(_message.Message):
    __slots__ = ("order_id", "status", "result_code", "remaining_quantity", "sequence")
    ORDER_ID_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    RESULT_CODE_FIELD_NUMBER: _ClassVar[int]
    REMAINING_QUANTITY_FIELD_NUMBER: _ClassVar[int]
    SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    order_id: int
    status: OrderAnswer
    result_code: str
    remaining_quantity: int
    sequence: int
    def __init__(self, order_id: _Optional[int] = ..., status: _Optional[_Union[OrderAnswer, str]] = ..., result_code: _Optional[str] = ..., remaining_quantity: _Optional[int] = ..., sequence: _Optional[int] = ...) -> None: ...

class SetMarkPriceRequest(_message.Message):
    __slots__ = ("symbol", "price", "gap_ms", "symbol_id")
    SYMBOL_FIELD_NUMBER: _ClassVar[int]
    PRICE_FIELD_NUMBER: _ClassVar[int]
    GAP_MS_FIELD_NUMBER: _ClassVar[int]
    SYMBOL_ID_FIELD_NUMBER: _ClassVar[int]
    symbol: str
    price: int
    gap_ms: int
    symbol_id: int
    def __init__(self, symbol: _Optional[str] = ..., price: _Optional[int] = ..., gap_ms: _Optional[int] = ..., symbol_id: _Optional[int] = ...) -> None: ...

class SetMarkPriceResponse(_message.Message):
    __slots__ = ("status", "result_code", "sequence")
    STATUS_FIELD_NUMBER: _ClassVar[int]
    RESULT_CODE_FIELD_NUMBER: _ClassVar[int]
    SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    status: OrderAnswer
    result_code: str
    sequence: int
    def __init__(self, status: _Optional[_Union[OrderAnswer, str]] = ..., result_code: _Optional[str] = ..., sequence: _Optional[int] = ...) -> None: ...

class GetOrderRequest(_message.Message):
    __slots__ = ("order_id", "external_id")
    ORDER_ID_FIELD_NUMBER: _ClassVar[int]
    EXTERNAL_ID_FIELD_NUMBER: _ClassVar[int]
    order_id: int
    external_id: str
    def __init__(self, order_id: _Optional[int] = ..., external_id: _Optional[str] = ...) -> None: ...

class GetOrderResponse(_message.Message):
    __slots__ = ("found", "order_id", "external_id", "participant_id", "symbol", "side", "status", "price", "quantity", "remaining_quantity", "trigger_price", "trigger_limit", "type", "post_only", "trigger", "trigger_source", "trigger_direction", "trigger_value", "display_quantity", "has_limit")
    FOUND_FIELD_NUMBER: _ClassVar[int]
    ORDER_ID_FIELD_NUMBER: _ClassVar[int]
    EXTERNAL_ID_FIELD_NUMBER: _ClassVar[int]
    PARTICIPANT_ID_FIELD_NUMBER: _ClassVar[int]
    SYMBOL_FIELD_NUMBER: _ClassVar[int]
    SIDE_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    PRICE_FIELD_NUMBER: _ClassVar[int]
    QUANTITY_FIELD_NUMBER: _ClassVar[int]
    REMAINING_QUANTITY_FIELD_NUMBER: _ClassVar[int]
    TRIGGER_PRICE_FIELD_NUMBER: _ClassVar[int]
    TRIGGER_LIMIT_FIELD_NUMBER: _ClassVar[int]
    TYPE_FIELD_NUMBER: _ClassVar[int]
    POST_ONLY_FIELD_NUMBER: _ClassVar[int]
    TRIGGER_FIELD_NUMBER: _ClassVar[int]
    TRIGGER_SOURCE_FIELD_NUMBER: _ClassVar[int]
    TRIGGER_DIRECTION_FIELD_NUMBER: _ClassVar[int]
    TRIGGER_VALUE_FIELD_NUMBER: _ClassVar[int]
    DISPLAY_QUANTITY_FIELD_NUMBER: _ClassVar[int]
    HAS_LIMIT_FIELD_NUMBER: _ClassVar[int]
    found: bool
    order_id: int
    external_id: str
    participant_id: str
    symbol: str
    side: Side
    status: str
    price: int
    quantity: int
    remaining_quantity: int
    trigger_price: int
    trigger_limit: int
    type: OrderType
    post_only: PostOnly
    trigger: Trigger
    trigger_source: TriggerSource
    trigger_direction: TriggerDirection
    trigger_value: int
    display_quantity: int
    has_limit: bool
    def __init__(self, found: _Optional[bool] = ..., order_id: _Optional[int] = ..., external_id: _Optional[str] = ..., participant_id: _Optional[str] = ..., symbol: _Optional[str] = ..., side: _Optional[_Union[Side, str]] = ..., status: _Optional[str] = ..., price: _Optional[int] = ..., quantity: _Optional[int] = ..., remaining_quantity: _Optional[int] = ..., trigger_price: _Optional[int] = ..., trigger_limit: _Optional[int] = ..., type: _Optional[_Union[OrderType, str]] = ..., post_only: _Optional[_Union[PostOnly, str]] = ..., trigger: _Optional[_Union[Trigger, str]] = ..., trigger_source: _Optional[_Union[TriggerSource, str]] = ..., trigger_direction: _Optional[_Union[TriggerDirection, str]] = ..., trigger_value: _Optional[int] = ..., display_quantity: _Optional[int] = ..., has_limit: _Optional[bool] = ...) -> None: ...
