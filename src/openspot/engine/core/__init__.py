"""The matching core: pure, deterministic, and there twice.

protocol.py says what a core is, records.py what goes in and out, docs/protocol/matching.md what the rules
are. reference.py (with its reference_ files) is the rules as Python; the wheel `openspot-matching` is the
same in Rust. selection.py chooses between them.
"""
