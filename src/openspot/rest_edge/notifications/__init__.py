"""Notifications: by mail and to the connections of their user, as the user's preferences say.

`sources` names the events they come from, `templates` makes their texts, `store` keeps them and queues their mail,
`delivery` runs all this, `preferences` says what users want.
"""
