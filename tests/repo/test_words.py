"""The word list of the project: names and texts use the field's terms (docs/glossary.md)."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support import source_tree

# Word -> what to write instead. ``round`` and ``beat`` stay where Python and Celery use them.
WORDS = {
    "anew": "again",
    "behaviour": "behavior",
    "catalogue": "catalog",
    "colour": "color",
    "door": "port, adapter",
    "doors": "ports, adapters",
    "falls": "counter resets",
    "gate": "validation",
    "gates": "validations",
    "hole": "gap",
    "holes": "gaps",
    "mates": "peers",
    "mend": "fix",
    "mended": "fixed",
    "mends": "fixes",
    "neighbour": "neighbor",
    "neighbouring": "adjacent",
    "nudge": "enqueue, trigger",
    "nudges": "enqueues, triggers",
    "organisation": "organization",
    "shall": "must",
    "stray": "orphan",
    "strays": "orphans",
    "trespassers": "unauthorized clients",
    "unseal": "decrypt",
    "whom": "(rephrase)",
}
PHRASES = ("held back", "ways in", "for each in", "made again under")
# Names that Python code must not define; in a text the words are allowed.
NAMES = {
    "_check_shape": "name what it checks",
    "in_words": "translated_errors",
    "ROOM": "BUDGET",
}
# The same for the product; a test may use them for what happened before its eyes.
PRODUCT_NAMES = {"said": "message", "tell": "report", "told": "assigned, reported"}
# Persisted names, which stay: models, invoice documents, audit kinds, reasons why an invoice is
# held, the columns of gold.quality with their constraints and descriptions, keys of log events.
_PERSISTED = re.compile(
    r"catalogueversion|catalogue_number|catalogue_id|[\"`]catalogue(\.[a-z]*)?[\"`]|\bcatalogue ?=|"
    r"\w\.catalogue\b|buyer\.organisation|[\"']organisation[\"']|"
    r"samples\.hole_at_end|covered_holes|holes_positive|[\"`](holes|falls)[\"`]|"
    r"^(holes|falls) bigint|\b(holes|falls) >= 0|\bseen_seq \+ holes\b",
    re.IGNORECASE,
)


def _found(path: Path) -> Iterator[str]:
    for number, line in enumerate(path.read_text().splitlines(), 1):
        prose = re.sub(r"`[^`]*`", " ", line) if path.suffix == ".md" else line
        plain = _PERSISTED.sub(" ", prose).lower()
        parts = re.split(r"[^a-z]+", plain)
        for word in sorted(set(parts) & WORDS.keys()):
            yield f"{path.relative_to(source_tree.ROOT)}:{number} {word}: write {WORDS[word]}"
        names = NAMES if "tests" in path.parts else NAMES | PRODUCT_NAMES
        for name in sorted(_defined(path, line) & names.keys()):
            yield f"{path.relative_to(source_tree.ROOT)}:{number} {name}: write {names[name]}"
        for phrase in PHRASES:
            if re.search(rf"\b{phrase}\b", plain):
                yield f"{path.relative_to(source_tree.ROOT)}:{number} {phrase}"


def _defined(path: Path, line: str) -> set[str]:
    """Return the name that a line of Python defines: a function, a class, a constant."""
    found = re.match(r"\s*(?:def|class) (\w+)|([A-Z_]+)\b.* = ", line)
    return {name for name in found.groups() if name} if found and path.suffix == ".py" else set()


def _texts() -> list[Path]:
    docs = [*source_tree.list_written(".md"), *source_tree.list_written(".html")]
    tests = [
        path
        for path in source_tree.list_written(".py")
        if path.relative_to(source_tree.ROOT).parts[0] == "tests"
    ]
    return [
        *source_tree.list_modules(),
        *(path for path in tests if path != Path(__file__)),  # this file lists the words
        *(path for path in docs if "node_modules" not in path.parts),
    ]


def test_names_and_texts_use_the_fields_words() -> None:
    assert [line for path in _texts() for line in _found(path)] == []


@pytest.mark.parametrize(
    ("line", "word"),
    [
        ("def open_doors(): ...", "doors"),
        ("# made anew", "anew"),
        ("x = 'held back'", "held back"),
        ("    def tell(self) -> None: ...", "tell"),
        ("ROOM = 1", "ROOM"),
        ("evidence.holes", "holes"),
    ],
)
def test_a_listed_word_is_found(
    tmp_path: Path, line: str, word: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(source_tree, "ROOT", tmp_path)
    module = tmp_path / "module.py"
    module.write_text(f"{line}\n")

    assert [word in found for found in _found(module)] == [True]
