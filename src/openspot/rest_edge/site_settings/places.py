"""Countries and their provinces (ISO 3166), from pycountry."""

from functools import lru_cache
from typing import Any

import pycountry

from openspot.rest_edge.site_settings.schemas import CountryResponse, ProvinceResponse


@lru_cache(maxsize=1)
def countries() -> tuple[CountryResponse, ...]:
    """All countries of ISO 3166-1, by name."""
    known: Any = pycountry.countries
    rows = [
        CountryResponse(code=row.alpha_2, alpha3=row.alpha_3, numeric=row.numeric, name=_name(row)) for row in known
    ]
    return tuple(sorted(rows, key=lambda row: row.name))


@lru_cache(maxsize=512)
def provinces(country: str) -> tuple[ProvinceResponse, ...] | None:
    """The subdivisions of a country (ISO 3166-2), by code. None for an unknown country.

    Subdivisions have several levels: `parent` is the code of the one above.
    """
    if pycountry.countries.get(alpha_2=country) is None:
        return None
    known: Any = pycountry.subdivisions
    rows = [
        ProvinceResponse(code=row.code, name=row.name, type=row.type, parent=row.parent_code)
        for row in known.get(country_code=country) or ()
    ]
    return tuple(sorted(rows, key=lambda row: row.code))


def _name(row: Any) -> str:
    """The common name if ISO has one, else the official name."""
    return str(getattr(row, "common_name", row.name))
