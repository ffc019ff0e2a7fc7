"""The wing of products that move money by transfers of the engine: conversions, staking, payments."""
