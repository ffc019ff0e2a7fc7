//! A hint to the processor.

/// Asks for the cache line of `value` without waiting for it. Nothing changes; where the processor has no
/// such instruction that safe code can use, nothing happens.
#[inline]
pub fn fetch<T>(value: &T) {
    #[cfg(target_arch = "x86_64")]
    safe_arch::prefetch_t0(value);
    #[cfg(not(target_arch = "x86_64"))]
    let _ = value;
}
