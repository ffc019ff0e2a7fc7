//! The hash of the state: SHA-256 of its bytes, in hex, without building the snapshot.

use std::fmt::Write;

use sha2::{Digest, Sha256};

use crate::engine::Engine;
use crate::snapshot::SnapshotSink;

impl SnapshotSink for Sha256 {
    fn write(&mut self, bytes: &[u8]) {
        self.update(bytes);
    }
}

impl Engine {
    /// Hex SHA-256 of the state's bytes. Both cores return the same for equal states.
    #[must_use]
    pub fn state_hash(&self) -> String {
        let mut digest = Sha256::new();
        self.write_state(&mut digest);
        let mut text = String::with_capacity(64);
        for byte in digest.finalize() {
            // Writing to a String cannot fail.
            let _ = write!(text, "{byte:02x}");
        }
        text
    }
}
