"""Settings of the replay: it is a client of both edges, and looks into the engine and its mirrors."""

from openspot.rest_edge.settings import RestEdgeSettings
from openspot.ws_edge.settings import WsEdgeSettings


# Both have more than two bases, for which the type checker's pydantic plugin makes up names that collide.
class ReplaySettings(RestEdgeSettings, WsEdgeSettings):  # type: ignore[misc]
    """What a replay can be told."""
