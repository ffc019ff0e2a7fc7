"""Sealing anew describes itself: it exchanges contents of others' tables, each only where nobody else has meanwhile."""

from openspot.http.api_keys.settings import ApiKeySettings
from openspot.kit.description import Descriptor, Tables

DESCRIPTOR = Descriptor(
    name="resealing",
    title="Sealing anew",
    settings=ApiKeySettings,
    tables=Tables(repairs=("api_keys", "user_mfa", "kyc_profiles", "kyc_documents", "sealing_keys")),
)
