"""Generated from proto/ by tools/generate_protocol.py; not edited by hand."""
