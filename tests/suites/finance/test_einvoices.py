"""Electronic invoices are valid by the official rules: schema, schematron, PDF/A-3."""

from pathlib import Path
import pytest
from plans.invoicing import rendering, document
from tests.support.finance import einvoices
from tests.support.plans import billing_rows as rows


@pytest.mark.django_db
def test_try(tmp_path: Path) -> None:
    made = document.loaded(rows.issued(rows.tenant()).document)
    xml = rendering.ubl_of(made)
    (Path("/tmp/w/e/x.ubl.xml")).write_bytes(xml)
    print(einvoices.violations(xml, "ubl", tmp_path))
    c = rendering.cii_of(made)
    Path("/tmp/w/e/x.cii.xml").write_bytes(c)
    print(einvoices.violations(c, "cii", tmp_path))
    Path("/tmp/w/e/x.facturx.pdf").write_bytes(rendering.factur_x(made))
    print(einvoices.mustang_report(Path("/tmp/w/e/x.facturx.pdf"), tmp_path))
    print(einvoices.mustang_report(Path("/tmp/w/e/x.ubl.xml"), tmp_path)[-3000:])
    print(einvoices.schema_errors(xml, "Invoice"))
    assert 0
