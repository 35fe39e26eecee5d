"""The worker may read the named pull secrets of its own namespace, where there are any."""

from tests.support.charts import rendered
from tests.support.source_tree import ROOT

PAGE = ROOT / "docs" / "operate" / "rights.md"
NAMED = ("--set", "imagePullSecrets={one,two}")


def test_only_the_named_secrets_are_read() -> None:
    objects = rendered.objects(rendered.TRIAL, *NAMED)
    role = rendered.find(objects, "Role", "wp-pull-secrets")
    binding = rendered.find(objects, "RoleBinding", "wp-pull-secrets")

    assert role["rules"] == [
        {
            "apiGroups": [""],
            "resources": ["secrets"],
            "resourceNames": ["one", "two"],
            "verbs": ["get"],
        }
    ]
    assert binding["roleRef"]["name"] == "wp-pull-secrets"
    assert [subject["name"] for subject in binding["subjects"]] == ["wp-worker"]


def test_without_any_there_is_no_such_right() -> None:
    names = [object_["metadata"]["name"] for object_ in rendered.objects(rendered.TRIAL)]

    assert "wp-pull-secrets" not in names


def test_the_right_is_documented_with_its_reason() -> None:
    (row,) = [
        line
        for line in PAGE.read_text().splitlines()
        if "secrets (only `imagePullSecrets`)" in line
    ]

    assert row.startswith("| core | secrets (only `imagePullSecrets`) | get | ")
