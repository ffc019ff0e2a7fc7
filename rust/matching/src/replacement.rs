//! REPLACE: cancels an order that the PLACE that follows replaces.
//!
//! If nothing was cancelled, that PLACE is not attempted, unless the command allows it. This is known by the sequence of the
//! command, so other commands pay one comparison for it.

use crate::engine::Engine;
use crate::records::{Command, CommandResult};
use crate::types::{FLAG_ALLOW_FAILURE, ResultCode};

impl Engine {
    /// REPLACE.
    pub(crate) fn replace(&mut self, command: &Command) -> Result<CommandResult, ResultCode> {
        self.track_prices();
        let cancelled =
            if command.account == 0 { Err(ResultCode::AuthInvalidUser) } else { self.cancel(command) };
        if cancelled.is_err() && command.flags & FLAG_ALLOW_FAILURE == 0 {
            self.stop_placement();
        }
        cancelled
    }

    /// Lets the PLACE directly after the present command not be attempted.
    pub(crate) fn stop_placement(&mut self) {
        self.stopped = self.command_sequence;
    }

    /// Whether a PLACE directly after this command is not attempted. Any other command ends that.
    #[inline]
    pub(crate) fn is_stopped_after(&self, command_sequence: u64) -> bool {
        self.stopped != 0 && self.stopped == command_sequence
    }
}
