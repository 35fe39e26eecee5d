"""The bills of materials and the audit of the locks: complete, and no pass without an answer."""

import json
import zipfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from controlplane.embedded.artifacts import ARTIFACTS
from tests.support import source_tree
from tests.support.supply_chain import advisories, audit, sbom

NOW = datetime(2026, 11, 25, tzinfo=UTC)


def advisory(name: str, package: str, **affected: Any) -> dict[str, Any]:
    return {
        "id": name,
        "aliases": [f"CVE-{name}"],
        "modified": "2026-11-24T00:00:00Z",
        "summary": "Bad.",
        "affected": [{"package": {"name": package, "ecosystem": "PyPI"}, **affected}],
    }


def events(*of: dict[str, str]) -> dict[str, Any]:
    return {"ranges": [{"type": "ECOSYSTEM", "events": list(of)}]}


FIXED = events({"introduced": "0"}, {"fixed": "1.1"})


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    """Advisories about three packages, of 24 November 2026."""
    path = tmp_path / "all.zip"
    with zipfile.ZipFile(path, "w") as members:
        for package in ("bad", "accepted", "expired"):
            name = f"TEST-{package}"
            members.writestr(f"{name}.json", json.dumps(advisory(name, package, **FIXED)))
    return path


def lock(folder: Path, *pins: str) -> str:
    path = folder / "lock.txt"
    path.write_text("".join(f"{pin} --hash=sha256:{'0' * 64}\n" for pin in pins))
    return str(path)


def test_a_package_with_an_advisory_fails_the_audit(
    archive: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    accepted = {"CVE-TEST-accepted": "2026-11-25 unused", "TEST-expired": "2026-11-24 was unused"}
    monkeypatch.setattr(audit, "accepted", lambda: accepted)
    pins = lock(tmp_path, "bad==1.0", "accepted==1.0", "expired==1.0", "good==1.0")

    code = audit.main(["--advisories", str(archive), pins], NOW)

    assert code == audit.VULNERABLE
    assert sorted(capsys.readouterr().out.splitlines()) == [
        "  bad 1.0: CVE-TEST-bad, TEST-bad; fixed in 1.1",
        "  expired 1.0: CVE-TEST-expired, TEST-expired; fixed in 1.1",
        "audit: 4 packages, 2 with an advisory, 1 accepted for now",
    ]


def test_packages_without_an_advisory_pass(archive: Path, tmp_path: Path) -> None:
    pins = lock(tmp_path, "bad==1.1", "good==1.0")

    assert audit.main(["--advisories", str(archive), pins], NOW) == audit.PASSED


def test_a_service_that_cannot_be_reached_is_no_pass(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    url = "http://127.0.0.1:1/v1/query"

    code = audit.main(["--service", url, lock(tmp_path, "good==1.0")], NOW)

    assert code == audit.NOT_COMPARED
    said = capsys.readouterr().out
    assert said.startswith(f"audit: no pass, nothing was compared: {url} did not answer: ")


def test_old_advisories_are_no_pass(
    archive: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    later = datetime(2026, 12, 3, tzinfo=UTC)

    code = audit.main(["--advisories", str(archive), lock(tmp_path, "good==1.0")], later)

    assert code == audit.NOT_COMPARED
    assert "is of 2026-11-24: fetch it again." in capsys.readouterr().out


@pytest.mark.parametrize(
    ("affected", "version", "is_affected"),
    [
        (FIXED, "1.0", True),
        (FIXED, "1.1", False),
        (FIXED, "1.1rc1", True),
        (events({"introduced": "1.0"}, {"last_affected": "1.2"}), "1.2", True),
        (events({"introduced": "1.0"}, {"last_affected": "1.2"}), "1.3", False),
        (events({"introduced": "1.0"}), "0.9", False),
        (events({"introduced": "0"}, {"fixed": "1"}, {"introduced": "2"}), "2.5", True),
        (events({"introduced": "0"}, {"fixed": "1"}, {"introduced": "2"}), "1.5", False),
        ({"versions": ["1.0.post1"]}, "1.0.post1", True),
        ({"ranges": [{"type": "GIT", "events": [{"introduced": "0"}]}]}, "1.0", False),
    ],
)
def test_a_version_is_compared_with_the_range(
    affected: dict[str, Any], version: str, is_affected: bool
) -> None:
    asked = {"package": {"name": "one-two"}, "version": version}

    assert advisories.is_affected(advisory("A", "One_Two", **affected), asked) is is_affected


def test_accepted_advisories_say_until_when_and_why() -> None:
    for name, reason in audit.accepted().items():
        until, _, why = reason.partition(" ")
        assert datetime.fromisoformat(until), name
        assert len(why) > 20, name


def test_the_bill_of_a_lock_has_every_package_with_its_hashes(tmp_path: Path) -> None:
    target = sbom.path_of(tmp_path, "control-plane")

    sbom.write_lock("control-plane", target)

    bill = json.loads(target.read_text())
    found: dict[str, set[str]] = {}
    for component in bill["components"]:
        found.setdefault(component["name"], set()).add(component["version"])
    assert found == source_tree.locked_versions("control-plane")
    assert bill["metadata"]["component"]["name"] == "waypost"
    assert [component["name"] for component in bill["components"] if not hashes(component)] == []


def test_the_bill_of_servers_has_every_artifact_with_its_checksum(tmp_path: Path) -> None:
    target = sbom.path_of(tmp_path, sbom.SERVERS)

    sbom.write_servers(target)

    bill = json.loads(target.read_text())
    assert {(component["name"], *hashes(component)) for component in bill["components"]} == {
        (artifact.file.rpartition("-")[0], artifact.sha256) for artifact in ARTIFACTS
    }


def hashes(component: dict[str, Any]) -> list[str]:
    """Return the hashes of a component: of itself, or of the files that hold it."""
    files = component.get("externalReferences", [])
    return [found["content"] for of in (component, *files) for found in of.get("hashes", [])]
