"""Run a container's command as the cluster would: in the image's files, read-only, as its user.

A mount namespace and chroot, so nothing but root is needed; the network is this machine's.
"""

import shlex
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

PATH = "/opt/waypost/venv/bin:/usr/local/bin:/usr/bin:/bin"
SCRATCH = ("/tmp", "/var/lib/waypost/run")
OWN_USER = "10001:10001"
# As OpenShift picks them: a number without a name, in the group of root.
ANY_USER = "1000730000:0"


@dataclass(frozen=True)
class Container:
    """What to run. ``writable`` are empty folders in memory.

    ``shown`` are folders of ours that it may read, ``kept`` those that it may write: place -> ours.
    """

    root: Path
    command: Sequence[str]
    environment: Mapping[str, str] = field(default_factory=dict)
    user: str = OWN_USER
    writable: Sequence[str] = SCRATCH
    shown: Mapping[str, Path] = field(default_factory=dict)
    kept: Mapping[str, Path] = field(default_factory=dict)

    def as_process(self) -> list[str]:
        """Return the command that runs it on this machine."""
        return ["unshare", "--mount", "/bin/sh", "-c", "\n".join(self._script())]

    def _script(self) -> Iterator[str]:
        root, owner = shlex.quote(str(self.root)), self.user.split(":")[0]
        # As the kubelet makes places to mount at.
        for place in (*self.writable, *self.shown, *self.kept):
            (self.root / place.lstrip("/")).mkdir(parents=True, exist_ok=True)
        yield "set -eu"
        yield f"mount --bind {root} {root}"
        yield f"mount -o remount,bind,ro {root}"
        for place in self.writable:
            yield f"mount -t tmpfs -o uid={owner} tmpfs {root}{place}"
        for ours in self.kept.values():  # as the kubelet does with a volume, by its group
            yield f"chown -R {self.user} {shlex.quote(str(ours))}"
        for place, ours in {**self.shown, **self.kept}.items():
            yield f"mount --bind {shlex.quote(str(ours))} {root}{place}"
        yield f"mount -t proc proc {root}/proc"
        yield f"mount --rbind /dev {root}/dev"
        yield f"mount --bind /etc/hosts {root}/etc/hosts"
        yield shlex.join(["exec", "env", "-i", *self._variables(), "/usr/sbin/chroot"]) + (
            f" --userspec={self.user} {root} {shlex.join(self.command)}"
        )

    def _variables(self) -> list[str]:
        return [f"{name}={value}" for name, value in {"PATH": PATH, **self.environment}.items()]


def finish(
    container: Container, timeout_seconds: float = 120
) -> "subprocess.CompletedProcess[str]":
    """Run it to its end."""
    return subprocess.run(
        container.as_process(), capture_output=True, text=True, timeout=timeout_seconds, check=False
    )


@contextmanager
def started(container: Container, log: Path) -> Iterator["subprocess.Popen[bytes]"]:
    """Run it until the block ends; its output goes to ``log``."""
    with log.open("wb") as output:
        process = subprocess.Popen(container.as_process(), stdout=output, stderr=output)
    try:
        yield process
    finally:
        process.terminate()
        try:
            process.wait(30)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
