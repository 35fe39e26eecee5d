"""Validation of sign-ups, invited email addresses and billing details, for ``tenants.actions``."""

import re
from dataclasses import asdict, dataclass

from django.conf import settings
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.core.validators import validate_email

from controlplane.core.errors import Denied, Invalid
from plans.rating import periods
from tenants.models import User

_LONGEST_NAME = 200  # characters
_LONGEST_EMAIL = 150  # Django's limit of User.username, which holds the email
# Characters; other details as ``_LONGEST_NAME``.
_LONGEST_DETAIL = {"billing_address": 2000, "tax_id": 60, "billing_time_zone": 60}
_COUNTRY = re.compile("([A-Z]{2})?")  # ISO 3166-1 alpha-2, or empty


class SignupDisabled(Denied):
    """Sign-up is switched off in this installation."""

    code = "signup.disabled"


@dataclass(frozen=True)
class BillingDetails:
    """The details of the buyer on a tenant's invoices. ``check_details`` checks them.

    An invoice is held while name, email, address or country is empty; messaging works without them.
    ``billing_time_zone`` decides when a billing month begins.
    """

    billing_name: str = ""
    billing_email: str = ""
    billing_address: str = ""
    billing_country: str = ""
    tax_id: str = ""
    billing_time_zone: str = "UTC"


def require_signup() -> None:
    """Raise SignupDisabled if the setting ``SIGNUP_ENABLED`` is off in this installation."""
    if not settings.SIGNUP_ENABLED:
        raise SignupDisabled(
            "Sign-up is switched off here: ask the operator for an account, or to set "
            "WAYPOST_SIGNUP_ENABLED=true."
        )


def legal_email(email: str) -> str:
    """Check the email of a new account; return it in its stored form, stripped and in lower case.

    Raises:
        Invalid: ``email`` is not an email address, or longer than 150 characters.
    """
    # Lower case, because people log in with the email and do not remember its capitals.
    address = email.strip().lower()
    if not is_email(address) or len(address) > _LONGEST_EMAIL:
        raise Invalid(
            f"{email[:80]!r} is not an email address.",
            code="signup.invalid",
            email=[
                f"Give an address such as name@example.com, of at most {_LONGEST_EMAIL} characters."
            ],
        )
    return address


def legal_name(organization: str) -> str:
    """Check the name of an organization; return it without spaces at both ends.

    Raises:
        Invalid: the name is empty or longer than 200 characters, or contains control characters.
    """
    name = organization.strip()
    if not name or len(name) > _LONGEST_NAME or not name.isprintable():
        raise Invalid(
            f"Give the organization a name of 1 to {_LONGEST_NAME} characters.",
            code="signup.invalid",
            organization=[f"1 to {_LONGEST_NAME} characters, no control characters."],
        )
    return name


def is_email(address: str) -> bool:
    """Return whether Django's validator accepts ``address`` as an email address."""
    try:
        validate_email(address)
    except ValidationError:
        return False
    return True


def check_password(password: str, user: User) -> None:
    """Raise Invalid if Django's password validators in the settings refuse the password.

    ``user`` need not be stored yet; validators compare the password with its fields.
    """
    try:
        validate_password(password, user)
    except ValidationError as error:
        raise Invalid(
            "Choose another password: " + " ".join(error.messages),
            code="signup.invalid",
            password=error.messages,
        ) from None


def check_details(details: BillingDetails) -> None:
    """Raise Invalid if a billing detail is wrong; the error's fields name each wrong detail.

    An empty detail is valid, except for the time zone. An invoice may still need it.
    """
    wrong: dict[str, list[str]] = {}
    for name, value in asdict(details).items():
        longest = _LONGEST_DETAIL.get(name, _LONGEST_NAME)
        # A postal address has several lines. Elsewhere a line break would begin another line of a
        # mail or a document.
        has_lines = name == "billing_address"
        line = value.replace("\r", "").replace("\n", "") if has_lines else value
        if len(value) > longest or not line.isprintable():
            wrong[name] = [f"At most {longest} characters, no control characters."]
    if details.billing_time_zone not in periods.zone_names():
        wrong["billing_time_zone"] = ["Give an IANA time zone, such as Europe/Berlin."]
    if not _COUNTRY.fullmatch(details.billing_country):
        wrong["billing_country"] = ["Give two capital letters (ISO 3166-1), such as DE."]
    if details.billing_email and not is_email(details.billing_email):
        wrong["billing_email"] = ["Give an address such as name@example.com."]
    if wrong:
        raise Invalid(
            f"Some billing details are not valid: {', '.join(sorted(wrong))}.",
            code="billing_details.invalid",
            **wrong,
        )
