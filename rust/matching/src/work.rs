//! Counts the work of the data structures, so that tests can bound it without a clock.

#[cfg(test)]
thread_local! {
    static STEPS: std::cell::Cell<u64> = const { std::cell::Cell::new(0) };
}

/// Counts entries that were visited or moved. Does nothing outside tests.
#[inline]
pub(crate) fn count(steps: usize) {
    #[cfg(test)]
    STEPS.with(|counter| counter.set(counter.get() + steps as u64));
    #[cfg(not(test))]
    let _ = steps;
}

/// The steps of this thread since the last call.
#[cfg(test)]
pub(crate) fn take() -> u64 {
    STEPS.take()
}
