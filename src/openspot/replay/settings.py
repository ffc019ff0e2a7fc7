"""Settings of the replay. It is a client of both edges, and reads the engine and its mirrors."""

from openspot.rest_edge.settings import RestEdgeSettings
from openspot.ws_edge.settings import WsEdgeSettings


# Both classes have more than two bases. For these the type checker's pydantic plugin invents names that collide.
class ReplaySettings(RestEdgeSettings, WsEdgeSettings):  # type: ignore[misc]
    """The settings of a replay."""
