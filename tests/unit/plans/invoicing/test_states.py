"""Which rows are locked with an invoice."""

import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext

from plans.invoicing import states
from tests.support.plans import billing_rows as rows

pytestmark = pytest.mark.django_db


def test_the_tenant_of_a_locked_invoice_is_read_and_not_locked() -> None:
    invoice = rows.drafted(rows.tenant())

    with transaction.atomic(), CaptureQueriesContext(connection) as captured:
        found = states.locked(invoice)
        assert found.tenant.pk == invoice.tenant_id

    (statement,) = [row["sql"] for row in captured if "FOR UPDATE" in row["sql"]]
    assert statement.endswith('FOR UPDATE OF "plans_invoice"')
