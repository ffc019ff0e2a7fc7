//! Reads records of numbers from the bytes of a snapshot.

use std::fmt;

use crate::invariant::broken;

/// Why bytes are not a snapshot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RestoreError(pub(crate) &'static str);

impl fmt::Display for RestoreError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "not a snapshot of a core: {}", self.0)
    }
}

impl std::error::Error for RestoreError {}

pub(crate) fn require(condition: bool, reason: &'static str) -> Result<(), RestoreError> {
    if condition { Ok(()) } else { Err(RestoreError(reason)) }
}

/// Takes whole records from the front of a snapshot.
pub(crate) struct Reader<'a> {
    pub(crate) rest: &'a [u8],
}

impl<'a> Reader<'a> {
    pub(crate) fn record(&mut self, size: usize) -> Result<Record<'a>, RestoreError> {
        let (record, rest) = self.rest.split_at_checked(size).ok_or(RestoreError("it breaks off"))?;
        self.rest = rest;
        Ok(Record { rest: record })
    }

    pub(crate) fn count_32(&mut self) -> Result<u32, RestoreError> {
        Ok(self.record(4)?.u32())
    }

    pub(crate) fn count_64(&mut self) -> Result<u64, RestoreError> {
        Ok(self.record(8)?.u64())
    }
}

/// Takes numbers from the front of a record, which has as many bytes as are taken.
pub(crate) struct Record<'a> {
    rest: &'a [u8],
}

impl Record<'_> {
    pub(crate) fn array<const N: usize>(&mut self) -> [u8; N] {
        let Some((bytes, rest)) = self.rest.split_first_chunk() else {
            broken("a record ends before its fields");
        };
        self.rest = rest;
        *bytes
    }

    pub(crate) fn u8(&mut self) -> u8 {
        let [byte] = self.array();
        byte
    }

    /// A byte that the canonical form writes as 0 or 1.
    pub(crate) fn flag(&mut self) -> bool {
        self.u8() == 1
    }

    pub(crate) fn u32(&mut self) -> u32 {
        u32::from_le_bytes(self.array())
    }

    pub(crate) fn i32(&mut self) -> i32 {
        i32::from_le_bytes(self.array())
    }

    pub(crate) fn u64(&mut self) -> u64 {
        u64::from_le_bytes(self.array())
    }

    pub(crate) fn i64(&mut self) -> i64 {
        i64::from_le_bytes(self.array())
    }

    pub(crate) fn u128(&mut self) -> u128 {
        u128::from_le_bytes(self.array())
    }

    pub(crate) fn i128(&mut self) -> i128 {
        i128::from_le_bytes(self.array())
    }
}
