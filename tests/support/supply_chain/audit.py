"""Compare the locks with known advisories (``make audit``).

pip-audit asks the service of OSV about every package of ``.locks``. Where that service cannot be
reached, ``ADVISORIES=all.zip`` takes OSV's archive of PyPI's advisories instead, which another
machine has fetched. An audit that compared nothing is no pass: it ends with its own exit code.
"""

import argparse
import json
import subprocess
import sys
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

from tests.support import source_tree
from tests.support.supply_chain import advisories

LOCKS = ("development", "control-plane", "worker", "spark", "docs")
PASSED, VULNERABLE, NOT_COMPARED = 0, 1, 3
# Advisories that are older may lack the one that matters.
_OLDEST = timedelta(days=7)


class NotCompared(Exception):
    """The packages were not compared with advisories; the message says why."""


@dataclass(frozen=True)
class Finding:
    """An advisory about a package of the locks."""

    package: str
    version: str
    ids: frozenset[str]
    fixed_in: tuple[str, ...]

    def __str__(self) -> str:
        fixed = ", ".join(self.fixed_in) or "no version yet"
        return f"{self.package} {self.version}: {', '.join(sorted(self.ids))}; fixed in {fixed}"


def main(arguments: Sequence[str], now: datetime) -> int:
    """Audit the locks, print what was found, and return the exit code."""
    parser = argparse.ArgumentParser(prog="make audit")
    parser.add_argument("--advisories", type=Path, help="an archive of OSV's advisories on PyPI")
    parser.add_argument("--service", help="the URL that is asked; by default OSV's own")
    parser.add_argument("locks", nargs="*", type=Path)
    asked = parser.parse_args(arguments)
    locks = asked.locks or [source_tree.ROOT / ".locks" / f"{name}.txt" for name in LOCKS]
    try:
        n_packages, found = audit(locks, asked.service, asked.advisories, now)
    except NotCompared as reason:
        _say(f"audit: no pass, nothing was compared: {reason}")
        return NOT_COMPARED
    bad = [finding for finding in found if not is_accepted(finding, accepted(), now.date())]
    _say(
        f"audit: {n_packages} packages, {len(bad)} with an advisory, {len(found) - len(bad)} "
        "accepted for now"
    )
    for finding in bad:
        _say(f"  {finding}")
    return VULNERABLE if bad else PASSED


def audit(
    locks: Sequence[Path], service: str | None, archive: Path | None, now: datetime
) -> tuple[int, list[Finding]]:
    """Return the number of packages that were compared, and what is known about them.

    Raises:
        NotCompared: no service answered, or the archive is too old.
    """
    if archive is None:
        return _compare(locks, service)
    newest = advisories.newest(archive)
    if now - newest > _OLDEST:
        raise NotCompared(
            f"the newest advisory in {archive} is of {newest:%Y-%m-%d}: fetch it again."
        )
    with advisories.served(archive) as url:
        return _compare(locks, url)


def accepted() -> Mapping[str, str]:
    """Return advisory -> the last day on which it is accepted, and why."""
    project = tomllib.loads((source_tree.ROOT / "pyproject.toml").read_text())
    found: Mapping[str, str] = project["tool"]["waypost"].get("accepted-advisories", {})
    return found


def is_accepted(finding: Finding, accepted: Mapping[str, str], today: date) -> bool:
    """Return whether an advisory is accepted until today or a later day."""
    return any(
        today <= date.fromisoformat(accepted[name][:10]) for name in finding.ids & accepted.keys()
    )


def _compare(locks: Sequence[Path], url: str | None) -> tuple[int, list[Finding]]:
    """Ask ``url``, by default OSV's service, about every package.

    Raises:
        NotCompared: it did not answer about each.
    """
    command = [sys.executable, "-m", "pip_audit", "--vulnerability-service", "osv"]
    command += ["--osv-url", url] if url else []
    command += ["--disable-pip", "--require-hashes", "--format", "json"]
    command += ["--progress-spinner", "off", "--timeout", "20"]
    for lock in locks:
        command += ["--requirement", str(lock)]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    try:
        listed: list[dict[str, Any]] = json.loads(ended.stdout)["dependencies"]
    except ValueError as error:
        last = (ended.stderr.strip().splitlines() or ["it printed nothing"])[-1]
        raise NotCompared(f"{url or 'OSV'} did not answer: {last}") from error
    skipped = [package["name"] for package in listed if "skip_reason" in package]
    if skipped or not listed:
        raise NotCompared(f"these were skipped: {', '.join(skipped) or 'all'}")
    return len(listed), [
        _finding(package, known) for package in listed for known in package["vulns"]
    ]


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")


def _finding(package: Mapping[str, Any], known: Mapping[str, Any]) -> Finding:
    ids = frozenset([known["id"], *known["aliases"]])
    return Finding(package["name"], package["version"], ids, tuple(known["fix_versions"]))


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:], datetime.now(UTC)))
