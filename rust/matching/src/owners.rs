//! Who owns which account, for self-trade prevention.
//!
//! The number of a margin account names its user's spot account in its upper half. An operator's link gives a spot
//! account to the owner of another one, with all margin accounts that name it. Links are one step: the owner of an
//! owner does not count.
//! Memory: one number for each account that margin accounts name; four for each link.
//! Cost: an owner is O(1) without links, else O(log links).

use std::collections::{BTreeMap, BTreeSet};

/// The account that the upper half of `account` names, or else `account` itself.
#[must_use]
#[inline]
pub const fn spot_account_of(account: u64) -> u64 {
    let spot_account = account >> 32;
    if spot_account == 0 { account } else { spot_account }
}

/// The owners of all accounts.
#[derive(Clone, Debug, Default)]
pub struct Owners {
    /// The accounts that an account of another number names.
    named: BTreeSet<u64>,
    /// The owner of each account that belongs to another one's.
    links: BTreeMap<u64, u64>,
    /// How many links name an owner.
    followers: BTreeMap<u64, usize>,
}

impl Owners {
    /// Takes note of a new account.
    pub fn add_account(&mut self, number: u64) {
        if spot_account_of(number) != number {
            self.named.insert(spot_account_of(number));
        }
    }

    /// The account whose user owns `account`.
    #[must_use]
    #[inline]
    pub fn of(&self, account: u64) -> u64 {
        let spot_account = spot_account_of(account);
        if self.links.is_empty() {
            return spot_account;
        }
        self.links.get(&spot_account).copied().unwrap_or(spot_account)
    }

    /// Whether `owner`, which is the owner of some account, may have more than one.
    #[must_use]
    pub fn has_several(&self, owner: u64) -> bool {
        self.named.contains(&owner) || self.followers.contains_key(&owner)
    }

    /// Gives `account` to `owner` until [`Owners::unlink`].
    pub fn link(&mut self, account: u64, owner: u64) {
        self.unlink(account);
        self.links.insert(account, owner);
        *self.followers.entry(owner).or_insert(0) += 1;
    }

    /// Lets `account` be its own owner again.
    pub fn unlink(&mut self, account: u64) {
        let Some(owner) = self.links.remove(&account) else { return };
        if let Some(count) = self.followers.get_mut(&owner) {
            *count -= 1;
            if *count == 0 {
                self.followers.remove(&owner);
            }
        }
    }

    /// Whether `account` has a link.
    #[must_use]
    pub fn is_linked(&self, account: u64) -> bool {
        self.links.contains_key(&account)
    }

    /// The linked accounts with their owners, by ascending account.
    #[must_use]
    pub fn links(&self) -> impl ExactSizeIterator<Item = (u64, u64)> {
        self.links.iter().map(|(&account, &owner)| (account, owner))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_margin_account_follows_the_link_of_its_spot_account() {
        let mut owners = Owners::default();
        let margin = 3 << 32 | 7;
        owners.add_account(3);
        owners.add_account(margin);
        assert_eq!((owners.of(3), owners.of(margin)), (3, 3));
        owners.link(3, 2);
        assert_eq!((owners.of(3), owners.of(margin), owners.of(2)), (2, 2, 2));
        owners.unlink(3);
        assert_eq!((owners.of(3), owners.of(margin)), (3, 3));
    }

    #[test]
    fn an_owner_has_several_accounts_until_the_last_link_ends() {
        let mut owners = Owners::default();
        owners.link(3, 2);
        owners.link(4, 2);
        owners.link(4, 2);
        assert!(owners.has_several(2) && !owners.has_several(4));
        owners.unlink(3);
        owners.unlink(3);
        assert!(owners.has_several(2));
        owners.link(4, 5);
        assert!(!owners.has_several(2) && owners.has_several(5));
        owners.unlink(4);
        assert_eq!((owners.has_several(5), owners.links().len()), (false, 0));
    }
}
