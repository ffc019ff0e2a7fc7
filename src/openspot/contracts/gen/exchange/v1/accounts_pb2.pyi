from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class DepositRequest(_message.Message):
    __slots__ = ("participant_id", "currency", "amount", "reference")
    PARTICIPANT_ID_FIELD_NUMBER: _ClassVar[int]
    CURRENCY_FIELD_NUMBER: _ClassVar[int]
    AMOUNT_FIELD_NUMBER: _ClassVar[int]
    REFERENCE_FIELD_NUMBER: _ClassVar[int]
    participant_id: str
    currency: str
    amount: str
    reference: str
    def __init__(self, participant_id: _Optional[str] = ..., currency: _Optional[str] = ..., amount: _Optional[str] = ..., reference: _Optional[str] = ...) -> None: ...

class DepositResponse(_message.Message):
    __slots__ = ("success", "result_code", "balance", "sequence")
    SUCCESS_FIELD_NUMBER: _ClassVar[int]
    RESULT_CODE_FIELD_NUMBER: _ClassVar[int]
    BALANCE_FIELD_NUMBER: _ClassVar[int]
    SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    success: bool
    result_code: str
    balance: str
    sequence: int
    def __init__(self, success: _Optional[bool] = ..., result_code: _Optional[str] = ..., balance: _Optional[str] = ..., sequence: _Optional[int] = ...) -> None: ...

class WithdrawRequest(_message.Message):
    __slots__ = ("participant_id", "currency", "amount", "reference")
    PARTICIPANT_ID_FIELD_NUMBER: _ClassVar[int]
    CURRENCY_FIELD_NUMBER: _ClassVar[int]
    AMOUNT_FIELD_NUMBER: _ClassVar[int]
    REFERENCE_FIELD_NUMBER: _ClassVar[int]
    participant_id: str
    currency: str
    amount: str
    reference: str
    def __init__(self, participant_id: _Optional[str] = ..., currency: _Optional[str] = ..., amount: _Optional[str] = ..., reference: _Optional[str] = ...) -> None: ...

class WithdrawResponse(_message.Message):
    __slots__ = ("success", "result_code", "balance", "sequence")
    SUCCESS_FIELD_NUMBER: _ClassVar[int]
    RESULT_CODE_FIELD_NUMBER: _ClassVar[int]
    BALANCE_FIELD_NUMBER: _ClassVar[int]
    SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    success: bool
    result_code: str
    balance: str
    sequence: int
    def __init__(self, success: _Optional[bool] = ..., result_code: _Optional[str] = ..., balance: _Optional[str] = ..., sequence: _Optional[int] = ...) -> None: ...

class ReserveWithdrawalRequest(_message.Message):
    __slots__ = ("participant_id", "currency", "amount", "reference")
    PARTICIPANT_ID_FIELD_NUMBER: _ClassVar[int]
    CURRENCY_FIELD_NUMBER: _ClassVar[int]
    AMOUNT_FIELD_NUMBER: _ClassVar[int]
    REFERENCE_FIELD_NUMBER: _ClassVar[int]
    participant_id: str
    currency: str
    amount: str
    reference: str
    def __init__(self, participant_id: _Optional[str] = ..., currency: _Optional[str] = ..., amount: _Optional[str] = ..., reference: _Optional[str] = ...) -> None: ...

class ReserveWithdrawalResponse(_message.Message):
    __slots__ = ("success", "result_code", "balance", "sequence")
    SUCCESS_FIELD_NUMBER: _ClassVar[int]
    RESULT_CODE_FIELD_NUMBER: _ClassVar[int]
    BALANCE_FIELD_NUMBER: _ClassVar[int]
    SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    success: bool
    result_code: str
    balance: str
    sequence: int
    def __init__(self, success: _Optional[bool] = ..., result_code: _Optional[str] = ..., balance: _Optional[str] = ..., sequence: _Optional[int] = ...) -> None: ...

class ReleaseWithdrawalRequest(_message.Message):
    __slots__ = ("reference",)
    REFERENCE_FIELD_NUMBER: _ClassVar[int]
    reference: str
    def __init__(self, reference: _Optional[str] = ...) -> None: ...

class ReleaseWithdrawalResponse(_message.Message):
    __slots__ = ("success", "result_code")
    SUCCESS_FIELD_NUMBER: _ClassVar[int]
    RESULT_CODE_FIELD_NUMBER: _ClassVar[int]
    success: bool
    result_code: str
    def __init__(self, success: _Optional[bool] = ..., result_code: _Optional[str] = ...) -> None: ...

class CompleteWithdrawalRequest(_message.Message):
    __slots__ = ("reference", "participant_id", "currency", "amount")
    REFERENCE_FIELD_NUMBER: _ClassVar[int]
    PARTICIPANT_ID_FIELD_NUMBER: _ClassVar[int]
    CURRENCY_FIELD_NUMBER: _ClassVar[int]
    AMOUNT_FIELD_NUMBER: _ClassVar[int]
    reference: str
    participant_id: str
    currency: str
    amount: str
    def __init__(self, reference: _Optional[str] = ..., participant_id: _Optional[str] = ..., currency: _Optional[str] = ..., amount: _Optional[str] = ...) -> None: ...

class CompleteWithdrawalResponse(_message.Message):
    __slots__ = ("success", "result_code")
    SUCCESS_FIELD_NUMBER: _ClassVar[int]
    RESULT_CODE_FIELD_NUMBER: _ClassVar[int]
    success: bool
    result_code: str
    def __init__(self, success: _Optional[bool] = ..., result_code: _Optional[str] = ...) -> None: ...

class TransferRequest(_message.Message):
    __slots__ = ("reference", "kind", "movements")
    REFERENCE_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    MOVEMENTS_FIELD_NUMBER: _ClassVar[int]
    reference: str
    kind: str
    movements: _containers.RepeatedCompositeFieldContainer[Movement]
    def __init__(self, reference: _Optional[str] = ..., kind: _Optional[str] = ..., movements: _Optional[_Iterable[_Union[Movement, _Mapping]]] = ...) -> None: ...

class Movement(_message.Message):
    __slots__ = ("from_participant_id", "to_participant_id", "currency", "amount")
    FROM_PARTICIPANT_ID_FIELD_NUMBER: _ClassVar[int]
    TO_PARTICIPANT_ID_FIELD_NUMBER: _ClassVar[int]
    CURRENCY_FIELD_NUMBER: _ClassVar[int]
    AMOUNT_FIELD_NUMBER: _ClassVar[int]
    from_participant_id: str
    to_participant_id: str
    currency: str
    amount: str
    def __init__(self, from_participant_id: _Optional[str] = ..., to_participant_id: _Optional[str] = ..., currency: _Optional[str] = ..., amount: _Optional[str] = ...) -> None: ...

class TransferResponse(_message.Message):
    __slots__ = ("success", "result_code", "sequence", "message")
    SUCCESS_FIELD_NUMBER: _ClassVar[int]
    RESULT_CODE_FIELD_NUMBER: _ClassVar[int]
    SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    success: bool
    result_code: str
    sequence: int
    message: str
    def __init__(self, success: _Optional[bool] = ..., result_code: _Optional[str] = ..., sequence: _Optional[int] = ..., message: _Optional[str] = ...) -> None: ...

class GetBalancesRequest(_message.Message):
    __slots__ = ("participant_id",)
    PARTICIPANT_ID_FIELD_NUMBER: _ClassVar[int]
    participant_id: str
    def __init__(self, participant_id: _Optional[str] = ...) -> None: ...

class GetBalancesResponse(_message.Message):
    __slots__ = ("balances",)
    BALANCES_FIELD_NUMBER: _ClassVar[int]
    balances: _containers.RepeatedCompositeFieldContainer[Balance]
    def __init__(self, balances: _Optional[_Iterable[_Union[Balance, _Mapping]]] = ...) -> None: ...

class Balance(_message.Message):
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

class SetOwnersRequest(_message.Message):
    __slots__ = ("links",)
    LINKS_FIELD_NUMBER: _ClassVar[int]
    links: _containers.RepeatedCompositeFieldContainer[OwnerLink]
    def __init__(self, links: _Optional[_Iterable[_Union[OwnerLink, _Mapping]]] = ...) -> None: ...

class OwnerLink(_message.Message):
    __slots__ = ("first_participant_id", "second_participant_id")
    FIRST_PARTICIPANT_ID_FIELD_NUMBER: _ClassVar[int]
    SECOND_PARTICIPANT_ID_FIELD_NUMBER: _ClassVar[int]
    first_participant_id: str
    second_participant_id: str
    def __init__(self, first_participant_id: _Optional[str] = ..., second_participant_id: _Optional[str] = ...) -> None: ...

class SetOwnersResponse(_message.Message):
    __slots__ = ("success", "result_code", "message", "changed", "remaining")
    SUCCESS_FIELD_NUMBER: _ClassVar[int]
    RESULT_CODE_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    CHANGED_FIELD_NUMBER: _ClassVar[int]
    REMAINING_FIELD_NUMBER: _ClassVar[int]
    success: bool
    result_code: str
    message: str
    changed: int
    remaining: int
    def __init__(self, success: _Optional[bool] = ..., result_code: _Optional[str] = ..., message: _Optional[str] = ..., changed: _Optional[int] = ..., remaining: _Optional[int] = ...) -> None: ...
