"""``helm test`` asks the portal through its service, by a name that the portal accepts."""

from tests.support.charts import rendered


def test_it_is_a_hook_that_no_installation_waits_for() -> None:
    objects = rendered.objects()
    pod = rendered.find(objects, "Pod", "wp-test-portal")
    (container,) = pod["spec"]["containers"]
    web = rendered.pod_specs(objects)["Deployment/wp-web"]["containers"][0]
    hosts = {variable["name"]: variable.get("value") for variable in web["env"]}
    program, base = container["command"][:-1], container["command"][-1]

    assert pod["metadata"]["annotations"]["helm.sh/hook"] == "test"
    assert program == ["python", "-m", "controlplane.cli.portal_check"]
    assert base.removeprefix("http://") in str(hosts["WAYPOST_ALLOWED_HOSTS"]).split(",")
    service = rendered.find(objects, "Service", base.removeprefix("http://"))
    assert service["spec"]["ports"][0]["port"] == 80
