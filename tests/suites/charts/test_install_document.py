"""docs/operate/install.md names values, settings and files that are there."""

import re
from pathlib import Path
from typing import Any

import yaml

from controlplane import settings as source
from controlplane.core.reasons import Reason
from tests.support.charts import rendered
from tests.support.charts.rendered import CHART

ROOT = CHART.parents[1]
PAGE = (ROOT / "docs" / "operate" / "install.md").read_text()
VALUES: dict[str, Any] = yaml.safe_load((CHART / "values.yaml").read_text())


def is_value(path: str) -> bool:
    found: Any = VALUES
    for name in path.split("."):
        if not isinstance(found, dict) or name not in found:
            return False
        found = found[name]
    return True


def test_values_that_it_names_exist() -> None:
    quoted = re.findall(r"`([a-z][A-Za-z]*(?:\.[A-Za-z]+)+)(?:: \w+)?`", PAGE)
    named = {word for word in quoted if word.split(".")[0] in VALUES}

    assert len(named) > 15
    assert {name for name in named if not is_value(name)} == set()


def test_its_command_lists_every_image() -> None:
    """A mirror is filled from that list."""
    (pattern,) = re.findall(r"`helm template … \| grep -E '(.+)'`", PAGE)
    text = rendered.template(rendered.TRIAL, "--set", "router.image.repository=r")
    listed = " ".join(line for line in text.splitlines() if re.search(pattern, line))

    images = set(re.findall(r"[\w./-]+:[\w.]+", listed))
    described = rendered.find(rendered.parse(text), "ConfigMap", "wp-cluster")
    engines = yaml.safe_load(described["data"]["cluster.yaml"])["images"]

    assert {engines["broker"], engines["router"]} <= images
    assert len(images) == 7


def test_its_values_render(tmp_path: Path) -> None:
    (example,) = re.findall(r"```yaml\n(.*?)```", PAGE, re.S)
    (tmp_path / "values.yaml").write_text(example)

    assert len(rendered.objects(tmp_path / "values.yaml")) > 20


def test_settings_that_it_lists_have_these_defaults() -> None:
    rows = re.findall(r"^\| (WAYPOST_\w+) \| (\S+) \|", PAGE, re.M)

    assert len(rows) > 5
    text = Path(source.__file__).read_text()
    for name, default in rows:
        value = "" if default == "empty" else rf', "?{default}"?'
        assert re.search(rf'"{name}"{value}[,)]', text), name


def test_files_that_it_names_exist() -> None:
    named = set(re.findall(r"charts/[\w./-]+\w", PAGE))

    assert len(named) > 4
    assert {name for name in named if not (ROOT / name).exists()} == set()


def test_reasons_that_it_names_are_given() -> None:
    given = "".join(path.read_text() for path in (ROOT / "workers/infra").rglob("*.py"))

    named = set(re.findall(r"`((?:Cluster|Admission|Router)[A-Z]\w+)`", PAGE))
    assert len(named) == 3
    members = {reason.value: reason.name for reason in Reason}
    assert all(f"Reason.{members[name]}" in given for name in named)
