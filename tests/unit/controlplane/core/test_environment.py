"""Values of environment variables that would be ignored or misread are refused."""

import pytest
from django.core.exceptions import ImproperlyConfigured

from controlplane.core import environment


@pytest.mark.parametrize("behind", ["?sslmode=verify-full", "#x"])
def test_what_is_behind_the_database_s_name_is_refused_not_ignored(behind: str) -> None:
    """A provider's address with ``sslmode`` would go on without the verification it asks for."""
    with pytest.raises(ImproperlyConfigured, match=r"database\.sslMode"):
        environment.database(f"postgresql://waypost:secret@database.example/waypost{behind}")

    known = environment.database("postgresql://waypost:a%3Fb@database.example/waypost")
    assert (known["PASSWORD"], known["NAME"]) == ("a?b", "waypost")


@pytest.mark.parametrize("wrong", ["²", "x", "-1", ""])
def test_a_number_has_the_digits_0_to_9_only(monkeypatch: pytest.MonkeyPatch, wrong: str) -> None:
    monkeypatch.setenv("WAYPOST_TEST_NUMBER", wrong)
    with pytest.raises(ImproperlyConfigured, match="WAYPOST_TEST_NUMBER must be a whole number"):
        environment.number("WAYPOST_TEST_NUMBER", 1)
