//! The money inside the core: currencies, accounts, balances and external references.
//!
//! Layout: a balance is one cache line in one slab; an account lists the index of each of its balances by
//! the index of the currency, and an open order knows both balances that it can touch, so that a fill looks
//! up nothing. What orders hold and lock is kept up to date with each change: asking for free funds is O(1).
//! Memory: 64 bytes a balance; 40 bytes an account, and 4 for each currency up to the last one that it used;
//! 48 bytes a reference; and 16 to 32 in the index for each account and reference. References are kept.
//! Limits: every total is between 0 and `AMOUNT_MAX`, for so is the sum of a currency over all accounts.

use crate::amount::{add, subtract};
use crate::index::{HashIndex, hash, hash_wide};
use crate::slab::Slab;
use crate::types::{FEE_ACCOUNT, Kind, NIL, StpMode};

/// A currency.
#[derive(Clone, Debug, Default)]
pub struct Currency {
    /// Its number; 0 for a place without one.
    pub number: u32,
    /// Σ totals over all accounts.
    pub supply: i128,
}

/// An account, whose balances lie elsewhere.
#[derive(Clone, Debug, Default)]
pub struct Account {
    /// Its number; 0 for a place without one.
    pub number: u64,
    /// Taker and maker fee of its own, in basis points.
    pub fees: Option<(i16, i16)>,
    /// Whether it may place orders.
    pub active: bool,
    /// What happens when two of its orders meet.
    pub stp_mode: StpMode,
    balances: Vec<u32>,
}

/// An account's money in one currency, in amount units.
#[derive(Clone, Debug, Default)]
#[repr(align(64))]
pub struct Balance {
    /// All of it.
    pub total: i128,
    /// What open orders and reservations hold.
    pub held: i128,
    /// What open orders hold without fees, at their limit prices.
    pub locked: i128,
    /// Number of the account.
    pub account_number: u64,
    /// Index of the account.
    pub account: u32,
    /// Index of the currency.
    pub currency: u32,
}

impl Balance {
    /// What new orders, withdrawals and reservations may use.
    #[must_use]
    #[inline]
    pub fn free(&self) -> i128 {
        subtract(self.total, self.held)
    }

    /// Counts an order's hold and the part of it that is locked.
    #[inline]
    pub fn hold(&mut self, held: i128, locked: i128) {
        self.held = add(self.held, held);
        self.locked = add(self.locked, locked);
    }

    /// Undoes [`Balance::hold`] for all or a part of an order.
    #[inline]
    pub fn release(&mut self, held: i128, locked: i128) {
        self.held = subtract(self.held, held);
        self.locked = subtract(self.locked, locked);
    }

    /// Takes `amount` off the total.
    #[inline]
    pub fn pay(&mut self, amount: i128) {
        self.total = subtract(self.total, amount);
    }

    /// Adds `amount` to the total.
    #[inline]
    pub fn receive(&mut self, amount: i128) {
        self.total = add(self.total, amount);
    }
}

/// State of a reference.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum ReferenceState {
    /// A movement that was done.
    #[default]
    Done = 0,
    /// A reservation that holds its amount.
    Held = 1,
    /// A reservation whose amount is free again.
    Released = 2,
    /// A reservation whose amount left.
    Completed = 3,
}

/// A movement of money that was remembered under an external reference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reference {
    /// The external reference.
    pub reference: u128,
    /// Signed amount units.
    pub amount: i128,
    /// Number of the account.
    pub account: u64,
    /// Number of the currency.
    pub currency: u32,
    /// DEPOSIT, WITHDRAW, RESERVE or ADJUST.
    pub kind: Kind,
    /// What became of it.
    pub state: ReferenceState,
}

impl Default for Reference {
    fn default() -> Self {
        Self {
            reference: 0,
            amount: 0,
            account: 0,
            currency: 0,
            kind: Kind::Deposit,
            state: ReferenceState::Done,
        }
    }
}

/// All currencies, accounts, balances and references.
#[derive(Clone, Debug)]
pub struct Ledger {
    /// Currencies.
    pub currencies: Slab<Currency>,
    currency_index: HashIndex,
    /// Accounts.
    pub accounts: Slab<Account>,
    account_index: HashIndex,
    /// Balances of all accounts.
    pub balances: Slab<Balance>,
    /// References.
    pub references: Slab<Reference>,
    reference_index: HashIndex,
}

impl Default for Ledger {
    fn default() -> Self {
        Self::new()
    }
}

impl Ledger {
    /// A ledger without currencies, accounts or references.
    #[must_use]
    pub fn new() -> Self {
        Self {
            currencies: Slab::new(0),
            currency_index: HashIndex::new(0),
            accounts: Slab::new(0),
            account_index: HashIndex::new(0),
            balances: Slab::new(0),
            references: Slab::new(0),
            reference_index: HashIndex::new(0),
        }
    }

    /// Index of the currency `number`, or `NIL`.
    #[must_use]
    pub fn currency(&self, number: u32) -> u32 {
        self.currency_index.find(hash(u64::from(number)), |index| self.currencies.at(index).number == number)
    }

    /// Adds a currency whose number is new.
    pub fn add_currency(&mut self, number: u32) {
        let index = self.currencies.insert(Currency { number, supply: 0 });
        self.currency_index.insert(hash(u64::from(number)), index);
    }

    /// Removes a currency that no balance uses.
    pub fn remove_currency(&mut self, index: u32) {
        self.currency_index.remove(hash(u64::from(self.currencies.at(index).number)), index);
        self.currencies.remove(index);
    }

    /// Currency numbers, ascending.
    #[must_use]
    pub fn currency_numbers(&self) -> Vec<u32> {
        let mut numbers: Vec<u32> = self
            .currencies
            .iter()
            .map(|(_, currency)| currency.number)
            .filter(|&number| number != 0)
            .collect();
        numbers.sort_unstable();
        numbers
    }

    /// Index of the account `number`, or `NIL`.
    #[must_use]
    #[inline]
    pub fn account(&self, number: u64) -> u32 {
        self.account_index.find(hash(number), |index| self.accounts.at(index).number == number)
    }

    /// Adds an account whose number is new.
    pub fn add_account(&mut self, number: u64, active: bool, stp_mode: StpMode) -> u32 {
        let account = Account { number, active, stp_mode, ..Account::default() };
        let index = self.accounts.insert(account);
        self.account_index.insert(hash(number), index);
        index
    }

    /// Accounts by ascending number.
    #[must_use]
    pub fn by_number(&self) -> Vec<u32> {
        let mut accounts: Vec<(u64, u32)> =
            self.accounts.iter().map(|(index, account)| (account.number, index)).collect();
        accounts.sort_unstable();
        accounts.into_iter().map(|(_, index)| index).collect()
    }

    /// Index of an account's balance in a currency, or `NIL`.
    #[must_use]
    #[inline]
    pub fn balance(&self, account: u32, currency: u32) -> u32 {
        self.accounts.at(account).balances.get(currency as usize).copied().unwrap_or(NIL)
    }

    /// Index of an account's balance in a currency, which is made if it is missing.
    #[inline]
    pub fn balance_or_new(&mut self, account: u32, currency: u32) -> u32 {
        let index = self.balance(account, currency);
        if index != NIL {
            return index;
        }
        self.new_balance(account, currency)
    }

    #[cold]
    fn new_balance(&mut self, account: u32, currency: u32) -> u32 {
        let entry = self.accounts.at_mut(account);
        let balance = Balance { account_number: entry.number, account, currency, ..Balance::default() };
        let index = self.balances.insert(balance);
        let place = currency as usize;
        if place >= entry.balances.len() {
            entry.balances.resize(place + 1, NIL);
        }
        if let Some(slot) = entry.balances.get_mut(place) {
            *slot = index;
        }
        index
    }

    /// An account's balances that are not zero, by ascending currency number.
    #[must_use]
    pub fn balances_of(&self, account: u32) -> Vec<(u32, &Balance)> {
        let own = self.accounts.at(account).balances.iter().map(|&index| self.balances.at(index));
        let mut rows: Vec<(u32, &Balance)> = own
            .filter(|balance| balance.total != 0)
            .map(|balance| (self.currencies.at(balance.currency).number, balance))
            .collect();
        rows.sort_unstable_by_key(|(currency, _)| *currency);
        rows
    }

    /// Changes a total and the currency's sum by `amount`; the caller has checked both. Answers the total.
    pub fn change_total(&mut self, balance: u32, amount: i128) -> i128 {
        let entry = self.balances.at_mut(balance);
        entry.receive(amount);
        let currency = self.currencies.at_mut(entry.currency);
        currency.supply = add(currency.supply, amount);
        entry.total
    }

    /// Index of `reference`, or `NIL`; 0 is never known.
    #[must_use]
    pub fn reference(&self, reference: u128) -> u32 {
        if reference == 0 {
            return NIL;
        }
        let matches = |index| self.references.at(index).reference == reference;
        self.reference_index.find(hash_wide(reference), matches)
    }

    /// Remembers a movement, unless its reference is 0. The reference must not be known yet.
    pub fn remember(&mut self, entry: Reference) {
        let reference = entry.reference;
        if reference == 0 {
            return;
        }
        let index = self.references.insert(entry);
        self.reference_index.insert(hash_wide(reference), index);
    }

    /// References in ascending order.
    #[must_use]
    pub fn by_reference(&self) -> Vec<&Reference> {
        let mut entries: Vec<&Reference> = self.references.iter().map(|(_, entry)| entry).collect();
        entries.sort_unstable_by_key(|entry| entry.reference);
        entries
    }

    /// Index of the fee account.
    #[must_use]
    pub fn fee_account(&self) -> u32 {
        self.account(FEE_ACCOUNT)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_balance_is_one_cache_line() {
        assert_eq!(size_of::<Balance>(), 64);
        assert_eq!(size_of::<Account>(), 40);
        assert_eq!(size_of::<Reference>(), 48);
    }

    #[test]
    fn a_new_currency_may_take_the_place_of_a_removed_one() {
        let mut ledger = Ledger::new();
        ledger.add_currency(5);
        let account = ledger.add_account(9, true, StpMode::None);
        let balance = ledger.balance_or_new(account, ledger.currency(5));
        assert_eq!(ledger.change_total(balance, 7), 7);
        assert_eq!(ledger.change_total(balance, -7), 0);
        ledger.remove_currency(ledger.currency(5));
        ledger.add_currency(6);
        assert_eq!(ledger.balance_or_new(account, ledger.currency(6)), balance);
        assert_eq!((ledger.currency(5), ledger.currency_numbers()), (NIL, vec![6]));
        assert!(ledger.balances_of(account).is_empty());
    }

    #[test]
    fn the_reference_zero_is_never_known() {
        let mut ledger = Ledger::new();
        ledger.remember(Reference::default());
        assert_eq!((ledger.reference(0), ledger.references.len()), (NIL, 0));
        ledger.remember(Reference { reference: 1 << 100, ..Reference::default() });
        assert_ne!(ledger.reference(1 << 100), NIL);
    }
}
