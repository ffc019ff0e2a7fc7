"""Proofs of reserves as everybody sees them, and each user's own part of one."""
