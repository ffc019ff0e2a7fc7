"""Web Push: notifications that browsers show while no page of the exchange is open.

`subscriptions` keeps the devices of users, `queue` what is to be pushed to them, and `sender` hands it over to the push
services of the browsers' makers. Those see no text: `encryption` closes it for the device (RFC 8291), and `vapid` signs
who sends it (RFC 8292).
"""
