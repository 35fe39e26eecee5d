"""Generate random identifiers of rows, and the API tokens of tenants with their hashes.

Tokens of people who log in come from ``controlplane.api.person_tokens``.
"""

import hashlib
import secrets

_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"  # Crockford base32: no i, l, o, u


def new(prefix: str) -> str:
    """Return a new identifier such as ``spc_7m2k…``: 100 random bits after ``prefix`` and ``_``."""
    return f"{prefix}_" + "".join(secrets.choice(_ALPHABET) for _ in range(20))


def tenant_id() -> str:
    return new("ten")


def space_id() -> str:
    return new("spc")


def address_id() -> str:
    return new("adr")


def broker_id() -> str:
    return new("brk")


def messaging_user_id() -> str:
    return new("usr")


def disconnection_id() -> str:
    return new("dsc")


def operation_id() -> str:
    return new("opn")


def message_request_id() -> str:
    return new("msr")


def invoice_id() -> str:
    return new("inv")


def close_run_id() -> str:
    return new("crn")


def close_run_action_id() -> str:
    return new("cra")


def event_id() -> str:
    return new("evt")


def channel_id() -> str:
    return new("chn")


def delivery_id() -> str:
    return new("dlv")


def alarm_id() -> str:
    return new("alm")


def api_token() -> str:
    """Return a new bearer token (``wp_`` and 192 random bits); only its hash is ever stored."""
    return "wp_" + secrets.token_urlsafe(24)


def invitation_token() -> str:
    """Return the secret part of an invitation's link: 192 random bits."""
    return secrets.token_urlsafe(24)


def token_hash(token: str) -> str:
    """Return the SHA-256 of a bearer token as hexadecimal digits, to store it or to look it up.

    A fast hash without a salt is enough: nobody can guess 192 random bits.
    """
    return hashlib.sha256(token.encode()).hexdigest()


def credit_note_id() -> str:
    return new("cnt")


def discount_id() -> str:
    return new("dis")


def commitment_id() -> str:
    return new("com")


def credit_grant_id() -> str:
    return new("cgr")


def sample_reading_id() -> str:
    return new("srd")


def catalog_draft_id() -> str:
    return new("cat")


def back_test_id() -> str:
    return new("bkt")


def checkout_id() -> str:
    return new("chk")


def payment_event_id() -> str:
    return new("pev")


def refund_id() -> str:
    return new("rfd")


def payment_dispute_id() -> str:
    return new("dsp")


def dunning_case_id() -> str:
    return new("dun")


def tax_exemption_id() -> str:
    return new("txe")
