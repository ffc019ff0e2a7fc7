"""The reference core's directory commands: currencies, symbols and accounts."""

from openspot.domain.order import StpMode
from openspot.domain.result_code import ResultCode
from openspot.domain.symbol import FEE_BPS_MAX, specification_error
from openspot.engine.core.protocol import FEE_ACCOUNT, Symbol
from openspot.engine.core.records import FLAG_ACTIVE, Command, CreateSymbol
from openspot.engine.core.reference_state import Account, Emit, Market, Outcome, State, found, require

_SIGNED_64_LIMIT = 1 << 63


def create_currency(state: State, command: Command, emit: Emit) -> Outcome:
    """Make a currency known."""
    require(command.symbol > 0, ResultCode.INVALID_CURRENCY)
    require(command.symbol not in state.currencies, ResultCode.CURRENCY_ALREADY_EXISTS)
    state.currencies[command.symbol] = 0
    return Outcome()


def delete_currency(state: State, command: Command, emit: Emit) -> Outcome:
    """Forget a currency that no symbol and no balance uses."""
    require(command.symbol in state.currencies, ResultCode.INVALID_CURRENCY)
    # No total is negative, so a sum of zero is a zero in each account.
    in_use = state.currencies[command.symbol] != 0 or any(
        command.symbol in (market.symbol.base, market.symbol.quote) for market in state.markets.values()
    )
    require(not in_use, ResultCode.CURRENCY_IN_USE)
    del state.currencies[command.symbol]
    return Outcome()


def create_symbol(state: State, command: CreateSymbol) -> Outcome:
    """Make a symbol, active and with an empty book."""
    require(command.symbol > 0, ResultCode.INVALID_SYMBOL)
    require(command.symbol not in state.markets, ResultCode.SYMBOL_ALREADY_EXISTS)
    require(command.base in state.currencies and command.quote in state.currencies, ResultCode.INVALID_CURRENCY)
    require(command.base != command.quote, ResultCode.INVALID_CURRENCY)
    figures = command[4:]
    require(specification_error(*figures) is None, ResultCode.INVALID_SYMBOL_SPECIFICATION)
    state.markets[command.symbol] = Market(Symbol(command.symbol, command.base, command.quote, *figures, active=True))
    return Outcome()


def update_symbol(state: State, command: Command, emit: Emit) -> Outcome:
    """Set a symbol's fees and whether it takes orders. Open orders keep the fees that they came with."""
    market = found(state.markets.get(command.symbol), ResultCode.INVALID_SYMBOL)
    taker, maker = _signed(command.order_id), _signed(command.account)
    require(_fees_are_allowed(taker, maker), ResultCode.INVALID_SYMBOL_SPECIFICATION)
    market.symbol = market.symbol._replace(
        taker_fee_bps=taker, maker_fee_bps=maker, active=bool(command.flags & FLAG_ACTIVE)
    )
    return Outcome()


def delete_symbol(state: State, command: Command, emit: Emit) -> Outcome:
    """Forget a symbol that has no open orders (fact B4.4-15)."""
    market = found(state.markets.get(command.symbol), ResultCode.INVALID_SYMBOL)
    require(next(market.book.orders(), None) is None, ResultCode.SYMBOL_HAS_OPEN_ORDERS)
    del state.markets[command.symbol]
    return Outcome()


def create_account(state: State, command: Command, emit: Emit) -> Outcome:
    """Make an account with an STP mode, active or not."""
    require(command.account > 0, ResultCode.AUTH_INVALID_USER)
    require(command.account not in state.accounts, ResultCode.ACCOUNT_ALREADY_EXISTS)
    _check_stp_mode(command)
    state.accounts[command.account] = Account(bool(command.flags & FLAG_ACTIVE), command.order_type)
    return Outcome()


def set_account(state: State, command: Command, emit: Emit) -> Outcome:
    """Set an account's STP mode and whether it may place orders. Its open orders stay."""
    account = found(state.accounts.get(command.account), ResultCode.AUTH_INVALID_USER)
    require(command.account != FEE_ACCOUNT, ResultCode.AUTH_INVALID_USER)
    _check_stp_mode(command)
    account.active, account.stp_mode = bool(command.flags & FLAG_ACTIVE), command.order_type
    return Outcome()


def set_account_fees(state: State, command: Command, emit: Emit) -> Outcome:
    """Give an account fees of its own, or take them away. Its open orders keep theirs."""
    account = found(state.accounts.get(command.account), ResultCode.AUTH_INVALID_USER)
    if not command.flags & FLAG_ACTIVE:
        account.fees = None
        return Outcome()
    taker, maker = _signed(command.order_id), command.price
    require(_fees_are_allowed(taker, maker), ResultCode.INVALID_SYMBOL_SPECIFICATION)
    account.fees = (taker, maker)
    return Outcome()


def _check_stp_mode(command: Command) -> None:
    require(command.order_type in frozenset(StpMode), ResultCode.UNSUPPORTED_COMMAND)


def _fees_are_allowed(taker_fee_bps: int, maker_fee_bps: int) -> bool:
    """The rule that a new symbol's fees keep as well (domain/symbol.py)."""
    return 0 <= taker_fee_bps <= FEE_BPS_MAX and -taker_fee_bps <= maker_fee_bps <= FEE_BPS_MAX


def _signed(bits: int) -> int:
    """The signed number whose 64-bit two's complement is `bits`."""
    return bits - 2 * _SIGNED_64_LIMIT if bits >= _SIGNED_64_LIMIT else bits
