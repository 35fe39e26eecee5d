"""Make the class-data archive of Java that halves the start time of brokers on this machine.

``make setup`` runs this module (``python -m workers.broker_archive``); an existing archive stays as
it is. ``make`` runs one broker in a temporary folder, sends requests so that Java loads the classes
of TLS, AMQP and management, and stops the broker. Java writes the archive when the broker exits.
Without the archive brokers start slower and work the same. Source: JDK 17 ``java`` manual,
"Application Class Data Sharing".
"""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import django
from django.conf import settings
from django.utils import timezone

from controlplane.embedded import artifacts, java, ports
from workers.infra.local import engines
from workers.infra.local.files import InstanceFiles
from workers.messaging import certificates, identities
from workers.messaging.brokers import desired, driver, render
from workers.messaging.brokers.desired import BrokerAddressKind, DesiredBroker, EngineLayout
from workers.messaging.management import Unreachable
from workers.messaging.observed import ManagementTarget

_MEMORY_MB = 128  # heap of the broker that only writes the archive
_START_SECONDS = 60


def make(home: Path) -> bool:
    """Make the archive for the Artemis program in the folder ``home``; return whether it was made.

    False: the archive exists already. The broker plugin's JAR must exist (``broker_plugin.build``).

    Raises:
        Unreachable: the broker did not answer within ``_START_SECONDS``.
        Unavailable: this machine has no Java, or none of a supported version.
    """
    wanted = engines.class_data(home)
    if wanted.archive.exists():
        return False
    wanted.archive.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="wpc-", dir=wanted.archive.parent) as folder:
        made = Path(folder) / "broker.jsa"
        files = InstanceFiles(Path(folder) / "broker")
        files.make()
        (files.log / "tmp").mkdir()
        target = _configure(files)
        class_path = [f"-XX:ArchiveClassesAtExit={made}", "-cp", wanted.jars]
        command = engines.artemis_command(str(java.find()), files.config, _MEMORY_MB, class_path)
        with (files.log / "output.log").open("wb") as log:
            process = subprocess.Popen(command, stdout=log, stderr=log, cwd=files.folder)
            try:
                _exercise(target)
            finally:
                process.terminate()  # SIGTERM: Java writes the archive only at an orderly exit
                process.wait(_START_SECONDS)
        made.replace(wanted.archive)  # atomic: no broker ever reads half an archive
    return True


def _configure(files: InstanceFiles) -> ManagementTarget:
    now = timezone.now()
    authority = certificates.create_authority("archive", now)
    broker = DesiredBroker(
        public=True,
        addresses=(),
        users=(),
        send_withdrawn=False,
        server=certificates.issue_server(authority, ["127.0.0.1"], now),
        authority_pem=authority.certificate_pem,
    )
    engine_layout = EngineLayout(
        str(files.config), str(files.data), "127.0.0.1", ports.free_port(), ports.free_port()
    )
    files.write(render.files(broker, engine_layout))
    return identities.target(
        "127.0.0.1",
        engine_layout.internal_port,
        authority_pem=authority.certificate_pem,
        client=certificates.issue_client(authority, desired.CONTROL_NAME, now),
        folder=files.folder / "identity",
    )


def _exercise(target: ManagementTarget) -> None:
    """Wait until the broker answers, then make Java load the classes that every broker uses.

    This sends a probe message through each kind of address, and reads one metering snapshot.

    Raises:
        Unreachable: the broker did not answer within ``_START_SECONDS``, or stopped answering.
    """
    deadline = time.monotonic() + _START_SECONDS
    while True:
        try:
            driver.find_incarnation(target)
            break
        except Unreachable:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.2)
    for kind in BrokerAddressKind:
        driver.probe(target, desired.probe_address(kind))
    driver.snapshot(target, addresses=())


if __name__ == "__main__":
    # Django's settings read the environment once, so both variables are set before ``setup``.
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "controlplane.settings")
    os.environ.setdefault("WAYPOST_ARTEMIS_HOME", str(artifacts.artemis_home()))
    django.setup()
    begin = time.monotonic()
    if make(Path(settings.ARTEMIS_HOME)):
        took = time.monotonic() - begin
        sys.stdout.write(f"setup: class-data archive of the broker in {took:.0f} s\n")
