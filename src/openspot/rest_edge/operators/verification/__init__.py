"""The queue of verifications, and the decisions of operators on them."""
