"""The calls about the user: profile, sessions, MFA, API keys, verification, settings."""

from datetime import date
from typing import Any

import msgspec

from openspot.client.calls import Calls, Done, given, segment
from openspot.client.gen.records import (
    Activity,
    ApiKey,
    ApiKeySecret,
    CheckIn,
    Country,
    KycDocument,
    KycDocuments,
    KycSession,
    KycStatus,
    LoginSession,
    MfaSecret,
    MfaStatus,
    NotificationSetting,
    Profile,
    Province,
    SignInProviders,
    SystemSettings,
    ToldNotification,
    TradingSettings,
)
from openspot.client.records import Page
from openspot.client.transport import FileBody


class _AntiPhishing(msgspec.Struct):
    code: str | None


class _Ended(msgspec.Struct):
    ended: int


class _RecoveryCodes(msgspec.Struct, rename="camel"):
    recovery_codes: list[str]


class _Revoked(msgspec.Struct):
    revoked: bool


class _Verified(msgspec.Struct):
    verified: bool


class UserCalls(Calls):
    """The user's account. Most of these calls need a session: an API key is refused with 403."""

    # Mails

    async def forgot_password(self, email: str) -> None:
        """Ask for a mail with a token that resets the password."""
        await self._call("POST", "/auth/forgot-password", Done, body={"email": email})

    async def reset_password(self, token: str, new_password: str) -> None:
        """Set a new password with a token from a mail, and end all sessions."""
        await self._call("POST", "/auth/reset-password", Done, body={"token": token, "newPassword": new_password})

    async def verify_email(self, token: str) -> None:
        """Verify an email address with a token from a mail."""
        await self._call("POST", "/auth/verify-email", Done, body={"token": token})

    async def request_email_verification(self) -> None:
        """Ask for another mail that verifies the user's address."""
        await self._call("POST", "/users/me/email-verification", Done)

    # Profile

    async def profile(self) -> Profile:
        """The user's account."""
        return await self._call("GET", "/users/me/profile", Profile)

    async def change_profile(
        self, *, display_name: str | None = None, language: str | None = None, time_zone: str | None = None
    ) -> Profile:
        """Change the parts of the profile that are not None."""
        body = {"displayName": display_name, "language": language, "timeZone": time_zone}
        return await self._call("PATCH", "/users/me/profile", Profile, body=given(body))

    async def anti_phishing_code(self) -> str | None:
        """The text that every mail to the user shows, None without one."""
        return (await self._call("GET", "/users/me/anti-phishing-code", _AntiPhishing)).code

    async def set_anti_phishing_code(self, code: str | None) -> None:
        """Choose the text that every mail to the user shows; None removes it."""
        await self._call("PUT", "/users/me/anti-phishing-code", _AntiPhishing, body={"code": code})

    async def activity(self, *, limit: int = 100, cursor: str | None = None) -> Page[Activity]:
        """The account's activity log, newest first."""
        return await self._page("/users/me/activity", Activity, {"limit": limit, "cursor": cursor})

    async def notifications(self, *, limit: int = 100, cursor: str | None = None) -> Page[ToldNotification]:
        """The user's notifications on the screen in the last two weeks, newest first."""
        return await self._page("/users/me/notifications", ToldNotification, {"limit": limit, "cursor": cursor})

    async def check_in_status(self) -> CheckIn:
        """Whether the user has checked in today."""
        return await self._call("GET", "/users/me/check-in", CheckIn)

    async def check_in(self) -> CheckIn:
        """Check in for today (UTC). A second call changes nothing."""
        return await self._call("POST", "/users/me/check-in", CheckIn)

    async def change_password(self, current_password: str, new_password: str, *, mfa_code: str | None = None) -> None:
        """Change the password and end the user's other sessions."""
        body = {"currentPassword": current_password, "newPassword": new_password, "mfaCode": mfa_code}
        await self._call("POST", "/users/me/password", Done, body=given(body))

    async def delete_account(self, password: str, *, mfa_code: str | None = None) -> None:
        """Delete the account. Orders and ledger stay, without the user's name."""
        await self._call("DELETE", "/users/me", Done, body=given({"password": password, "mfaCode": mfa_code}))

    # Sessions

    async def sessions(self) -> list[LoginSession]:
        """The user's sessions, the last used first."""
        return await self._call("GET", "/users/me/sessions", list[LoginSession])

    async def end_session(self, session_id: str) -> None:
        """End one session."""
        await self._call("DELETE", f"/users/me/sessions/{segment(session_id)}", Done)

    async def end_other_sessions(self) -> int:
        """End every session but this one, and return their number."""
        return (await self._call("DELETE", "/users/me/sessions", _Ended)).ended

    # MFA

    async def mfa_status(self) -> MfaStatus:
        """Whether the user has MFA."""
        return await self._call("GET", "/users/me/mfa", MfaStatus)

    async def set_up_mfa(self, password: str) -> MfaSecret:
        """Make a TOTP secret. `enable_mfa` with a code of it activates it."""
        return await self._call("POST", "/users/me/mfa/setup", MfaSecret, body={"password": password})

    async def enable_mfa(self, code: str) -> list[str]:
        """Enable MFA with a first code. Returns the recovery codes, which are shown this once."""
        return (await self._call("POST", "/users/me/mfa/enable", _RecoveryCodes, body={"code": code})).recovery_codes

    async def verify_mfa(self, code: str) -> bool:
        """Check a code, which is then used up. Raises ApiError 400 MFA_CODE_INVALID for a wrong code."""
        return (await self._call("POST", "/users/me/mfa/verify", _Verified, body={"code": code})).verified

    async def disable_mfa(self, password: str, code: str) -> None:
        """Disable MFA."""
        await self._call("POST", "/users/me/mfa/disable", Done, body={"password": password, "code": code})

    async def renew_recovery_codes(self, code: str) -> list[str]:
        """Replace the recovery codes, with a TOTP code."""
        body = {"code": code}
        return (await self._call("POST", "/users/me/mfa/recovery-codes", _RecoveryCodes, body=body)).recovery_codes

    # API keys

    async def api_keys(self) -> list[ApiKey]:
        """The user's API keys, newest first, without secrets."""
        return await self._call("GET", "/api-keys", list[ApiKey])

    async def create_api_key(
        self,
        name: str,
        scopes: list[str],
        *,
        ip_allow_list: list[str] | None = None,
        algorithm: str = "hmac-sha256",
        public_key: str | None = None,
        mfa_code: str | None = None,
    ) -> ApiKeySecret:
        """Create an API key with some of the scopes `read`, `trade`, `cancel`, `withdraw`.

        Only this reply shows its secret. The algorithm `ed25519` needs a `public_key`, and has no secret. To use the
        key, make a client with `OpenSpotClient(api_key=HmacKey(key.id, key.secret))`.
        """
        body: dict[str, Any] = {
            "name": name,
            "scopes": scopes,
            "ipAllowList": ip_allow_list,
            "algorithm": algorithm,
            "publicKey": public_key,
            "mfaCode": mfa_code,
        }
        return await self._call("POST", "/api-keys", ApiKeySecret, body=given(body))

    async def rotate_api_key(
        self, key_id: str, *, public_key: str | None = None, mfa_code: str | None = None
    ) -> ApiKeySecret:
        """Give an API key a new secret, or a new `public_key`. The old one stops working at once."""
        body = given({"publicKey": public_key, "mfaCode": mfa_code})
        return await self._call("POST", f"/api-keys/{segment(key_id)}/rotate", ApiKeySecret, body=body)

    async def revoke_api_key(self, key_id: str) -> None:
        """Revoke an API key. It stops working at once."""
        await self._call("DELETE", f"/api-keys/{segment(key_id)}", _Revoked)

    # Verification

    async def kyc_status(self) -> KycStatus:
        """The state of the user's verification."""
        return await self._call("GET", "/kyc/status", KycStatus)

    async def give_basic_information(
        self,
        *,
        first_name: str,
        last_name: str,
        date_of_birth: date,
        country: str,
        city: str,
        street: str,
        postal_code: str,
    ) -> KycStatus:
        """Submit the information for the level `basic`. `country` is a code from `countries`."""
        body = {
            "firstName": first_name,
            "lastName": last_name,
            "dateOfBirth": date_of_birth.isoformat(),
            "country": country,
            "city": city,
            "street": street,
            "postalCode": postal_code,
        }
        return await self._call("POST", "/kyc/basic-info", KycStatus, body=body)

    async def start_verification(self) -> KycSession:
        """Start the provider's check, for the level `verified`."""
        return await self._call("POST", "/kyc/start", KycSession, body={"level": "verified"})

    async def kyc_documents(self) -> KycDocuments:
        """The user's documents of the check that began last, and whether more are taken."""
        return await self._call("GET", "/kyc/documents", KycDocuments)

    async def upload_kyc_document(
        self, kind: str, content: bytes, media_type: str, *, name: str | None = None, replaces: str | None = None
    ) -> KycDocument:
        """Upload a document while a check is open; `replaces` is the id of one that it takes the place of.

        `kind` is `identity_front`, `identity_back`, `proof_of_address` or `selfie`; `media_type` that of a JPEG, PNG or
        WebP image or of a PDF. The same content of the same kind is kept once, so that the call may be repeated.
        """
        query = {"kind": kind, "name": name, "replaces": replaces}
        return await self._upload("/kyc/documents", KycDocument, query, FileBody(content, media_type))

    async def withdraw_kyc_document(self, document_id: str) -> None:
        """Delete a document. Raises ApiError 409 if it was decided on."""
        await self._call("DELETE", f"/kyc/documents/{segment(document_id)}", Done)

    # Settings

    async def notification_settings(self) -> list[NotificationSetting]:
        """The user's settings of notifications, by event."""
        return await self._call("GET", "/settings/notifications", list[NotificationSetting])

    async def set_notification(
        self, event: str, *, email: bool, websocket: bool, push: bool | None = None
    ) -> NotificationSetting:
        """Set how the user is notified of an event. Without `push`, that of devices stays as it is."""
        body = given({"email": email, "websocket": websocket, "push": push})
        return await self._call("PUT", f"/settings/notifications/{segment(event)}", NotificationSetting, body=body)

    async def countries(self) -> list[Country]:
        """Countries (ISO 3166-1)."""
        return await self._call("GET", "/settings/countries", list[Country])

    async def provinces(self, country: str) -> list[Province]:
        """The provinces of a country (ISO 3166-2)."""
        return await self._call("GET", "/settings/provinces", list[Province], query={"country": country})

    async def sign_in_providers(self) -> SignInProviders:
        """The parties through which a user can sign in."""
        return await self._call("GET", "/settings/sso", SignInProviders)

    async def system_settings(self) -> SystemSettings:
        """The settings of the platform that concern clients."""
        return await self._call("GET", "/settings/system", SystemSettings)

    async def trading_settings(self) -> TradingSettings:
        """The rules of orders that are on, and what an order may ask for under them."""
        return await self._call("GET", "/settings/trading", TradingSettings)
