//! Movements that wait for their TRANSFER.
//!
//! A run that any other command interrupts is void. It is known by the sequence of its last command, so other
//! commands pay nothing for this.

/// A payment from one account to another.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Movement {
    /// Number of the account that pays.
    pub(crate) source: u64,
    /// Number of the account that receives.
    pub(crate) destination: u64,
    /// Number of the currency.
    pub(crate) currency: u32,
    /// Amount units.
    pub(crate) amount: i128,
}

/// The newest run of MOVEMENT commands.
#[derive(Clone, Debug, Default)]
pub(crate) struct PendingMovements {
    run: Vec<Movement>,
    /// Sequence of the last command of the run.
    end: u64,
}

impl PendingMovements {
    /// The unbroken run that ends with the command of this sequence.
    pub(crate) fn until(&self, command_sequence: u64) -> &[Movement] {
        if self.end == command_sequence { &self.run } else { &[] }
    }

    /// Adds a movement that was in a snapshot taken after the command of this sequence.
    pub(crate) fn restore(&mut self, movement: Movement, command_sequence: u64) {
        self.run.push(movement);
        self.end = command_sequence;
    }

    /// Adds the movement of the command of this sequence; a run that ended earlier is void.
    pub(crate) fn push(&mut self, movement: Movement, command_sequence: u64) {
        if self.end != command_sequence - 1 {
            self.run.clear();
        }
        self.restore(movement, command_sequence);
    }

    /// Takes the movements out, so that the rest of the engine can change while they are carried out.
    pub(crate) fn take_run(&mut self) -> Vec<Movement> {
        std::mem::take(&mut self.run)
    }

    /// Takes the memory of a run that was carried out, to use it again.
    pub(crate) fn give_back(&mut self, run: Vec<Movement>) {
        self.run = run;
    }
}
