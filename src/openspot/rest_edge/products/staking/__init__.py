"""Staking: users lend an asset to the platform and earn a reward for each whole day."""
