"""The login page as a browser uses it, whatever its field for the email is named."""

import re
from typing import Any

from django.test import Client

_EMAIL = re.compile(r'<input\b[^>]*\bname="(username|login|email)"')


def log_in(client: Client, email: str, password: str) -> Any:
    """Send the login form; return the answer."""
    found = _EMAIL.search(client.get("/login").content.decode())
    assert found, "the login page has no field for the email"
    return client.post("/login", {found[1]: email, "password": password})
