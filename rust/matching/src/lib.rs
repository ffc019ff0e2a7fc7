//! The matching core of `OpenSpot`.
//!
//! One deterministic state machine: commands in, results and events out. It keeps order books by price-time
//! priority, checks and moves the funds behind each order, charges fees, and prevents self-trades. It does
//! the same as `openspot.engine.core.reference`, the specification in Python, byte for byte: results, events,
//! snapshots and state hashes are equal. The rules are `docs/protocol/matching.md`.
//!
//! Layout: [`types`], [`amount`], [`chunked_vec`], [`slab`], [`key_hash`], [`hash_index`] and [`prefetch`] are
//! tools. [`order`], [`level`], [`book_side`], [`order_book`] and [`order_books`] hold orders; [`accounts`]
//! holds money, [`waiting`] and `trailing` orders that wait for a trigger, [`lists`] orders that depend on each other, [`owners`] who owns which account, `pending_movements` transfers that are not complete. [`engine`] applies commands by the rules in
//! `terms`, `placement`, `matching`, `activation`, `amendments`, `list_placement`, `list_links`, `list_amendments`, `arming`, `phases`, `auction`, `transfers`, `movements` and `directory`; [`batch_prefetch`] makes deep
//! books fast. [`records`] has the records, [`snapshot`], [`restore`] and `state_hash` the state as bytes. `work` counts steps in tests. `python` binds all of this to
//! Python; nothing else knows about Python.
//!
//! There is no unsafe code, no clock, no IO and no thread, and no command panics: an operation on money that
//! leaves its range makes the command be rejected. Only a state that contradicts itself does (`invariant`). The only randomness is the seed of the hash indexes, which
//! no result depends on.

#![forbid(unsafe_code)]

/// A deep book is read in random places. This allocator takes memory in large pages, which spares page-table walks
/// (docs/adr/0053-the-core-has-its-own-allocator.md).
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

pub mod accounts;
pub mod amount;
pub mod batch_prefetch;
pub mod book_side;
pub mod chunked_vec;
pub mod engine;
pub mod hash_index;
pub mod icebergs;
pub mod key_hash;
pub mod level;
pub mod lists;
pub mod market_phase;
pub mod order;
pub mod order_book;
pub mod order_books;
pub mod owners;
pub mod prefetch;
pub mod records;
pub mod restore;
pub mod slab;
pub mod snapshot;
pub mod types;
pub mod waiting;

mod activation;
mod amendments;
mod arming;
mod auction;
mod directory;
mod invariant;
mod list_amendments;
mod list_links;
mod list_placement;
mod matching;
mod movements;
mod pending_movements;
mod pending_terms;
mod phases;
mod placement;
mod replacement;
mod restore_extras;
mod restore_lists;
mod restore_waiting;
mod sizing;
mod snapshot_reader;
mod state_hash;
mod terms;
mod trailing;
mod transfers;
mod work;

#[cfg(test)]
mod attack_tests;

#[cfg(feature = "python")]
mod python;
