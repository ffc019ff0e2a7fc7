"""Orders: place, look up, cancel (facts A1.3-01 to A1.3-04, A1.4-01 to A1.4-06 and A2.1-01 to A2.1-14)."""
