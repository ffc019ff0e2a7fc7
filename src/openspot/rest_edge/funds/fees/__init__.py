"""Fee lookups and the estimate (Document A 2.7): no trading fee that is charged comes from them."""
