"""Notifications: they reach their user by mail, on the screen and on devices, as the user's preferences say.

`sources` names the events that notifications come from, `templates` makes their texts, `store` stores them and queues
their mail, `delivery` runs all this, and `preferences` holds the users' choices.
"""
