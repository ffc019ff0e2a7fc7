"""Fee lookups and the estimate (facts A2.7-01 to A2.7-23). No charged trading fee comes from them."""
