"""Every reason that a space on Kubernetes can give, and every alert, is in the manual."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from controlplane.core import phases
from controlplane.core.instance_names import Kind
from tests.support.charts import rendered
from tests.support.source_tree import ROOT

PAGE = (ROOT / "docs/operate/conditions.md").read_text()
# The page leads there for all that begins with this word.
CERTIFICATES = (ROOT / "docs/operate/certificates.md").read_text()
PLACE = ROOT / "workers/infra/kubernetes"
RECONCILE = ROOT / "workers/reconcile"
# Words of Kubernetes that its answers are known by.
_THEIRS = {"FieldManagerConflict", "ValidatingAdmissionPolicy"}
# What conditions have besides a reason.
_NO_REASONS = {"True", "False", "Unknown", "Ready", "Certificate"}
# A reason alone, or before what it waits for, as in "ProbeFailed: ...".
_REASON = re.compile(r"((?:[A-Z][a-z]+)+)(?:: |$)")


def unexplained(reasons: set[str]) -> set[str]:
    certificates = {reason for reason in reasons if reason.startswith("Certificate")}
    found = {reason for reason in reasons - certificates if f"`{reason}`" not in PAGE}
    return found | {
        certificate for certificate in certificates if f"`{certificate}`" not in CERTIFICATES
    }


def texts(file: Path) -> Iterator[str]:
    """Yield every text in a module, those in f-strings in their parts."""
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


def reasons_in(*files: Path) -> set[str]:
    """Return what may be a reason among the texts of modules, told by its shape."""
    matches = [_REASON.match(text) for file in files for text in texts(file)]
    return {match[1] for match in matches if match} - _NO_REASONS


def test_every_reason_is_explained() -> None:
    sources = "".join(path.read_text() for path in sorted(PLACE.rglob("*.py")))
    given = set(re.findall(r'reason="([A-Z]\w+)"', sources))
    given |= set(re.findall(r'"([A-Z][a-z]+[A-Z][A-Za-z]+)"', (PLACE / "refusals.py").read_text()))

    assert len(given - _THEIRS) > 25
    assert {reason for reason in given - _THEIRS if f"`{reason}`" not in PAGE} == set()


def test_every_reason_of_a_pass_is_explained() -> None:
    given = reasons_in(*sorted(RECONCILE.rglob("*.py")), ROOT / "workers/infra/base.py")
    # Written in two parts, the first of which is the kind of what is down.
    states = {"Down", "Starting"}
    whole = {f"{kind.title()}{state}" for kind in Kind for state in states}

    assert {"LastSamplePending", "ProbeFailed", "Terminating", *states} <= given
    assert unexplained(given - states | whole | {phases.MESH_INCOMPLETE}) == set()


def test_every_reason_of_a_certificate_is_explained() -> None:
    given = reasons_in(ROOT / "workers/messaging/given_certificates.py")

    assert "CertificateExpired" in given
    assert unexplained(given) == set()


def test_every_alert_is_explained() -> None:
    objects = rendered.objects(rendered.CHART / "ci" / "external-values.yaml")
    (group,) = rendered.find(objects, "PrometheusRule", "wp")["spec"]["groups"]
    alerts = {rule["alert"] for rule in group["rules"]}

    assert alerts
    assert {alert for alert in alerts if f"`{alert}`" not in PAGE} == set()
