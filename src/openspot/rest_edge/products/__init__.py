"""What moves money by transfers of the engine: conversions, staking, payments."""
