//! TERMS: what the PLACE directly after it asks for beyond its own fields.
//!
//! TERMS only waits (`pending_terms`), and PLACE checks it. Any other command ends it.

use crate::engine::Engine;
use crate::order_book::OrderBook;
use crate::records::{Command, CommandResult};
use crate::types::{
    OWN_STP_MAX, OrderType, ResultCode, SCALED_MAX, STEPS_MASK, Side, TERMS_FLAGS, TriggerKind,
};
use crate::waiting::Trigger;

/// When an order expires by its terms, which were checked; 0 for never.
pub(crate) fn expiry_of(terms: &Command) -> u64 {
    u64::try_from(terms.amount).unwrap_or_default()
}

fn trigger_fits(
    terms: &Command,
    command: &Command,
    kind: TriggerKind,
    side: Side,
    order_type: OrderType,
) -> bool {
    let price = terms.price;
    if kind == TriggerKind::None {
        return price == 0 && terms.flags == 0;
    }
    matches!(order_type, OrderType::Gtc | OrderType::Ioc | OrderType::Fok)
        && command.flags <= STEPS_MASK
        && (1..=SCALED_MAX).contains(&price)
        && kind.fits(terms.flags, price, side)
}

fn rests(order_type: OrderType) -> bool {
    matches!(order_type, OrderType::Gtc | OrderType::PostOnly)
}

/// Checks a new price of a fixed trigger, as check 13 of PLACE does, and returns it. For a planned exit, the price at
/// which its entry is expected to fill takes the place of the present one.
pub(crate) fn check_fixed_trigger(
    book: &OrderBook,
    trigger: &Trigger,
    price: i128,
    expected_price: Option<i64>,
) -> Result<i64, ResultCode> {
    let value = i64::try_from(price).map_err(|_| ResultCode::InvalidTrigger)?;
    if value % book.tick != 0 {
        return Err(ResultCode::InvalidTrigger);
    }
    let moved = Trigger { value, ..*trigger };
    let present = if moved.by_mark() { book.mark_price } else { book.last_price };
    check_not_reached(&moved, expected_price.unwrap_or(present))?;
    Ok(value)
}

/// Checks that a trigger is in range, and that the `reference` price, 0 if it is unknown, does not fire it.
pub(crate) fn check_not_reached(trigger: &Trigger, reference: i64) -> Result<(), ResultCode> {
    if !(1..=SCALED_MAX).contains(&trigger.price()) {
        return Err(ResultCode::InvalidTrigger);
    }
    if reference != 0 && trigger.is_reached_by(reference) {
        return Err(ResultCode::TriggerWouldFire);
    }
    Ok(())
}

/// Checks that terms fit the PLACE, whose side and type are valid.
#[cold]
pub(crate) fn check_terms(
    terms: &Command,
    command: &Command,
    side: Side,
    order_type: OrderType,
) -> Result<(), ResultCode> {
    let Some(kind) = TriggerKind::from_record(terms.side) else {
        return Err(ResultCode::InvalidTerms);
    };
    let regular = terms.order_id == command.order_id
        && terms.order_type <= OWN_STP_MAX
        && terms.flags <= TERMS_FLAGS
        && (terms.symbol, terms.account) == (0, 0)
        && (terms.quantity == 0 || (kind == TriggerKind::None && rests(order_type)))
        && trigger_fits(terms, command, kind, side, order_type);
    if !regular {
        return Err(ResultCode::InvalidTerms);
    }
    if terms.amount != 0 {
        if !rests(order_type) && kind == TriggerKind::None {
            return Err(ResultCode::InvalidTerms);
        }
        if u64::try_from(terms.amount).map_or(true, |expiry| expiry <= command.timestamp) {
            return Err(ResultCode::InvalidExpiry);
        }
    }
    Ok(())
}

/// Check 13 of PLACE: the trigger that the terms ask for, if the present price does not fire it. For an exit of a list,
/// the price at which its entry is expected to fill takes the place of the present one.
#[cold]
pub(crate) fn checked_trigger(
    book: &OrderBook,
    terms: &Command,
    expected_price: Option<i64>,
) -> Result<Option<Trigger>, ResultCode> {
    let kind = TriggerKind::from_record(terms.side).unwrap_or_default();
    if kind == TriggerKind::None {
        return Ok(None);
    }
    if kind != TriggerKind::TrailingBasisPoints && terms.price % book.tick != 0 {
        return Err(ResultCode::InvalidTrigger);
    }
    let mut trigger =
        Trigger { kind, flags: terms.flags, value: terms.price, tick: book.tick, ..Trigger::default() };
    let present = if trigger.by_mark() { book.mark_price } else { book.last_price };
    let reference = expected_price.unwrap_or(present);
    if trigger.is_trailing() {
        if reference == 0 {
            return Err(ResultCode::ReferencePriceUnknown);
        }
        trigger.watermark = reference;
        trigger.anchor = trigger.price();
    }
    check_not_reached(&trigger, reference)?;
    Ok(Some(trigger))
}

impl Engine {
    /// TERMS. From the first ones on, the core remembers prices.
    pub(crate) fn keep_terms(&mut self, command: &Command) -> CommandResult {
        self.track_prices();
        self.terms.keep(*command, self.command_sequence);
        if self.is_stopped_after(self.command_sequence - 1) {
            self.stop_placement();
        }
        CommandResult::ACCEPTED
    }

    /// Lets the core remember prices from now on.
    pub(crate) fn track_prices(&mut self) {
        if !self.tracks_prices {
            self.tracks_prices = true;
            self.books.forget_prices();
        }
    }
}
