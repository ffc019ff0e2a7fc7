//! The money inside the core: currencies, accounts, balances and transfers.
//!
//! Layout: a balance is one cache line in a slab. An account lists the index of each of its balances by the
//! index of the currency, and an open order knows the two balances that it can change, so a fill searches for
//! nothing. Each change also updates what orders hold and lock, so asking for free funds is O(1).
//! Memory: 64 bytes a balance; 40 bytes an account, and 4 for each currency up to the last one that it used;
//! 48 bytes a transfer; and 16 to 32 in an index for each account and transfer. Transfers with a reference
//! are kept for good.
//! Limits: every total is between 0 and `AMOUNT_MAX`, because the sum of a currency over all accounts is.

use crate::amount::{add, subtract};
use crate::hash_index::HashIndex;
use crate::invariant::{broken, require};
use crate::key_hash::HashSeed;
use crate::owners::{Owners, spot_account_of};
use crate::slab::Slab;
use crate::types::{CommandKind, FEE_ACCOUNT, NIL, StpMode};

/// A currency.
#[derive(Clone, Debug, Default)]
pub struct Currency {
    /// Number of the currency; 0 for an unused index.
    pub number: u32,
    /// Σ totals over all accounts.
    pub supply: i128,
}

/// An account. Its balances lie in a slab of their own.
#[derive(Clone, Debug, Default)]
pub struct Account {
    /// Number of the account; 0 for an unused index.
    pub number: u64,
    /// The account's own taker and maker fee in basis points, if it has any.
    pub fees: Option<(i16, i16)>,
    /// Whether the account may place orders.
    pub active: bool,
    /// What happens when two of its orders meet.
    pub stp_mode: StpMode,
    balances: Vec<u32>,
}

impl Account {
    /// Index of the account's balance in a currency, or `NIL`.
    #[must_use]
    #[inline]
    pub fn balance(&self, currency: u32) -> u32 {
        self.balances.get(currency as usize).copied().unwrap_or(NIL)
    }
}

/// An account's money in one currency, in amount units.
#[derive(Clone, Debug, Default)]
#[repr(align(64))]
pub struct Balance {
    /// Everything the account owns.
    pub total: i128,
    /// What open orders and reservations hold.
    pub held: i128,
    /// What open orders hold at their limit prices, without fees.
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

    /// Adds an order's hold and the locked part of it.
    #[inline]
    pub fn hold(&mut self, held: i128, locked: i128) {
        self.held = add(self.held, held);
        self.locked = add(self.locked, locked);
    }

    /// Undoes [`Balance::hold`] for all or part of an order.
    #[inline]
    pub fn release(&mut self, held: i128, locked: i128) {
        self.held = subtract(self.held, held);
        self.locked = subtract(self.locked, locked);
        require(self.held >= 0 && self.locked >= 0, "more is released than is held");
    }

    /// Subtracts `amount` from the total.
    #[inline]
    pub fn debit(&mut self, amount: i128) {
        self.total = subtract(self.total, amount);
        require(self.total >= 0, "a balance is below zero");
    }

    /// Adds `amount` to the total.
    #[inline]
    pub fn credit(&mut self, amount: i128) {
        self.total = add(self.total, amount);
    }
}

/// Status of a transfer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum TransferStatus {
    /// The money has moved.
    #[default]
    Done = 0,
    /// A reservation that holds its amount.
    Held = 1,
    /// A reservation whose amount is free again.
    Released = 2,
    /// A reservation whose amount has left the account.
    Completed = 3,
}

impl TransferStatus {
    /// The status that `value` stands for in a snapshot.
    #[must_use]
    pub fn from_record(value: u8) -> Option<Self> {
        match value {
            0 => Some(Self::Done),
            1 => Some(Self::Held),
            2 => Some(Self::Released),
            3 => Some(Self::Completed),
            _ => None,
        }
    }
}

/// Money that entered, left or was held for an account, under its external reference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transfer {
    /// The external reference; 0 is none.
    pub reference: u128,
    /// Signed amount units.
    pub amount: i128,
    /// Number of the account.
    pub account: u64,
    /// Number of the currency.
    pub currency: u32,
    /// DEPOSIT, WITHDRAW, RESERVE, ADJUST or TRANSFER, whose account and currency are those of its first
    /// movement, and whose amount is the digest of all.
    pub kind: CommandKind,
    /// What became of the money.
    pub status: TransferStatus,
}

impl Default for Transfer {
    fn default() -> Self {
        Self {
            reference: 0,
            amount: 0,
            account: 0,
            currency: 0,
            kind: CommandKind::Deposit,
            status: TransferStatus::Done,
        }
    }
}

/// All currencies, accounts, balances and transfers.
#[derive(Clone, Debug)]
pub struct Accounts {
    /// Currencies.
    pub currencies: Slab<Currency>,
    currency_index: HashIndex<u32>,
    /// Accounts.
    pub accounts: Slab<Account>,
    account_index: HashIndex<u64>,
    /// Who owns which account.
    pub owners: Owners,
    /// Balances of all accounts.
    pub balances: Slab<Balance>,
    /// Transfers that have a reference.
    pub transfers: Slab<Transfer>,
    transfer_index: HashIndex<u128>,
}

impl Accounts {
    /// No currencies, accounts or transfers; address space is set aside for `capacity` balances, and for a
    /// quarter as many accounts and transfers.
    #[must_use]
    pub fn with_capacity(capacity: usize, seed: HashSeed) -> Self {
        Self {
            currencies: Slab::with_capacity(0),
            currency_index: HashIndex::with_capacity(0, seed),
            accounts: Slab::with_capacity(capacity / 4),
            account_index: HashIndex::with_capacity(0, seed),
            owners: Owners::default(),
            balances: Slab::with_capacity(capacity),
            transfers: Slab::with_capacity(capacity / 4),
            transfer_index: HashIndex::with_capacity(0, seed),
        }
    }

    /// Index of the currency `number`, or `NIL`.
    #[must_use]
    pub fn find_currency(&self, number: u32) -> u32 {
        self.currency_index.find(number, |index| self.currencies.at(index).number == number)
    }

    /// Adds a currency with a new number.
    pub fn add_currency(&mut self, number: u32) {
        let index = self.currencies.insert(Currency { number, supply: 0 });
        self.currency_index.insert(number, index);
    }

    /// Removes a currency that no balance uses.
    pub fn remove_currency(&mut self, index: u32) {
        self.currency_index.remove(self.currencies.at(index).number, index);
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
    pub fn find_account(&self, number: u64) -> u32 {
        self.account_index.find(number, |index| self.accounts.at(index).number == number)
    }

    /// Adds an account with a new number and returns its index.
    pub fn add_account(&mut self, number: u64, active: bool, stp_mode: StpMode) -> u32 {
        let account = Account { number, active, stp_mode, ..Account::default() };
        let index = self.accounts.insert(account);
        self.account_index.insert(number, index);
        self.owners.add_account(number);
        index
    }

    /// Whether the account `number` may belong to another owner, or be one: a margin account says whose it is.
    #[must_use]
    pub fn may_be_linked(&self, number: u64) -> bool {
        number != FEE_ACCOUNT && spot_account_of(number) == number && self.find_account(number) != NIL
    }

    /// Indices of the accounts by ascending number.
    #[must_use]
    pub fn accounts_by_number(&self) -> Vec<u32> {
        let mut accounts: Vec<(u64, u32)> =
            self.accounts.iter().map(|(index, account)| (account.number, index)).collect();
        accounts.sort_unstable();
        accounts.into_iter().map(|(_, index)| index).collect()
    }

    /// Index of the fee account.
    #[must_use]
    pub fn fee_account(&self) -> u32 {
        self.find_account(FEE_ACCOUNT)
    }

    /// Index of an account's balance in a currency, or `NIL`.
    #[must_use]
    #[inline]
    pub fn find_balance(&self, account: u32, currency: u32) -> u32 {
        self.accounts.at(account).balance(currency)
    }

    /// Index of an account's balance in a currency. Adds the balance if it is missing.
    #[inline]
    pub fn balance_or_new(&mut self, account: u32, currency: u32) -> u32 {
        let index = self.find_balance(account, currency);
        if index != NIL {
            return index;
        }
        self.add_balance(account, currency)
    }

    #[cold]
    fn add_balance(&mut self, account: u32, currency: u32) -> u32 {
        let entry = self.accounts.at_mut(account);
        let balance = Balance { account_number: entry.number, account, currency, ..Balance::default() };
        let index = self.balances.insert(balance);
        let place = currency as usize;
        if place >= entry.balances.len() {
            entry.balances.resize(place + 1, NIL);
        }
        match entry.balances.get_mut(place) {
            Some(slot) => *slot = index,
            None => broken("an account has no place for a new balance"),
        }
        index
    }

    /// An account's non-zero balances, by ascending currency number.
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

    /// Changes a total and the currency's supply by `amount`, and returns the new total. The caller has
    /// checked the limits of both.
    pub fn change_total(&mut self, balance: u32, amount: i128) -> i128 {
        let entry = self.balances.at_mut(balance);
        entry.credit(amount);
        require(entry.total >= 0, "a balance is below zero");
        let currency = self.currencies.at_mut(entry.currency);
        currency.supply = add(currency.supply, amount);
        require(currency.supply >= 0, "the supply of a currency is below zero");
        entry.total
    }

    /// Index of the transfer with `reference`, or `NIL`. No transfer has the reference 0.
    #[must_use]
    pub fn find_transfer(&self, reference: u128) -> u32 {
        if reference == 0 {
            return NIL;
        }
        self.transfer_index.find(reference, |index| self.transfers.at(index).reference == reference)
    }

    /// Keeps a transfer under its new reference; does nothing if the reference is 0.
    pub fn add_transfer(&mut self, transfer: Transfer) {
        let reference = transfer.reference;
        if reference == 0 {
            return;
        }
        let index = self.transfers.insert(transfer);
        self.transfer_index.insert(reference, index);
    }

    /// Transfers by ascending reference.
    #[must_use]
    pub fn transfers_by_reference(&self) -> Vec<&Transfer> {
        let mut transfers: Vec<&Transfer> = self.transfers.iter().map(|(_, transfer)| transfer).collect();
        transfers.sort_unstable_by_key(|transfer| transfer.reference);
        transfers
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn accounts() -> Accounts {
        Accounts::with_capacity(0, HashSeed::random())
    }

    #[test]
    #[should_panic(expected = "more is released than is held")]
    fn a_release_of_more_than_is_held_ends_the_core() {
        let mut balance = Balance { held: 5, locked: 5, ..Balance::default() };
        balance.release(6, 5);
    }

    #[test]
    #[should_panic(expected = "a balance is below zero")]
    fn a_debit_of_more_than_there_is_ends_the_core() {
        Balance { total: 5, ..Balance::default() }.debit(6);
    }

    #[test]
    #[should_panic(expected = "the supply of a currency is below zero")]
    fn a_supply_that_does_not_cover_its_balances_ends_the_core() {
        let mut accounts = accounts();
        accounts.add_currency(1);
        let account = accounts.add_account(2, true, StpMode::None);
        let balance = accounts.balance_or_new(account, accounts.find_currency(1));
        accounts.change_total(balance, 5);
        let currency = accounts.find_currency(1);
        accounts.currencies.at_mut(currency).supply = 3;
        accounts.change_total(balance, -5);
    }

    #[test]
    fn a_balance_is_one_cache_line() {
        assert_eq!(size_of::<Balance>(), 64);
        assert_eq!(size_of::<Account>(), 40);
        assert_eq!(size_of::<Transfer>(), 48);
    }

    #[test]
    fn a_new_currency_may_reuse_the_index_of_a_removed_one() {
        let mut accounts = accounts();
        accounts.add_currency(5);
        let account = accounts.add_account(9, true, StpMode::None);
        let balance = accounts.balance_or_new(account, accounts.find_currency(5));
        assert_eq!(accounts.change_total(balance, 7), 7);
        assert_eq!(accounts.change_total(balance, -7), 0);
        accounts.remove_currency(accounts.find_currency(5));
        accounts.add_currency(6);
        assert_eq!(accounts.balance_or_new(account, accounts.find_currency(6)), balance);
        assert_eq!((accounts.find_currency(5), accounts.currency_numbers()), (NIL, vec![6]));
        assert!(accounts.balances_of(account).is_empty());
    }

    #[test]
    fn a_transfer_without_a_reference_is_not_kept() {
        let mut accounts = accounts();
        accounts.add_transfer(Transfer::default());
        assert_eq!((accounts.find_transfer(0), accounts.transfers.len()), (NIL, 0));
        accounts.add_transfer(Transfer { reference: 1 << 100, ..Transfer::default() });
        assert_ne!(accounts.find_transfer(1 << 100), NIL);
    }
}
