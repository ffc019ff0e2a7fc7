"""The second factor: TOTP and recovery codes."""
