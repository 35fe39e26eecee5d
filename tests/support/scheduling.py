"""Which process of a test run gets which test modules.

A module stays in one process, so that its tests share the servers of its fixtures. Modules that
share a server of a wider scope, such as the running installation, go to one process together:
otherwise each process would start that server again.
"""

from xdist.scheduler import LoadFileScheduling

# The server -> the modules below tests/suites that share it.
_SHARED = {
    "one installation": (
        "e2e/test_command.py",
        "e2e/test_documented_programs.py",
        "e2e/test_foreign_clients.py",
        "e2e/test_jms_clients.py",
        "e2e/test_journeys.py",
        "e2e/test_tenant_metrics.py",
        "e2e/test_up_and_down.py",
    ),
    "one Keycloak": ("login/test_oidc_browser.py", "login/test_oidc_keycloak.py"),
    "one Spark": (
        "lakehouse/test_billing_law.py",
        "lakehouse/test_pipeline.py",
        "lakehouse/test_rules.py",
        "lakehouse/test_tables.py",
    ),
}
_SERVER_OF = {
    f"tests/suites/{module}": server for server, modules in _SHARED.items() for module in modules
}


# Every module of this suite uses the API server, which costs more than most of its tests.
_OF_THE_API_SERVER = "tests/suites/kubernetes/"


class ByServer(LoadFileScheduling):  # type: ignore[misc]  # xdist ships no types
    """Gives a process one module at a time, or all modules that share one server."""

    def _split_scope(self, nodeid: str) -> str:
        module = nodeid.split("::", 1)[0]
        if module.startswith(_OF_THE_API_SERVER):
            return "one API server"
        return _SERVER_OF.get(module, module)
