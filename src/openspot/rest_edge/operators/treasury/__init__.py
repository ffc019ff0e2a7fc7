"""The treasury: the house's accounts, the levels that they should have, and what operators move between them."""
