"""Writes the golden invoices of the newest engine: run pytest with this file, once per engine."""

import pytest

from tests.support.plans import golden_invoices

pytestmark = pytest.mark.django_db


def test_write() -> None:
    golden_invoices.write()
    assert golden_invoices.paths()
