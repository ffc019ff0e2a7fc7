//! The matching core of `OpenSpot`.
//!
//! One deterministic state machine: commands in, results and events out. It keeps price-time order books,
//! checks and moves the funds behind each order, charges fees, and prevents self-trades. It repeats
//! `openspot.engine.core.reference`, the specification in Python, byte for byte: results, events, snapshot
//! and state hash are the same. The rules are `docs/protocol/matching.md`.
//!
//! Layout: [`types`], [`amount`], [`slab`], [`index`] and [`fetch`] are tools; [`order`], [`level`],
//! [`ladder`] and [`book`] hold orders, [`ledger`] holds money; [`engine`] applies commands, whose rules lie
//! in `placing`, `taking`, `changing`, `moving` and `administration`, and `ahead` makes large books fast;
//! [`events`] are the records, [`snapshot`] and `state_hash` the state as bytes. `python` binds it all to
//! Python and is the only part that knows of it.
//!
//! There is no unsafe code, no clock, no IO and no thread, and nothing panics: an operation on money that
//! leaves its range refuses the command.

#![forbid(unsafe_code)]

pub mod amount;
pub mod book;
pub mod engine;
pub mod events;
pub mod fetch;
pub mod index;
pub mod ladder;
pub mod ledger;
pub mod level;
pub mod order;
pub mod slab;
pub mod snapshot;
pub mod types;

mod administration;
mod ahead;
mod changing;
mod moving;
mod placing;
mod state_hash;
mod taking;

#[cfg(feature = "python")]
mod python;
