//! TERMS that wait for their PLACE.
//!
//! They are known by their sequence, so other commands pay one comparison for this.

use crate::records::Command;

/// The newest TERMS.
#[derive(Clone, Debug)]
pub(crate) struct PendingTerms {
    terms: Command,
    sequence: u64,
}

impl Default for PendingTerms {
    fn default() -> Self {
        Self { terms: Command::default(), sequence: u64::MAX }
    }
}

impl PendingTerms {
    /// The TERMS that was the command of this sequence.
    #[inline]
    pub(crate) fn until(&self, command_sequence: u64) -> Option<Command> {
        (self.sequence == command_sequence).then_some(self.terms)
    }

    /// Keeps the TERMS that is the command of this sequence.
    pub(crate) fn keep(&mut self, terms: Command, command_sequence: u64) {
        (self.terms, self.sequence) = (terms, command_sequence);
    }
}
