"""What a running platform counts, read from its own metrics pages."""

import urllib.request


def counted(url: str, series: str) -> float:
    """The sum of the counters at `url` whose line begins with `series`: a name, with labels if some are wanted."""
    with urllib.request.urlopen(f"{url}/metrics", timeout=30) as reply:
        lines = reply.read().decode().splitlines()
    return sum(float(line.rpartition(" ")[2]) for line in lines if line.startswith(series))
