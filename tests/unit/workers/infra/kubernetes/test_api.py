"""A cluster's API that is slow, busy or talks nonsense: told in words, and tried again."""

import json
import socket
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
import yaml
from kubernetes import client as k8s
from kubernetes.client import ApiClient, Configuration

from tests.support.infra.places import BUDGET, SPACE, cluster
from workers.infra.base import InfraError
from workers.infra.kubernetes import api, resources
from workers.infra.kubernetes.adapter import KubernetesInfra
from workers.infra.kubernetes.api import Api
from workers.infra.kubernetes.endpoints import gateway, route

pytestmark = pytest.mark.enable_socket


class Answers(BaseHTTPRequestHandler):
    """Gives the next of the server's answers to every request."""

    def _answer(self) -> None:
        server: Any = self.server
        server.asked.append((self.command, self.path))
        server.bodies.append(self.rfile.read(int(self.headers.get("Content-Length", 0))))
        status, body = server.answers.pop(0) if len(server.answers) > 1 else server.answers[0]
        text = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(text)))
        self.send_header("Retry-After", "1")  # as the API's priority and fairness sends it
        self.end_headers()
        self.wfile.write(text)

    do_GET = do_PATCH = do_DELETE = _answer

    def log_message(self, *_args: object) -> None:
        return None


class Stub(ThreadingHTTPServer):
    """An API that answers what it is told."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Answers)
        self.answers: list[tuple[int, Any]] = []
        self.asked: list[tuple[str, str]] = []
        self.bodies: list[bytes] = []

    @property
    def client(self) -> Api:
        return Api(ApiClient(Configuration(host=f"http://127.0.0.1:{self.server_port}")))


@pytest.fixture
def stub() -> Iterator[Stub]:
    with Stub() as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


@pytest.mark.parametrize("status", [429, 500, 502, 503, 504])
def test_a_busy_api_is_tried_again(stub: Stub, status: int) -> None:
    stub.answers = [(status, {"message": "busy"})]

    with pytest.raises(InfraError) as busy:
        with KubernetesInfra(stub.client, cluster()).open(SPACE) as session:
            session.ensure_namespace(BUDGET)

    assert (busy.value.reason, busy.value.retry) == ("ClusterBusy", True)


@pytest.mark.parametrize("body", [b"<html>proxy</html>", b"", b"[1]"])
def test_an_answer_that_is_no_object_is_told_as_it_is(stub: Stub, body: bytes) -> None:
    stub.answers = [(503, body)]

    with pytest.raises(InfraError) as refused:
        stub.client.find(resources.SECRET, "ns", "x")

    assert refused.value.reason == "ClusterBusy"
    assert body.decode() in str(refused.value)


def test_an_api_that_never_answers_is_given_up_and_tried_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(api, "_TIMEOUT_SECONDS", (0.3, 0.3))
    with socket.create_server(("127.0.0.1", 0)) as silent:
        host = f"http://127.0.0.1:{silent.getsockname()[1]}"
        with pytest.raises(InfraError) as away:
            Api(ApiClient(Configuration(host=host))).find(resources.SECRET, "ns", "x")

    assert (away.value.reason, away.value.retry) == ("ClusterUnreachable", True)


def test_a_kind_that_the_cluster_does_not_know_has_no_objects(stub: Stub) -> None:
    stub.answers = [(404, {"message": "the server could not find the requested resource"})]

    assert list(stub.client.list(gateway.TLS_ROUTE, "ns", {"a": "b"})) == []
    assert stub.client.find(route.ROUTE, "ns", "x") is None
    assert stub.client.delete(route.ROUTE, "ns", "x")
    assert stub.asked[0][1].endswith("/namespaces/ns/tlsroutes?labelSelector=a%3Db")


@pytest.mark.parametrize("items", ["text", ["text"], {"a": 1}])
def test_a_list_in_another_form_is_refused(stub: Stub, items: object) -> None:
    stub.answers = [(200, {"items": items})]

    with pytest.raises(InfraError, match="items") as refused:
        stub.client.list(resources.SECRET, "ns", {})

    assert (refused.value.reason, refused.value.retry) == ("ObjectUnreadable", False)


def test_a_hostile_name_stays_one_path_segment_or_is_refused() -> None:
    for hostile in ("../x", "a/b", "a?b", "a#b", "a b", "%2e%2e"):
        with pytest.raises(ValueError, match="not a name"):
            resources.SECRET.path("ns", hostile)
        with pytest.raises(ValueError, match="not a name"):
            resources.SECRET.path(hostile, "x")


def test_any_text_is_sent_as_yaml_reads_it(stub: Stub) -> None:
    """An apply is read as YAML, which takes no surrogate pairs and folds lines at U+2028."""
    text = 'é😀\u2028\u0085\u007f\ufeff\\ud83d\n"x'
    wanted = k8s.V1ConfigMap(metadata=k8s.V1ObjectMeta(name="x"), data={"a": text})
    stub.answers = [(200, resources.document_of(wanted))]

    stub.client.apply(wanted)

    (body,) = stub.bodies
    assert yaml.safe_load(body)["data"] == {"a": text}
    assert body.isascii()


def test_what_the_cluster_adds_at_each_write_is_refused_in_words(stub: Stub) -> None:
    wanted = k8s.V1Service(
        metadata=k8s.V1ObjectMeta(name="x", namespace="n"),
        spec=k8s.V1ServiceSpec(selector={"a": "b"}, ports=[]),
    )
    theirs = {"selector": {"a": "b", "mesh": "on"}}
    stub.answers = [(200, {**resources.document_of(wanted), "spec": theirs})]

    with pytest.raises(InfraError, match="/spec/selector at each write") as refused:
        stub.client.apply(wanted)

    assert (refused.value.reason, refused.value.retry) == ("AdmissionAdds", False)
    assert [verb for verb, _path in stub.asked] == ["PATCH", "PATCH"]


def test_somebody_elses_conflict_is_never_forced(stub: Stub) -> None:
    cause = {"reason": "FieldManagerConflict", "message": 'conflict with "gitops" using v1'}
    conflict = {"message": "conflict", "details": {"causes": [cause]}}
    theirs = {"metadata": {"managedFields": [{"manager": "gitops", "operation": "Apply"}]}}
    stub.answers = [(409, conflict), (200, theirs)]
    wanted = k8s.V1Secret(metadata=k8s.V1ObjectMeta(name="x", namespace="n"), data={})

    with pytest.raises(InfraError) as refused:
        stub.client.apply(wanted)

    assert refused.value.reason == "FieldConflict"
    assert not any("force=true" in path for _verb, path in stub.asked)


def test_a_field_of_another_type_is_named(stub: Stub) -> None:
    stub.answers = [(200, {"metadata": {"name": "x", "labels": ["a"]}})]

    with pytest.raises(InfraError, match=r"Pod in a form .* not read: metadata\.labels") as refused:
        stub.client.find(resources.POD, "ns", "x")

    assert (refused.value.reason, refused.value.retry) == ("ObjectUnreadable", False)


def test_what_waypost_does_not_read_may_have_any_type(stub: Stub) -> None:
    document = {"metadata": {"name": "x", "labels": None}, "spec": {"theirs": 1}, "more": []}
    stub.answers = [(200, document)]

    found = stub.client.find(resources.POD, "ns", "x")

    assert found is not None
    assert (found.name, found.metadata.labels, found.document) == ("x", {}, document)
