"""Nothing in the repository names a registry's host, a machine's path or a secret."""

import re
from pathlib import Path

from tests.support import source_tree

# Hosts that documentation and standards themselves use, and names inside a cluster.
_URL = re.compile(r"https?://([A-Za-z0-9.-]+)")
_ALLOWED_HOST = re.compile(
    r"(127\.0\.0\.1|localhost|testserver|kubernetes\.default\.svc"
    r"|([a-z0-9-]+\.)*(example|example\.(com|org|net)|invalid|test))$"
)
# Names of XML and SVG vocabularies are URIs, never fetched.
_VOCABULARIES = {
    "activemq.apache.org",
    "www.w3.org",
    "www.aiim.org",
    "purl.oclc.org",
    "ant.apache.org",
    "www.apache.org",
    "artemis.apache.org",
    "xmlns.jcp.org",
    "activemq.org",
    "tempuri.org",
    "schemas.openid.net",
}
_SKIPPED = {"LICENSE"}
_VENDORED = ("controlplane/console/static/",)


def _texts() -> list[tuple[Path, str]]:
    found = []
    for path in source_tree.list_files():
        name = str(path.relative_to(source_tree.ROOT))
        if path.name in _SKIPPED or name.startswith(_VENDORED):
            continue
        try:
            found.append((path, path.read_text()))
        except UnicodeDecodeError:
            continue
    return found


def test_no_file_names_a_host_of_the_internet() -> None:
    named = [
        f"{path}: {host}"
        for path, text in _texts()
        for host in _URL.findall(text)
        if not _ALLOWED_HOST.match(host) and host not in _VOCABULARIES
    ]

    assert named == []


def test_locks_carry_hashes_and_no_addresses() -> None:
    locks = list((source_tree.ROOT / ".locks").glob("*.txt"))

    for lock in locks:
        text = lock.read_text()
        pinned = re.findall(r"^[a-z0-9][^\s=]*==\S+", text, re.M)
        assert pinned
        assert text.count(" \\\n    --hash=") >= len(pinned)
        assert "://" not in text
        assert "--index" not in text
        assert "--find-links" not in text
    assert len(locks) == 10


def test_no_file_names_a_path_of_one_machine() -> None:
    machine = re.compile(r"(?<![\w.~])/(work|root|home/\w+)/")

    named = [
        str(path)
        for path, text in _texts()
        if path.name != Path(__file__).name and machine.search(text)
    ]

    assert named == []


def test_pages_load_nothing_from_elsewhere() -> None:
    pages = source_tree.list_files(".html")

    loading = [
        str(page)
        for page in pages
        if re.search(r"""(src|href)\s*=\s*["']\s*(https?:)?//""", page.read_text())
    ]

    assert loading == []
