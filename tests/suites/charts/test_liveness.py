"""A worker, a metering worker or a beat that hangs is restarted; one that waits is not."""

import pytest

from controlplane import heartbeat
from tests.support.charts import rendered


@pytest.mark.parametrize("component", ["worker", "metering", "beat"])
def test_the_file_that_it_touches_is_looked_at(component: str) -> None:
    spec = rendered.pod_specs(rendered.objects())[f"Deployment/wp-{component}"]
    (container,) = spec["containers"]
    probe = container["livenessProbe"]
    (file,) = [e["value"] for e in container["env"] if e["name"] == "WAYPOST_HEARTBEAT_FILE"]

    assert probe["exec"]["command"] == ["python", "-m", heartbeat.__name__]
    assert file.rpartition("/")[0] in [mount["mountPath"] for mount in container["volumeMounts"]]
    # Between two attempts to connect again, Celery waits 30 seconds at most.
    assert probe["periodSeconds"] * (probe["failureThreshold"] - 1) > 4 * 30
    # A pod that is asked to stop touches no file: it must end before that is noticed.
    assert spec.get("terminationGracePeriodSeconds", 30) < heartbeat.STALE_SECONDS
