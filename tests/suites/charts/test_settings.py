"""``settings``: no secret gets in there, for many may read a config map; the level of the logs."""

import pytest

from tests.support.charts import rendered

_STORE = "lakehouse.objectStore"
EVERYTHING = (
    "--set",
    "oidc.issuer=https://login.example.org,oidc.existingSecret=oidc,oidc.clientId=waypost",
    "--set",
    f"{_STORE}.enabled=true,{_STORE}.bucket=usage,{_STORE}.existingSecret=keys",
)


def secrets() -> set[str]:
    """Return the variables that the chart's own pods take from secrets."""
    specs = rendered.pod_specs(rendered.objects(rendered.TRIAL, *EVERYTHING)).values()
    return {
        variable["name"]
        for spec in specs
        for container in rendered.containers(spec)
        for variable in container.get("env", [])
        if "secretKeyRef" in variable.get("valueFrom", {})
        and variable["name"].startswith("WAYPOST_")
    }


def refusal(setting: str, value: str = "x") -> str:
    options = ("-f", str(rendered.TRIAL), "--set-string", f"settings.{setting}={value}")
    ran = rendered.run("template", "wp", str(rendered.CHART), *options)
    return str(ran.stderr) if ran.returncode else ""


def test_what_the_chart_takes_from_secrets_is_no_setting() -> None:
    found = secrets()

    assert {"WAYPOST_DATABASE_URL", "WAYPOST_OIDC_CLIENT_SECRET", "WAYPOST_SECRET_KEYS"} <= found
    for name in found:
        assert f"settings.{name} is a secret" in refusal(name), name


@pytest.mark.parametrize("name", ["WAYPOST_SAMPLE_SECONDS", "WAYPOST_OIDC_TOKEN_ENDPOINT"])
def test_what_is_no_secret_is_taken(name: str) -> None:
    assert refusal(name) == ""


def celery_levels(*options: str) -> dict[str, str]:
    """Return the level that each of Celery's programs is started with."""
    specs = rendered.pod_specs(rendered.objects(rendered.TRIAL, *options)).values()
    return {
        container["name"]: word.removeprefix("--loglevel=")
        for spec in specs
        for container in spec["containers"]
        for word in container.get("command", [])
        if word.startswith("--loglevel=")
    }


def test_workers_and_beat_go_by_the_level_of_the_logs() -> None:
    asked = celery_levels("--set", "settings.WAYPOST_LOG_LEVEL=ERROR")

    assert celery_levels() == {"worker": "INFO", "metering": "INFO", "beat": "WARNING"}
    assert asked == dict.fromkeys(["worker", "metering", "beat"], "ERROR")


def test_a_level_that_is_none_is_refused() -> None:
    assert "WAYPOST_LOG_LEVEL" in refusal("WAYPOST_LOG_LEVEL", "LOUD")
    assert refusal("WAYPOST_LOG_LEVEL", "DEBUG") == ""


def test_numbers_are_taken_as_they_are() -> None:
    objects = rendered.objects(rendered.TRIAL, "--set", "settings.WAYPOST_SAMPLE_SECONDS=2000000")

    found = rendered.find(objects, "ConfigMap", "wp-settings")["data"]

    assert found["WAYPOST_SAMPLE_SECONDS"] == "2000000"
