"""Notifications: they reach their user by mail and on the screen, as the user's preferences say.

`sources` names the events that notifications come from, `templates` makes their texts, `store` stores them and queues
their mail, `delivery` runs all this, and `preferences` holds the users' choices.
"""
