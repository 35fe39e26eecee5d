"""docs/lakehouse.md tells of every table and column as it is. No Spark session is needed."""

import pytest

from lakehouse import schemas
from tests.support.source_tree import ROOT

PAGE = ROOT / "docs" / "lakehouse.md"


@pytest.mark.parametrize("table", [*schemas.ALL, *schemas.ON_DEMAND], ids=lambda table: table.name)
def test_page_documents_every_column_of_the_table(table: schemas.Table) -> None:
    section = PAGE.read_text(encoding="utf-8").split(f"### {table.name}\n")[1].split("\n##")[0]

    told = [line.split("|")[1:3] for line in section.splitlines() if line.startswith("| `")]
    assert [(name.strip(" `"), kind.strip()) for name, kind in told] == [
        (field.name, field.dataType.simpleString()) for field in table.schema.fields
    ]
    assert f"Folder `{table.path}`." in section
