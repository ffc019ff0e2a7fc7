"""The reference core's commands on currencies, symbols and accounts."""

from openspot.domain.order import StpMode
from openspot.domain.result_code import ResultCode
from openspot.domain.symbol import FEE_BPS_MAX, specification_error
from openspot.engine.core.protocol import FEE_ACCOUNT, Symbol
from openspot.engine.core.records import FLAG_ACTIVE, Command, CreateSymbol
from openspot.engine.core.reference_book import SymbolBook
from openspot.engine.core.reference_state import (
    Account,
    CommandResult,
    CoreState,
    Emit,
    FeeRates,
    require,
    require_found,
)

_SIGNED_64_LIMIT = 1 << 63


def create_currency(state: CoreState, command: Command, emit: Emit) -> CommandResult:
    """Add a currency."""
    require(command.symbol > 0, ResultCode.INVALID_CURRENCY)
    require(command.symbol not in state.supplies, ResultCode.CURRENCY_ALREADY_EXISTS)
    state.supplies[command.symbol] = 0
    return CommandResult()


def delete_currency(state: CoreState, command: Command, emit: Emit) -> CommandResult:
    """Delete a currency that no symbol and no balance uses."""
    require(command.symbol in state.supplies, ResultCode.INVALID_CURRENCY)
    # No total is negative, so the supply is 0 only if every total is.
    in_use = state.supplies[command.symbol] != 0 or any(
        command.symbol in (book.symbol.base, book.symbol.quote) for book in state.books.values()
    )
    require(not in_use, ResultCode.CURRENCY_IN_USE)
    del state.supplies[command.symbol]
    return CommandResult()


def create_symbol(state: CoreState, command: CreateSymbol) -> CommandResult:
    """Add an active symbol with an empty book."""
    require(command.symbol > 0, ResultCode.INVALID_SYMBOL)
    require(command.symbol not in state.books, ResultCode.SYMBOL_ALREADY_EXISTS)
    symbol = Symbol(
        symbol=command.symbol,
        base=command.base,
        quote=command.quote,
        base_scale_k=command.base_scale_k,
        quote_scale_k=command.quote_scale_k,
        tick=command.tick,
        lot=command.lot,
        taker_fee_bps=command.taker_fee_bps,
        maker_fee_bps=command.maker_fee_bps,
        active=True,
    )
    add_symbol(state, symbol)
    return CommandResult()


def add_symbol(state: CoreState, symbol: Symbol) -> None:
    """Add a symbol with a new number. Raises Rejected if it breaks a rule."""
    require(symbol.base in state.supplies and symbol.quote in state.supplies, ResultCode.INVALID_CURRENCY)
    require(symbol.base != symbol.quote, ResultCode.INVALID_CURRENCY)
    error = specification_error(
        symbol.base_scale_k, symbol.quote_scale_k, symbol.tick, symbol.lot, symbol.taker_fee_bps, symbol.maker_fee_bps
    )
    require(error is None, ResultCode.INVALID_SYMBOL_SPECIFICATION)
    state.books[symbol.symbol] = SymbolBook(symbol)


def update_symbol(state: CoreState, command: Command, emit: Emit) -> CommandResult:
    """Set a symbol's fees and whether it accepts orders. Open orders keep the fees they came with."""
    book = require_found(state.books.get(command.symbol), ResultCode.INVALID_SYMBOL)
    fees = FeeRates(_signed(command.order_id), _signed(command.account))
    require(fees_valid(fees), ResultCode.INVALID_SYMBOL_SPECIFICATION)
    book.symbol = book.symbol._replace(
        taker_fee_bps=fees.taker_bps, maker_fee_bps=fees.maker_bps, active=bool(command.flags & FLAG_ACTIVE)
    )
    return CommandResult()


def delete_symbol(state: CoreState, command: Command, emit: Emit) -> CommandResult:
    """Delete a symbol without open orders (fact B4.4-15)."""
    book = require_found(state.books.get(command.symbol), ResultCode.INVALID_SYMBOL)
    waits = any(waiter.order.symbol == command.symbol for waiter in state.waiting.values())
    waits |= any(order_list.symbol == command.symbol for order_list in state.lists.values())
    require(not waits and next(book.orders(), None) is None, ResultCode.SYMBOL_HAS_OPEN_ORDERS)
    del state.books[command.symbol]
    return CommandResult()


def create_account(state: CoreState, command: Command, emit: Emit) -> CommandResult:
    """Add an account with an STP mode."""
    require(command.account > 0, ResultCode.AUTH_INVALID_USER)
    require(command.account not in state.accounts, ResultCode.ACCOUNT_ALREADY_EXISTS)
    _check_stp_mode(command)
    state.accounts[command.account] = Account(bool(command.flags & FLAG_ACTIVE), command.order_type)
    return CommandResult()


def set_account(state: CoreState, command: Command, emit: Emit) -> CommandResult:
    """Set an account's STP mode and whether it may place orders. Its open orders stay."""
    account = require_found(state.accounts.get(command.account), ResultCode.AUTH_INVALID_USER)
    require(command.account != FEE_ACCOUNT, ResultCode.AUTH_INVALID_USER)
    _check_stp_mode(command)
    account.active, account.stp_mode = bool(command.flags & FLAG_ACTIVE), command.order_type
    return CommandResult()


def set_account_fees(state: CoreState, command: Command, emit: Emit) -> CommandResult:
    """Give an account its own fees, or remove them. Its open orders keep their fees."""
    account = require_found(state.accounts.get(command.account), ResultCode.AUTH_INVALID_USER)
    if not command.flags & FLAG_ACTIVE:
        account.fees = None
        return CommandResult()
    fees = FeeRates(_signed(command.order_id), command.price)
    require(fees_valid(fees), ResultCode.INVALID_SYMBOL_SPECIFICATION)
    account.fees = fees
    return CommandResult()


def set_owner(state: CoreState, command: Command, emit: Emit) -> CommandResult:
    """Let the user of one account own another, too, or end that. Open orders stay; their later matches follow it."""
    account, owner = command.account, command.order_id
    require(state.may_be_linked(account), ResultCode.AUTH_INVALID_USER)
    if owner == 0:
        state.owners.pop(account, None)
        return CommandResult()
    require(owner != account and state.may_be_linked(owner), ResultCode.AUTH_INVALID_USER)
    state.owners[account] = owner
    return CommandResult()


def fees_valid(fees: FeeRates) -> bool:
    """Whether fees follow the rule that domain/symbol.py has for a new symbol."""
    return 0 <= fees.taker_bps <= FEE_BPS_MAX and -fees.taker_bps <= fees.maker_bps <= FEE_BPS_MAX


def _check_stp_mode(command: Command) -> None:
    require(command.order_type in frozenset(StpMode), ResultCode.UNSUPPORTED_COMMAND)


def _signed(bits: int) -> int:
    """The signed number whose 64-bit two's complement is `bits`."""
    return bits - 2 * _SIGNED_64_LIMIT if bits >= _SIGNED_64_LIMIT else bits
