//! A prefetch hint to the processor.

/// Starts to load the cache line of `value` without waiting for it. A hint only: it changes nothing, and it
/// does nothing on processors other than `x86_64`, where safe code has no such instruction.
#[inline]
pub fn prefetch<T>(value: &T) {
    #[cfg(target_arch = "x86_64")]
    safe_arch::prefetch_t0(value);
    #[cfg(not(target_arch = "x86_64"))]
    let _ = value;
}
