"""`python -m openspot.venue_simulator`: the simulated venue as a command of its own."""

from openspot.venue_simulator.command import app

app(prog_name="venue-simulator")
