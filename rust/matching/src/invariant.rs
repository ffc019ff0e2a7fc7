//! What happens when the state contradicts itself.
//!
//! No command can cause that; a fault of the machine or of this crate can. Going on would book wrong money, so the
//! core ends with a panic that names the broken rule. The binding to Python turns it into an error and refuses every
//! later call.

/// Ends the core because the rule `what` is broken.
#[cold]
#[inline(never)]
#[expect(clippy::panic, reason = "a wrong state must never be used")]
pub(crate) fn broken(what: &str) -> ! {
    panic!("broken invariant of the matching core: {what}")
}

/// Ends the core unless `condition` holds.
#[inline]
pub(crate) fn require(condition: bool, what: &str) {
    if !condition {
        broken(what);
    }
}
