"""The reasons of conditions: every value that a condition's field ``reason`` may have.

A reason says in one word why a condition has its status; programs may compare it. The condition's
message explains it to people. A new reason needs a member here and the code that reports it; then
``python -m controlplane.core.reasons`` writes the table in docs/operate/conditions.md.
"""

import re
from enum import StrEnum
from itertools import groupby
from pathlib import Path

_CLUSTER_BUSY_HELP = (
    "Nothing, if it passes within minutes. If `ClusterUnreachable` lasts, check "
    "whether workers may reach the API server (`networkPolicy.apiPorts`, "
    "`networkPolicy.apiTo`)."
)
_ROUTER_UNREACHABLE_HELP = (
    "Waypost is deleting the space and cannot disconnect the clients of this instance"
    " for its last sample. After 10 minutes Waypost deletes the space without that "
    "sample. Usage since the previous sample may then be lost. Until then check the "
    "pod and its log."
)
_CLUSTER_CREDENTIALS_HELP = (
    "Check the worker's token or roles: compare them with [rights.md](rights.md)."
)
_ADMISSION_REFUSED_HELP = (
    "A policy or webhook of yours interferes. Exempt namespaces with the label "
    "`app.kubernetes.io/part-of=waypost`, or fix the webhook."
)
_OBJECT_REFUSED_HELP = (
    "The cluster does not accept a value: check the image, the endpoint and the annotations."
)
_LABELS_MISSING_HELP = "Put back, or delete, what the message names."
_NAMESPACE_TAKEN_HELP = (
    "The namespace belongs to somebody else or to another installation. Read the "
    "chart's upgrade notes, charts/waypost/README.md, before you take it over."
)
_NAMESPACE_ENDING_HELP = (
    "Somebody deleted the namespace. The message of `NamespaceStuck` names what "
    "blocks the deletion."
)
_PULL_SECRET_MISSING_HELP = (
    "Check the secret that `imagePullSecrets` names: create it, or give it the type "
    "`kubernetes.io/dockerconfigjson`."
)
_CERTIFICATE_MISSING_HELP = "See [certificates.md](certificates.md)."
_BROKER_STARTING_HELP = (
    "Nothing. An instance starts, or restarts with a change. After a minute the "
    "reason becomes `BrokerDown` or `RouterDown`."
)
_BROKER_DOWN_HELP = (
    "Look at the pod: `kubectl -n <namespace> describe pod broker-0-0`. See [A broker"
    " or router is down](#a-broker-or-router-is-down)."
)
_BROKER_DOWN_LOCAL_HELP = "Read the file output.log of the instance, in Waypost's state folder."
_WORKS_HELP = "Nothing. Everything is as it should be."
_PROGRAM_INVALID_HELP = (
    "Only on one machine. The message names the program or setting that is wrong or "
    "missing: install or change it."
)


class Reason(StrEnum):
    """The reason of a condition. ``help`` (Markdown) tells an operator what to do about it.

    Values are stored in conditions and shown by the API, so they never change.
    """

    help: str

    def __new__(cls, value: str, help: str) -> "Reason":
        member = str.__new__(cls, value)
        member._value_ = value
        member.help = help
        return member

    CLUSTER_BUSY = "ClusterBusy", _CLUSTER_BUSY_HELP
    CLUSTER_CONFLICT = "ClusterConflict", _CLUSTER_BUSY_HELP
    CLUSTER_UNREACHABLE = "ClusterUnreachable", _CLUSTER_BUSY_HELP
    QUOTA_PENDING = "QuotaPending", _CLUSTER_BUSY_HELP
    RIGHTS_PENDING = "RightsPending", _CLUSTER_BUSY_HELP
    NAMESPACE_MISSING = "NamespaceMissing", _CLUSTER_BUSY_HELP
    LAST_SAMPLE_PENDING = (
        "LastSamplePending",
        (
            "Nothing. Before Waypost ends something, workers read its counters once more. If "
            "it lasts, read the log of the worker pods: they take this sample."
        ),
    )
    TERMINATING = (
        "Terminating",
        (
            "Waypost is deleting the space. The message begins with the reason that the "
            "deletion waits for: see the row of that reason."
        ),
    )
    ROUTER_UNREACHABLE = "RouterUnreachable", _ROUTER_UNREACHABLE_HELP
    ROUTER_REFUSES = "RouterRefuses", _ROUTER_UNREACHABLE_HELP
    BROKER_UNREACHABLE = "BrokerUnreachable", _ROUTER_UNREACHABLE_HELP
    BROKER_REFUSES = "BrokerRefuses", _ROUTER_UNREACHABLE_HELP
    CLUSTER_CREDENTIALS = "ClusterCredentials", _CLUSTER_CREDENTIALS_HELP
    CLUSTER_FORBIDDEN = "ClusterForbidden", _CLUSTER_CREDENTIALS_HELP
    CLUSTER_UNKNOWN = (
        "ClusterUnknown",
        "The worker finds no cluster to work in. It must run in a pod or have a kubeconfig.",
    )
    CLUSTER_QUOTA = (
        "ClusterQuota",
        "Check your quotas in the space's namespace, and whether the cluster has free resources.",
    )
    ADMISSION_REFUSED = "AdmissionRefused", _ADMISSION_REFUSED_HELP
    ADMISSION_UNANSWERED = "AdmissionUnanswered", _ADMISSION_REFUSED_HELP
    ADMISSION_ADDS = "AdmissionAdds", _ADMISSION_REFUSED_HELP
    POD_SECURITY = (
        "PodSecurity",
        "On OpenShift set `platform: openshift`. Elsewhere check `spaces.user` and `spaces.group`.",
    )
    OBJECT_REFUSED = "ObjectRefused", _OBJECT_REFUSED_HELP
    CLUSTER_REFUSED = "ClusterRefused", _OBJECT_REFUSED_HELP
    OBJECT_UNREADABLE = (
        "ObjectUnreadable",
        (
            "The cluster reports an object in a form that this version of Waypost does not read. "
            "Use a version of Kubernetes that [install.md](install.md) names."
        ),
    )
    KIND_MISSING = (
        "KindMissing",
        (
            "Install the software that provides the kind, or a newer release of it. `gateway`"
            " needs the Gateway API 1.5 or newer. An issuer needs cert-manager. `route` "
            "exists on OpenShift only."
        ),
    )
    FIELD_CONFLICT = (
        "FieldConflict",
        "Something else (GitOps) applies the same field: remove the field there.",
    )
    LABELS_MISSING = "LabelsMissing", _LABELS_MISSING_HELP
    BINDING_OF_ANOTHER = "BindingOfAnother", _LABELS_MISSING_HELP
    NAMESPACE_TAKEN = "NamespaceTaken", _NAMESPACE_TAKEN_HELP
    OTHER_INSTALLATION = "OtherInstallation", _NAMESPACE_TAKEN_HELP
    NAMESPACE_ENDING = "NamespaceEnding", _NAMESPACE_ENDING_HELP
    NAMESPACE_STUCK = "NamespaceStuck", _NAMESPACE_ENDING_HELP
    ENDPOINT_PENDING = (
        "EndpointPending",
        (
            "Check the load balancer, or the component that admits routes. If the reason "
            "belongs to the condition `Reachable`, the space serves clients inside the "
            "cluster meanwhile."
        ),
    )
    PULL_SECRET_MISSING = "PullSecretMissing", _PULL_SECRET_MISSING_HELP
    PULL_SECRET_UNFIT = "PullSecretUnfit", _PULL_SECRET_MISSING_HELP
    ROUTER_IMAGE_MISSING = (
        "RouterImageMissing",
        "Set `router.image`: [install.md](install.md#the-router-image).",
    )
    CONFIGURATION_TOO_LARGE = (
        "ConfigurationTooLarge",
        "The space has too many addresses or users: use a second space.",
    )
    PLACEMENT_UNKNOWN = (
        "PlacementUnknown",
        "Define the profile that the message names in `spaces.placements`.",
    )
    CERTIFICATE_MISSING = "CertificateMissing", _CERTIFICATE_MISSING_HELP
    CERTIFICATE_FORBIDDEN = "CertificateForbidden", _CERTIFICATE_MISSING_HELP
    CERTIFICATE_PENDING = "CertificatePending", _CERTIFICATE_MISSING_HELP
    CERT_MANAGER_MISSING = "CertManagerMissing", _CERTIFICATE_MISSING_HELP
    CERTIFICATE_COMING = "CertificateComing", _CERTIFICATE_MISSING_HELP
    CERTIFICATE_GIVEN = "CertificateGiven", _CERTIFICATE_MISSING_HELP
    CERTIFICATE_EXPIRING = "CertificateExpiring", _CERTIFICATE_MISSING_HELP
    CERTIFICATE_EXPIRED = "CertificateExpired", _CERTIFICATE_MISSING_HELP
    CERTIFICATE_NOT_YET_VALID = "CertificateNotYetValid", _CERTIFICATE_MISSING_HELP
    CERTIFICATE_HOST_MISSING = "CertificateHostMissing", _CERTIFICATE_MISSING_HELP
    CERTIFICATE_KEY_OTHER = "CertificateKeyOther", _CERTIFICATE_MISSING_HELP
    CERTIFICATE_USAGE_OTHER = "CertificateUsageOther", _CERTIFICATE_MISSING_HELP
    CERTIFICATE_AUTHORITY_OTHER = "CertificateAuthorityOther", _CERTIFICATE_MISSING_HELP
    CERTIFICATE_UNREADABLE = "CertificateUnreadable", _CERTIFICATE_MISSING_HELP
    SPACE_AUTHORITY = "SpaceAuthority", _CERTIFICATE_MISSING_HELP
    NOTHING_TO_CONNECT_TO = (
        "NothingToConnectTo",
        (
            "The database has no broker for a brokered space, although Waypost creates both "
            "together. Compare the rows with a backup ([backup.md](backup.md))."
        ),
    )
    BROKER_STARTING = "BrokerStarting", _BROKER_STARTING_HELP
    ROUTER_STARTING = "RouterStarting", _BROKER_STARTING_HELP
    ROLLING_OUT = (
        "RollingOut",
        (
            "Nothing. One instance restarts with a change, and the others wait for it. After "
            "a minute the reason becomes `RolloutStopped`."
        ),
    )
    BROKER_DOWN = "BrokerDown", _BROKER_DOWN_HELP
    ROUTER_DOWN = "RouterDown", _BROKER_DOWN_HELP
    INSTANCE_UNREACHABLE = (
        "InstanceUnreachable",
        (
            "Nothing, if it passes within minutes. A broker or router did not answer during a"
            " pass. If it lasts, read the logs of the space's pods, and check whether workers"
            " reach their port 5673."
        ),
    )
    SETTINGS_PENDING = (
        "SettingsPending",
        (
            "A broker does not yet have the settings that Waypost applied. The message names "
            "the address (or the broker) and the difference. Nothing, if it passes within a "
            "minute. If it lasts, read the log of the broker."
        ),
    )
    LINKS_PENDING = (
        "LinksPending",
        (
            "A router does not show an address, or has no link for it to its broker. The "
            "message quotes the router. Nothing, if it passes within a minute. If it lasts, "
            "read the logs of both, and check the network between them."
        ),
    )
    ROUTERS_IDENTIFIED = (
        "RoutersIdentified",
        (
            "Nothing. The routers reported which of Waypost's patches they have, for the "
            "first time or with a different result. The next pass uses this report. If it "
            "appears again and again, the space's routers run different images."
        ),
    )
    LOGINS_REFRESHING = (
        "LoginsRefreshing",
        "Nothing. It takes a second, until every login has the changed permissions.",
    )
    PROBE_FAILED = (
        "ProbeFailed",
        (
            "A probe message of Waypost did not come back, or a broker does not listen for "
            "clients. The message names where it stopped. Nothing, if it passes within "
            "minutes. If it lasts, read the logs of the brokers and routers, and check the "
            "free space on the brokers' volumes ([sizes.md](sizes.md))."
        ),
    )
    ADDRESS_NOT_POSSIBLE = (
        "AddressNotPossible",
        (
            "This is a reason of an address. Brokers cannot use its name, or routers cannot "
            "distinguish it from another address. The tenant deletes the address and chooses "
            "another name."
        ),
    )
    PASS_FAILED = (
        "PassFailed",
        (
            "Waypost has a bug, or meets a state that it does not expect. Read the log of the"
            " workers: event `reconcile pass failed` with the space's id. Deletions in this "
            "space wait. What serves clients continues."
        ),
    )
    MESH_FORMING = (
        "MeshForming",
        (
            "Nothing. This is a reason of the condition `Routers`: routers that have just "
            "started connect within a minute."
        ),
    )
    MESH_INCOMPLETE = (
        "MeshIncomplete",
        (
            "This is a reason of the condition `Routers`. Each router serves its clients "
            "meanwhile. Messages that clients send through one router may not reach clients "
            "at the other, except through queues. Check what lies between the two routers "
            "that the message names: the cluster's network policies (port 5674) and the logs "
            "of both."
        ),
    )
    ONE_ONLY = (
        "OneOnly",
        "Nothing. The development router has no mesh.",
    )
    WORKS = "Works", _WORKS_HELP
    AS_PLANNED = "AsPlanned", _WORKS_HELP
    ROLLOUT_STOPPED = (
        "RolloutStopped",
        "See [rollouts.md](rollouts.md).",
    )
    UPGRADE_UNDER_WAY = (
        "UpgradeUnderWay",
        (
            "It appears in no condition. A space that is left to newer workers keeps its last"
            " conditions. The workers log `rollouts are left to newer workers`. Nothing, "
            "while workers of two versions run. If it lasts after a `helm rollback`, run one "
            "`helm upgrade` ([upgrade.md](upgrade.md#in-a-cluster))."
        ),
    )
    INSTANCE_REFUSES = (
        "InstanceRefuses",
        (
            "A broker refused a request, such as the deletion of an address. Nothing, if it "
            "passes within a minute. The message quotes the broker. If it lasts, read its "
            "log."
        ),
    )
    PORT_TAKEN = (
        "PortTaken",
        "Only on one machine. Stop the program that uses the port that the message names.",
    )
    SUPERVISOR_UNAVAILABLE = (
        "SupervisorUnavailable",
        (
            "Only on one machine. Nothing, if it passes within a minute. If it lasts, restart"
            " Waypost with `waypost up`."
        ),
    )
    FOLDER_UNUSABLE = (
        "FolderUnusable",
        (
            "Only on one machine. The message names the file or folder. Check that its owner is the"
            " user who runs Waypost and that the disk is not full. Waypost tries again."
        ),
    )
    PROGRAM_INVALID = "ProgramInvalid", _PROGRAM_INVALID_HELP
    ENGINE_UNKNOWN = "EngineUnknown", _PROGRAM_INVALID_HELP
    BROKER_MISSING = "BrokerMissing", _PROGRAM_INVALID_HELP
    ROUTER_MISSING = "RouterMissing", _PROGRAM_INVALID_HELP


# While one of these is the reason of Ready, messages may not pass, and the object is not Active.
ENGINE_DOWN = frozenset(
    {
        Reason.BROKER_STARTING,
        Reason.ROUTER_STARTING,
        Reason.BROKER_DOWN,
        Reason.ROUTER_DOWN,
        Reason.ROLLING_OUT,
        Reason.ROLLOUT_STOPPED,
        Reason.INSTANCE_UNREACHABLE,
        Reason.PROBE_FAILED,
    }
)

# What a space waits for while it starts normally. Each of them passes or becomes another reason.
STARTING = frozenset(
    {
        Reason.BROKER_STARTING,
        Reason.ROUTER_STARTING,
        Reason.CERTIFICATE_PENDING,
        Reason.ENDPOINT_PENDING,
        Reason.LINKS_PENDING,
        Reason.LOGINS_REFRESHING,
        Reason.MESH_FORMING,
        Reason.NAMESPACE_MISSING,
        Reason.QUOTA_PENDING,
        Reason.RIGHTS_PENDING,
        Reason.ROUTERS_IDENTIFIED,
        Reason.SETTINGS_PENDING,
    }
)

_DOCUMENT = Path(__file__).parents[2] / "docs" / "operate" / "conditions.md"
_HEAD = "| Reason | What it takes |\n| --- | --- |\n"


def help_of(reason: str, *, is_local: bool = False) -> str:
    """Return what an operator does about ``reason``, as plain text; '' for an unknown reason."""
    text = next((member.help for member in Reason if member.value == reason), "")
    text = _BROKER_DOWN_LOCAL_HELP if is_local and text == _BROKER_DOWN_HELP else text
    # Markdown: links keep their text, code keeps its words.
    return re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", text).replace("`", "")


def table() -> str:
    """Return the Markdown table of all reasons with their help, for docs/operate/conditions.md.

    Adjacent members of ``Reason`` with the same help share a row.
    """
    rows = [
        f"| {', '.join(f'`{reason}`' for reason in reasons)} | {text} |\n"
        for text, reasons in groupby(Reason, key=lambda reason: reason.help)
    ]
    return _HEAD + "".join(rows)


def with_table(document: str) -> str:
    """Return the Markdown text ``document`` with its table of reasons replaced by ``table()``.

    Raises:
        StopIteration: ``document`` has no such table, or no text after it.
    """
    before, _, rest = document.partition(_HEAD)
    lines = rest.splitlines(keepends=True)
    after = next(number for number, line in enumerate(lines) if not line.startswith("|"))
    return before + table() + "".join(lines[after:])


if __name__ == "__main__":
    _DOCUMENT.write_text(with_table(_DOCUMENT.read_text()))
