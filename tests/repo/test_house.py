"""Setup, make targets, docs and migrations agree with each other."""

import io
import re
import subprocess
import tomllib

import pytest
from django.core.management import call_command

from tests.support import source_tree

MAKEFILE = (source_tree.ROOT / "Makefile").read_text()
TARGETS = set(re.findall(r"^([a-z]+):", MAKEFILE, re.M))


@pytest.mark.django_db
def test_no_migration_is_missing() -> None:
    out = io.StringIO()

    call_command("makemigrations", check=True, dry_run=True, stdout=out)

    assert "No changes" in out.getvalue()


def test_the_list_of_tasks_says_what_make_test_leaves_out() -> None:
    """Each of them has a task of its own."""
    (shown,) = re.findall(r"^test: .*## (.*)$", MAKEFILE, re.M)

    left_out = {
        "test-lakehouse": "lakehouse on Spark",
        "test-kubernetes": "Kubernetes adapter and the chart",
        "test-drills": "drills",
        "images": "images",
        "test-upgrade": "upgrades",
        "test-s3": "Spark on S3",
        "test-spark": "in pods",
        "test-schemathesis": "generated requests",
        "test-large": "many messages",
    }
    for target, words in left_out.items():
        assert words in shown
        assert re.search(rf"^{target}:", MAKEFILE, re.M)


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md", ".ci/run"])
def test_documented_make_targets_exist(page: str) -> None:
    text = (source_tree.ROOT / page).read_text()

    named = {
        word for line in re.findall(r"\bmake ((?:[a-z]+ ?)+)", text) for word in line.split()
    } - {"is", "it"}

    assert named
    assert named <= TARGETS


def test_documented_waypost_commands_exist() -> None:
    readme = (source_tree.ROOT / "README.md").read_text()
    commands = sorted(set(re.findall(r"\.venv/bin/waypost ((?:[a-z]+ ?){1,2})", readme)))

    assert commands
    for command in commands:
        noun = command.split()[0]
        shown = subprocess.run(
            [str(source_tree.ROOT / ".venv/bin/waypost"), noun, "--help"],
            capture_output=True,
            text=True,
            check=False,
        )
        assert shown.returncode == 0, f"waypost {noun}: {shown.stderr}"


def test_documented_links_exist() -> None:
    links = [
        (page, link)
        for page in source_tree.list_files(".md")
        for link in re.findall(r"\]\(([^)#:]+)\)", page.read_text())
    ]

    assert links
    for page, link in links:
        assert (page.parent / link).exists(), f"{page.name} links to {link}"


def test_every_dependency_says_why() -> None:
    lines = (source_tree.ROOT / "pyproject.toml").read_text().splitlines()
    begin, end = lines.index("dependencies = ["), lines.index("[tool.waypost]")

    listed = [line for line in lines[begin:end] if re.match(r'  "[A-Za-z]', line)]
    silent = [line for line in listed if not re.search(r",\s+# \S.*\w", line)]

    assert len(listed) > 20
    assert silent == []


def test_every_dependency_is_locked() -> None:
    project = tomllib.loads((source_tree.ROOT / "pyproject.toml").read_text())
    extras = project["project"]["optional-dependencies"].values()
    wanted = [*project["project"]["dependencies"], *(line for extra in extras for line in extra)]
    locked = (source_tree.ROOT / ".locks/development.txt").read_text().lower()

    for requirement in wanted:
        if requirement.startswith("waypost["):  # another extra of ours
            continue
        name = re.split(r"[\[=<>]", requirement)[0].lower().replace("_", "-")
        assert f"{name}==" in locked, requirement


def test_hooks_run_what_ci_runs() -> None:
    hooks = (source_tree.ROOT / ".pre-commit-config.yaml").read_text()
    ci = (source_tree.ROOT / ".ci/run").read_text()
    hooked = re.findall(r"entry: make (\w+)", hooks)

    assert hooked
    for target in hooked:
        assert target in TARGETS
        assert re.search(rf"make .*\b{target}\b", ci)
