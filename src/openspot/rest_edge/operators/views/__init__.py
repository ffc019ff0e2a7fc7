"""Views: the filters of a list that an operator saved under a name."""
