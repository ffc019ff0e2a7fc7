//! Restoring the last part of a snapshot (`restore`): a PLACE that is not attempted, and icebergs.

use crate::engine::Engine;
use crate::snapshot_reader::{Reader, Record, RestoreError, require};
use crate::types::{ICEBERG_SLICES_MAX, NIL};

const ICEBERG_SIZE: usize = 24;

impl Engine {
    /// Reads the part that a core has while it has something for it.
    pub(crate) fn read_extras(&mut self, reader: &mut Reader) -> Result<(), RestoreError> {
        let stopped = reader.count_32()?;
        require(stopped <= 1, "a wrong number of placements is stopped")?;
        if stopped != 0 {
            self.stop_placement();
        }
        for _ in 0..reader.count_64()? {
            self.read_iceberg(&mut reader.record(ICEBERG_SIZE)?)?;
        }
        Ok(())
    }

    fn read_iceberg(&mut self, record: &mut Record) -> Result<(), RestoreError> {
        let (id, display, visible) = (record.u64(), record.i64(), record.i64());
        let index = self.books.find_order(id);
        let order = self.books.orders.at(index);
        let alone = index != NIL && !order.terms.is_listed() && self.lists.list_of(id).is_none();
        let new = alone && !order.terms.is_iceberg();
        require(new, "an iceberg has no order that rests alone, or is repeated")?;
        let lot = self.books.book_of(order).lot;
        let allowed = display > 0
            && (1..=display.min(order.remaining)).contains(&visible)
            && display % lot == 0
            && visible % lot == 0
            && display.saturating_mul(ICEBERG_SLICES_MAX) >= order.quantity;
        require(allowed, "an iceberg breaks a rule")?;
        self.books.show(index, display, visible);
        Ok(())
    }
}
