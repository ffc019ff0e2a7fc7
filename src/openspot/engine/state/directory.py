"""The directory: maps participants, symbols and currencies to the numbers by which the core knows them.

Commands carry names as notes, and the journal stores both, so a replay rebuilds the directory. A number keeps
its name forever, even after its symbol or currency is deleted, so that old events stay readable.

Account numbers are assigned in the order of commands. Account 1 is the fee account `house:fees`.
"""

from collections.abc import Iterator
from dataclasses import replace

import msgspec

from openspot.contracts.listings import ListingChange, MarketTerms
from openspot.domain.accounts import user_of_account
from openspot.domain.ids import FEE_ACCOUNT_ID
from openspot.domain.symbol import SymbolSpec
from openspot.engine.core.protocol import FEE_ACCOUNT, OWNER_SHIFT
from openspot.engine.core.records import FLAG_ACTIVE, Command, CommandKind, CreateSymbol
from openspot.kit.clock import NANOSECONDS_PER_MS

Note = tuple[str, ...]
"""The texts of a command. They do not fit into its record, which has a fixed size. By kind:

PLACE               (order id, metadata); if the directory did not know the participant or the symbol, followed
                    by (participant as sent, symbol as sent); and last the client order id, if the order is to be the
                    only open one with it
money kinds         (participant, reference); RELEASE and COMMIT: ("", reference)
MOVEMENT            (participant that receives,)
TRANSFER            (kind, reference); kind is a domain.transfer.TransferKind
CREATE_ACCOUNT      (participant, name, type, password hash)
SET_ACCOUNT         (participant,), and last FREEZE_NOTE, if it is inactive because an operator has frozen it
SET_ACCOUNT_FEES, SET_OWNER
                    (participant,)
REVOKE_TOKEN        (token id, expiry in milliseconds since 1970)
CREATE_CURRENCY, DESCRIBE_CURRENCY
                    (currency, name, decimal places), and last the logo, if it has one
CREATE_SYMBOL       (symbol,)
LIST_MARKET         (terms, change): JSON of contracts.listings.MarketTerms, and of a ListingChange whose timestamp is
                    that of the command
NOTE_ACTION         (action,): JSON of a contracts.engine_actions.EngineAction; its order_id says how many commands
                    directly before it it is about
SET_PHASE           (cause,), a domain.market_phase.PhaseCause, if the engine itself sends it, else ()
any other           ()
"""

DESCRIBE_CURRENCY = 200
"""Sets the name and decimal places of a currency. Only the directory knows this kind: the core refuses it with
UNSUPPORTED_COMMAND and advances its command sequence."""
LIST_MARKET = 37
"""Sets the terms of a market and notes the change. Only the directory knows this kind, as with DESCRIBE_CURRENCY."""
NOTE_ACTION = 202
"""Says which operator gave the commands before it, and why. Only `operator_actions.py` knows this kind, as above."""
DESCRIBING_KINDS = frozenset({DESCRIBE_CURRENCY, LIST_MARKET})
"""Kinds that the core refuses and the directory applies."""
CHANGES_KEPT_MAX = 200
"""How many changes of each market's listing are kept; the journal has all of them."""

NAMING_KINDS = frozenset(
    {
        int(CommandKind.CREATE_CURRENCY),
        int(CommandKind.DELETE_CURRENCY),
        int(CommandKind.CREATE_SYMBOL),
        int(CommandKind.UPDATE_SYMBOL),
        int(CommandKind.DELETE_SYMBOL),
        *DESCRIBING_KINDS,
    }
)
"""Kinds that change the directory if the core accepts them."""

PARTICIPANT_KINDS = frozenset(
    {
        int(CommandKind.DEPOSIT),
        int(CommandKind.ADJUST),
        int(CommandKind.CREATE_ACCOUNT),
        int(CommandKind.MOVEMENT),
    }
)
"""Kinds whose note may name a new participant."""

UNKNOWN_ACCOUNT = 2**64 - 1
UNKNOWN_SYMBOL = 2**32 - 1
"""Stand for names that the directory does not know. These numbers are never assigned. 0 cannot be used: in a CANCEL
it means an administrator, or any symbol."""


class Currency(msgspec.Struct, frozen=True, omit_defaults=True):
    """A currency. `places` is the number of decimal places shown to clients; the engine always keeps 18.

    `logo` names a picture in the folder of the brand; it is empty if there is none.
    """

    currency: str
    currency_id: int
    name: str
    places: int
    logo: str = ""

    @property
    def note(self) -> Note:
        """The note of the command that creates or describes it."""
        texts = (self.currency, self.name, str(self.places))
        return (*texts, self.logo) if self.logo else texts


class NameTakenError(Exception):
    """The name or number is already in use; the message says by what."""


class _Symbol(msgspec.Struct, array_like=True, frozen=True, kw_only=True):
    symbol: str
    symbol_id: int
    base: str
    quote: str
    base_scale_k: int
    quote_scale_k: int
    tick: int
    lot: int
    taker_fee_bps: int
    maker_fee_bps: int
    active: bool


class _Snapshot(msgspec.Struct, frozen=True):
    participants: list[str]
    currencies: list[Currency]
    deleted_currencies: list[int]
    symbols: list[_Symbol]
    deleted_symbols: list[int]
    owned: dict[str, int] = {}
    """The account numbers that name an owner."""
    terms: dict[int, MarketTerms] | msgspec.UnsetType = msgspec.UNSET
    changes: dict[int, list[ListingChange]] | msgspec.UnsetType = msgspec.UNSET
    """Left out while no market was listed or changed, as in snapshots of before."""


def client_order_id_of(note: Note) -> str:
    """The client order id in the note of a PLACE, empty if it has none: the other texts come in twos."""
    return note[-1] if len(note) % 2 else ""


def listed_texts(note: Note, order_id: str) -> Note:
    """What the note of a PLACE_LIST says of one of its orders: as the note of a PLACE with names that are not known.

    The note has the names of participant and symbol as sent, then order id and metadata of each order. Order ids may be
    empty, and then these orders share the metadata of the first one.
    """
    participant, symbol, *orders = note
    metadata = dict(zip(orders[-2::-2], orders[::-2], strict=True))
    return order_id, metadata[order_id], participant, symbol


def place_of(account: int) -> int:
    """The place of an account in the order of creation: the lower half of its number."""
    return account & ((1 << OWNER_SHIFT) - 1)


class Directory:
    """Names and numbers of participants, currencies and symbols."""

    def __init__(self) -> None:
        self.accounts: dict[str, int] = {FEE_ACCOUNT_ID: FEE_ACCOUNT}
        """Account numbers by participant."""
        self.symbols: dict[str, SymbolSpec] = {}
        """Existing symbols by name."""
        self.currencies: dict[str, Currency] = {}
        """Existing currencies by name."""
        self.margin_accounts: list[int] = []
        """Account numbers of margin accounts, in order of creation."""
        self.stray_margin_accounts: dict[str, list[str]] = {}
        """User → margin accounts whose numbers do not name the user's spot account."""
        self.terms: dict[int, MarketTerms] = {}
        """The terms of markets by symbol number, where they are other than those of domain/markets.toml."""
        self.changes: dict[int, list[ListingChange]] = {}
        """The newest changes of each market's listing by symbol number, oldest first."""
        self.version = 0
        """Counts the commands since the start that changed symbols, currencies or terms."""
        self._participants = ["", FEE_ACCOUNT_ID]
        self._symbols_ever: dict[int, SymbolSpec] = {}
        self._currencies_ever: dict[int, Currency] = {}

    # Participants

    def account(self, participant_id: str) -> int:
        """The account number of a participant, UNKNOWN_ACCOUNT if it has none."""
        return self.accounts.get(participant_id, UNKNOWN_ACCOUNT)

    def account_or_new(self, participant_id: str) -> int:
        """The account number of a participant. Assigns the next number to a new one.

        The number of a margin account names that of its user's spot account (`core.protocol.spot_account_of`).
        """
        number = self.accounts.get(participant_id)
        if number is None:
            owner = self.accounts.get(user_of_account(participant_id), 0)
            number = self.register(participant_id, owner << OWNER_SHIFT | len(self._participants))
        return number

    def register(self, participant_id: str, number: int) -> int:
        """The account number of a participant; a new one gets `number`, which must be the next one in its lower half.

        Older journals gave margin accounts numbers without an owner. These keep them.
        """
        known = self.accounts.get(participant_id)
        if known is not None:
            return known
        assert place_of(number) == len(self._participants), "account numbers follow each other"
        self.accounts[participant_id] = number
        self._participants.append(participant_id)
        self._note_margin_account(participant_id, number)
        return number

    def _note_margin_account(self, participant_id: str, number: int) -> None:
        user = user_of_account(participant_id)
        if user == participant_id:
            return
        self.margin_accounts.append(number)
        if not number >> OWNER_SHIFT:
            self.stray_margin_accounts.setdefault(user, []).append(participant_id)

    def participant(self, account: int) -> str:
        """The participant with this account number, empty if there is none."""
        place = place_of(account)
        if not 0 < place < len(self._participants):
            return ""
        name = self._participants[place]
        return name if self.accounts[name] == account else ""

    def accounts_from(self, place: int) -> Iterator[tuple[str, int]]:
        """(participant, account number) from this place on, in the order of creation, without those made meanwhile."""
        for at in range(max(place, FEE_ACCOUNT), len(self._participants)):
            name = self._participants[at]
            yield name, self.accounts[name]

    # Symbols and currencies

    def symbol(self, number: int) -> SymbolSpec | None:
        """The symbol with this number, which may be deleted."""
        return self._symbols_ever.get(number)

    def symbol_numbers(self, name: str) -> frozenset[int]:
        """All numbers that a symbol name has or ever had."""
        return frozenset(number for number, spec in self._symbols_ever.items() if spec.symbol == name)

    def currency(self, number: int) -> Currency | None:
        """The currency with this number, which may be deleted."""
        return self._currencies_ever.get(number)

    def currency_text(self, number: int) -> str:
        """The name of the currency with this number, empty if there is none."""
        known = self._currencies_ever.get(number)
        return known.currency if known else ""

    def next_symbol_id(self) -> int:
        """One above the highest number that any symbol ever had."""
        return max(self._symbols_ever, default=0) + 1

    def next_currency_id(self) -> int:
        """One above the highest number that any currency ever had."""
        return max(self._currencies_ever, default=0) + 1

    def check_new_symbol(self, spec: SymbolSpec) -> None:
        """Raise NameTakenError if the name exists, or if the number ever belonged to another symbol."""
        if spec.symbol in self.symbols:
            raise NameTakenError(f"symbol {spec.symbol} already exists")
        known = self._symbols_ever.get(spec.symbol_id)
        if known is not None and _identity(known) != _identity(spec):
            raise NameTakenError(f"symbolId {spec.symbol_id} belongs to {known.symbol}, whose name or scales differ")

    def check_new_currency(self, currency: Currency) -> None:
        """Raise NameTakenError if the name exists, or if the number ever belonged to another currency."""
        if currency.currency in self.currencies:
            raise NameTakenError(f"currency {currency.currency} already exists")
        known = self._currencies_ever.get(currency.currency_id)
        if known is not None and known.currency != currency.currency:
            raise NameTakenError(f"currencyId {currency.currency_id} belongs to {known.currency}")

    # Changes

    def apply(self, command: Command | CreateSymbol, note: Note) -> None:
        """Apply a command of NAMING_KINDS that the core accepted, or any of DESCRIBING_KINDS."""
        self.version += 1
        if isinstance(command, CreateSymbol):
            self._put_symbol(self._created_symbol(command, note[0]))
            return
        number = command.symbol
        if command.kind in (CommandKind.CREATE_CURRENCY, DESCRIBE_CURRENCY):
            name, title, places, *logo = note
            currency = Currency(name, number, title, int(places), *logo)
            self._currencies_ever[number] = self.currencies[name] = currency
        elif command.kind == CommandKind.DELETE_CURRENCY:
            self.currencies.pop(self.currency_text(number), None)
        elif command.kind == CommandKind.UPDATE_SYMBOL:
            taker, maker = _signed(command.order_id), _signed(command.account)
            active = bool(command.flags & FLAG_ACTIVE)
            known = self._symbols_ever[number]
            self._put_symbol(replace(known, taker_fee_bps=taker, maker_fee_bps=maker, active=active))
        elif command.kind == CommandKind.DELETE_SYMBOL:
            self.symbols.pop(self._symbols_ever[number].symbol, None)
            self.terms.pop(number, None)
        elif command.kind == LIST_MARKET and number in self._symbols_ever:
            terms, change = note
            self.terms[number] = msgspec.json.decode(terms, type=MarketTerms)
            self._note_change(number, change, command.timestamp // NANOSECONDS_PER_MS)

    def _note_change(self, number: int, text: str, timestamp: int) -> None:
        change = msgspec.json.decode(text, type=ListingChange)
        kept = self.changes.setdefault(number, [])
        kept.append(msgspec.structs.replace(change, timestamp=timestamp))
        del kept[:-CHANGES_KEPT_MAX]

    def _created_symbol(self, command: CreateSymbol, name: str) -> SymbolSpec:
        return SymbolSpec(
            symbol=name,
            symbol_id=command.symbol,
            base=self.currency_text(command.base),
            quote=self.currency_text(command.quote),
            base_scale_k=command.base_scale_k,
            quote_scale_k=command.quote_scale_k,
            tick=command.tick,
            lot=command.lot,
            taker_fee_bps=command.taker_fee_bps,
            maker_fee_bps=command.maker_fee_bps,
        )

    def _put_symbol(self, spec: SymbolSpec) -> None:
        self._symbols_ever[spec.symbol_id] = self.symbols[spec.symbol] = spec

    # Snapshot

    def snapshot(self, accounts: int) -> bytes:
        """The directory with its accounts up to the place `accounts` as bytes: equal directories give equal bytes."""
        participants = self._participants[FEE_ACCOUNT + 1 : accounts + 1]
        return msgspec.msgpack.encode(
            _Snapshot(
                participants,
                [currency for _, currency in sorted(self._currencies_ever.items())],
                sorted(
                    number
                    for number, known in self._currencies_ever.items()
                    if self.currencies.get(known.currency) is not known
                ),
                [_packed(spec) for _, spec in sorted(self._symbols_ever.items())],
                sorted(
                    number
                    for number, known in self._symbols_ever.items()
                    if self.symbols.get(known.symbol) is not known
                ),
                {name: number for name in participants if (number := self.accounts[name]) >> OWNER_SHIFT},
                dict(sorted(self.terms.items())) or msgspec.UNSET,
                dict(sorted(self.changes.items())) or msgspec.UNSET,
            )
        )

    def restore(self, snapshot: bytes) -> None:
        """Replace the directory. Raises ValueError unless `snapshot` is complete."""
        try:
            content = msgspec.msgpack.decode(snapshot, type=_Snapshot)
        except msgspec.MsgspecError as error:
            raise ValueError(f"not a snapshot of the directory: {error}") from error
        self._participants = ["", FEE_ACCOUNT_ID, *content.participants]
        self.accounts = {name: number for number, name in enumerate(self._participants) if number} | content.owned
        self.margin_accounts, self.stray_margin_accounts = [], {}
        for name in content.participants:
            self._note_margin_account(name, self.accounts[name])
        self._currencies_ever = {currency.currency_id: currency for currency in content.currencies}
        gone = set(content.deleted_currencies)
        self.currencies = {
            currency.currency: currency for currency in content.currencies if currency.currency_id not in gone
        }
        self._symbols_ever = {symbol.symbol_id: _unpacked(symbol) for symbol in content.symbols}
        gone = set(content.deleted_symbols)
        self.symbols = {spec.symbol: spec for number, spec in self._symbols_ever.items() if number not in gone}
        self.terms = content.terms or {}
        self.changes = content.changes or {}


def _identity(spec: SymbolSpec) -> tuple[object, ...]:
    """The properties that a symbol number keeps forever, because its old events cannot be read without them."""
    return spec.symbol, spec.base, spec.quote, spec.base_scale_k, spec.quote_scale_k


def _signed(value: int) -> int:
    return value - 2**64 if value >= 2**63 else value


def _packed(spec: SymbolSpec) -> _Symbol:
    return _Symbol(
        symbol=spec.symbol,
        symbol_id=spec.symbol_id,
        base=spec.base,
        quote=spec.quote,
        base_scale_k=spec.base_scale_k,
        quote_scale_k=spec.quote_scale_k,
        tick=spec.tick,
        lot=spec.lot,
        taker_fee_bps=spec.taker_fee_bps,
        maker_fee_bps=spec.maker_fee_bps,
        active=spec.active,
    )


def _unpacked(symbol: _Symbol) -> SymbolSpec:
    return SymbolSpec(**msgspec.structs.asdict(symbol))
