"""Settings of the replay: it is a client of both edges, and looks into the engine and its mirrors."""

from openspot.rest_edge.settings import RestEdgeSettings
from openspot.ws_edge.settings import WsEdgeSettings


class ReplaySettings(RestEdgeSettings, WsEdgeSettings):
    """What a replay can be told."""
