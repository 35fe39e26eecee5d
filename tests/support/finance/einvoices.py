"""Validates electronic invoices by the official rules, in a Java process.

The schematron of EN 16931 and the schemas of UBL come from JARs that ``make setup`` knows by
coordinates. Mustang validates a PDF as PDF/A-3 (with veraPDF), and the XML in it by the schema and
the schematron.
"""

import subprocess
import zipfile
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from xml.etree import ElementTree

from lxml import etree

from controlplane.embedded import artifacts, java

_RULES = "external/schematron/1.3.16"  # of EN 16931: the release of June 2026
_REPORT = "{http://purl.oclc.org/dsdl/svrl}"


@cache
def jars() -> dict[str, Path]:
    """Return the path of each JAR by the begin of its name; fetches what is missing."""
    cache_dir = artifacts.cache_dir()
    artifacts.ensure(["einvoices"], cache_dir)
    rows = [row for row in artifacts.ARTIFACTS if row.configuration == "einvoices"]
    return {row.file.rpartition("-")[0]: cache_dir / row.cache_path for row in rows}


def violations(files: Mapping[str, bytes], syntax: str, folder: Path) -> dict[str, list[str]]:
    """Return what each XML file violates of the schematron of EN 16931, by the names of the files.

    ``syntax`` is ubl or cii. ``folder`` gets files. All files are checked by one Java process.
    """
    sources, reports = folder / "sources", folder / "reports"
    sources.mkdir(parents=True)
    reports.mkdir()
    for n, xml in enumerate(files.values()):
        (sources / f"{n}.xml").write_bytes(xml)
    rules = f"jar:{jars()['phive-rules-en16931'].as_uri()}!/{_RULES}/{syntax}"
    subprocess.run(
        [java.find(), "-cp", jars()["validator"], "net.sf.saxon.Transform", f"-s:{sources}",
         f"-xsl:{rules}/EN16931-{syntax.upper()}-validation.xslt", f"-o:{reports}"],
        check=True,
        capture_output=True,
    )  # fmt: skip
    return {name: _failed(reports / f"{n}.xml") for n, name in enumerate(files)}


def _failed(report: Path) -> list[str]:
    found = ElementTree.parse(report).getroot()
    # A stylesheet that matched nothing would report nothing.
    assert found.findall(f"{_REPORT}fired-rule")
    return [
        f"{row.get('id')}: {row.findtext(f'{_REPORT}text', '').strip()} at {row.get('location')}"
        for row in found.findall(f"{_REPORT}failed-assert")
    ]


def schema_errors(xml: bytes, kind: str) -> list[str]:
    """Return what ``xml`` violates of the schema of UBL; ``kind``: ``Invoice``, ``CreditNote``."""
    schema = _schema(kind)
    document = etree.fromstring(xml)
    return [] if schema.validate(document) else [str(error) for error in schema.error_log]


@cache
def _schema(kind: str) -> etree.XMLSchema:
    folder = artifacts.cache_dir() / "jars" / "einvoices" / "schemas"
    for name in ("ph-ubl21", "ph-xsds-ccts-cct-schemamodule", "ph-xsds-xmldsig"):
        with zipfile.ZipFile(jars()[name]) as archive:
            archive.extractall(folder, [row for row in archive.namelist() if "schemas/" in row])
    # UBL imports the first two without saying where they are.
    imports = {
        "urn:un:unece:uncefact:data:specification:CoreComponentTypeSchemaModule:2":
            folder / "schemas" / "CCTS_CCT_SchemaModule.xsd",
        "http://www.w3.org/2000/09/xmldsig#": folder / "schemas" / "xmldsig-core-schema.xsd",
        f"urn:oasis:names:specification:ubl:schema:xsd:{kind}-2":
            folder / "external" / "schemas" / "ubl21" / "maindoc" / f"UBL-{kind}-2.1.xsd",
    }  # fmt: skip
    listed = "".join(
        f'<xs:import namespace="{namespace}" schemaLocation="{path.as_uri()}"/>'
        for namespace, path in imports.items()
    )
    root = f'<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema">{listed}</xs:schema>'
    return etree.XMLSchema(etree.fromstring(root))


def mustang_report(file: Path, folder: Path) -> str:
    """Return Mustang's report on a file as XML: ``status="valid"``, or what is wrong.

    Compiles the class that calls Mustang into ``folder``, because its JAR has no main class.
    """
    mustang = jars()["validator"]
    source = Path(__file__).parent / "Validate.java"
    compiler = [java.find(), "-jar", artifacts.compiler(), "-17", "-cp", mustang, "-d", folder]
    subprocess.run(list(map(str, [*compiler, source])), check=True, capture_output=True)
    command = [java.find(), "-cp", f"{mustang}:{folder}", "Validate", file]
    answer = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=True)
    return answer.stdout
