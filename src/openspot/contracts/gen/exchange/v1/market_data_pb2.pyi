from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class GetOrderBookRequest(_message.Message):
    __slots__ = ("symbol", "depth")
    SYMBOL_FIELD_NUMBER: _ClassVar[int]
    DEPTH_FIELD_NUMBER: _ClassVar[int]
    symbol: str
    depth: int
    def __init__(self, symbol: _Optional[str] = ..., depth: _Optional[int] = ...) -> None: ...

class GetOrderBookResponse(_message.Message):
    __slots__ = ("symbol", "bids", "asks", "sequence", "timestamp")
    SYMBOL_FIELD_NUMBER: _ClassVar[int]
    BIDS_FIELD_NUMBER: _ClassVar[int]
    ASKS_FIELD_NUMBER: _ClassVar[int]
    SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    TIMESTAMP_FIELD_NUMBER: _ClassVar[int]
    symbol: str
    bids: _containers.RepeatedCompositeFieldContainer[BookLevel]
    asks: _containers.RepeatedCompositeFieldContainer[BookLevel]
    sequence: int
    timestamp: int
    def __init__(self, symbol: _Optional[str] = ..., bids: _Optional[_Iterable[_Union[BookLevel, _Mapping]]] = ..., asks: _Optional[_Iterable[_Union[BookLevel, _Mapping]]] = ..., sequence: _Optional[int] = ..., timestamp: _Optional[int] = ...) -> None: ...

class BookLevel(_message.Message):
    __slots__ = ("price", "quantity", "orders")
    PRICE_FIELD_NUMBER: _ClassVar[int]
    QUANTITY_FIELD_NUMBER: _ClassVar[int]
    ORDERS_FIELD_NUMBER: _ClassVar[int]
    price: str
    quantity: str
    orders: int
    def __init__(self, price: _Optional[str] = ..., quantity: _Optional[str] = ..., orders: _Optional[int] = ...) -> None: ...

class GetSymbolsRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class GetSymbolsResponse(_message.Message):
    __slots__ = ("symbols",)
    SYMBOLS_FIELD_NUMBER: _ClassVar[int]
    symbols: _containers.RepeatedCompositeFieldContainer[SymbolSpecification]
    def __init__(self, symbols: _Optional[_Iterable[_Union[SymbolSpecification, _Mapping]]] = ...) -> None: ...

class SymbolSpecification(_message.Message):
    __slots__ = ("symbol", "symbol_id", "base_currency", "quote_currency", "base_scale_k", "quote_scale_k", "tick_size", "lot_size", "taker_fee", "maker_fee", "active")
    SYMBOL_FIELD_NUMBER: _ClassVar[int]
    SYMBOL_ID_FIELD_NUMBER: _ClassVar[int]
    BASE_CURRENCY_FIELD_NUMBER: _ClassVar[int]
    QUOTE_CURRENCY_FIELD_NUMBER: _ClassVar[int]
    BASE_SCALE_K_FIELD_NUMBER: _ClassVar[int]
    QUOTE_SCALE_K_FIELD_NUMBER: _ClassVar[int]
    TICK_SIZE_FIELD_NUMBER: _ClassVar[int]
    LOT_SIZE_FIELD_NUMBER: _ClassVar[int]
    TAKER_FEE_FIELD_NUMBER: _ClassVar[int]
    MAKER_FEE_FIELD_NUMBER: _ClassVar[int]
    ACTIVE_FIELD_NUMBER: _ClassVar[int]
    symbol: str
    symbol_id: int
    base_currency: str
    quote_currency: str
    base_scale_k: int
    quote_scale_k: int
    tick_size: str
    lot_size: str
    taker_fee: int
    maker_fee: int
    active: bool
    def __init__(self, symbol: _Optional[str] = ..., symbol_id: _Optional[int] = ..., base_currency: _Optional[str] = ..., quote_currency: _Optional[str] = ..., base_scale_k: _Optional[int] = ..., quote_scale_k: _Optional[int] = ..., tick_size: _Optional[str] = ..., lot_size: _Optional[str] = ..., taker_fee: _Optional[int] = ..., maker_fee: _Optional[int] = ..., active: _Optional[bool] = ...) -> None: ...

class GetRecentTradesRequest(_message.Message):
    __slots__ = ("symbol", "limit")
    SYMBOL_FIELD_NUMBER: _ClassVar[int]
    LIMIT_FIELD_NUMBER: _ClassVar[int]
    symbol: str
    limit: int
    def __init__(self, symbol: _Optional[str] = ..., limit: _Optional[int] = ...) -> None: ...

class GetRecentTradesResponse(_message.Message):
    __slots__ = ("trades",)
    TRADES_FIELD_NUMBER: _ClassVar[int]
    trades: _containers.RepeatedCompositeFieldContainer[RecentTrade]
    def __init__(self, trades: _Optional[_Iterable[_Union[RecentTrade, _Mapping]]] = ...) -> None: ...

class RecentTrade(_message.Message):
    __slots__ = ("trade_id", "price", "quantity", "side", "timestamp", "sequence")
    TRADE_ID_FIELD_NUMBER: _ClassVar[int]
    PRICE_FIELD_NUMBER: _ClassVar[int]
    QUANTITY_FIELD_NUMBER: _ClassVar[int]
    SIDE_FIELD_NUMBER: _ClassVar[int]
    TIMESTAMP_FIELD_NUMBER: _ClassVar[int]
    SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    trade_id: str
    price: str
    quantity: str
    side: str
    timestamp: int
    sequence: int
    def __init__(self, trade_id: _Optional[str] = ..., price: _Optional[str] = ..., quantity: _Optional[str] = ..., side: _Optional[str] = ..., timestamp: _Optional[int] = ..., sequence: _Optional[int] = ...) -> None: ...
