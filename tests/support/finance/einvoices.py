"""Validates electronic invoices by the official rules, in a Java process.

The schematron of EN 16931 and the schemas of UBL come from JARs that ``make setup`` knows by
coordinates. Mustang validates a PDF as PDF/A-3 (with veraPDF), and the XML in it by the schema and
the schematron.
"""

import subprocess
import zipfile
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


def violations(xml: bytes, syntax: str, folder: Path) -> list[str]:
    """Return what ``xml`` violates of the schematron of EN 16931; ``syntax``: ``ubl`` or ``cii``."""
    source, report = folder / "document.xml", folder / "report.xml"
    source.write_bytes(xml)
    rules = f"jar:{jars()['phive-rules-en16931'].as_uri()}!/{_RULES}/{syntax}"
    subprocess.run(
        [java.find(), "-cp", jars()["validator"], "net.sf.saxon.Transform", f"-s:{source}",
         f"-xsl:{rules}/EN16931-{syntax.upper()}-validation.xslt", f"-o:{report}"],
        check=True,
        capture_output=True,
    )  # fmt: skip
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
    folder = artifacts.cache_dir() / "jars" / "einvoices" / "ubl21"
    with zipfile.ZipFile(jars()["ph-ubl21"]) as archive:
        names = [name for name in archive.namelist() if name.startswith("external/schemas/ubl21/")]
        archive.extractall(folder, names)
    path = folder / "external/schemas/ubl21/maindoc" / f"UBL-{kind}-2.1.xsd"
    return etree.XMLSchema(etree.parse(path))


def mustang_report(file: Path, folder: Path) -> str:
    """Return Mustang's report on a file as XML: ``status="valid"``, or what is wrong.

    Compiles the class that calls Mustang into ``folder``, because its JAR has no main class.
    """
    mustang = jars()["validator"]
    source = Path(__file__).parent / "Validate.java"
    compiler = [java.find(), "-jar", artifacts.compiler(), "-17", "-cp", mustang, "-d", folder]
    subprocess.run([*compiler, source], check=True, capture_output=True)
    command = [java.find(), "-cp", f"{mustang}:{folder}", "Validate", file]
    answer = subprocess.run(command, capture_output=True, text=True, check=True)
    return answer.stdout
