"""Check from outside that an installed portal serves: its health, its pages and its API.

``helm test`` runs it in a pod as ``python -m controlplane.cli.portal_check <base URL>``. It changes
nothing and needs no account.
"""

import json
import sys
import urllib.error
import urllib.request
from collections.abc import Callable

_SECONDS = 15  # for each request
_LONGEST_ANSWER = 4 << 20  # bytes


def _says_ready(body: str) -> bool:
    return bool(json.loads(body)["status"] == "ready")


def _lists_plans(body: str) -> bool:
    plans = json.loads(body)
    return isinstance(plans, list) and len(plans) > 0


# Path, what a wrong answer means, and whether an answer is right.
_QUESTIONS: tuple[tuple[str, str, Callable[[str], bool]], ...] = (
    ("/healthz", "the web server does not serve", lambda body: True),
    ("/readyz", "the database or the queue is away", _says_ready),
    ("/login", "the portal has no page to log in", lambda body: "<html" in body),
    ("/api/v1/plans", "the API offers no plans: did the migration job run?", _lists_plans),
)


def check(base: str) -> list[str]:
    """Ask the portal at ``base`` and return one sentence for each wrong answer; empty if it serves.

    Takes at most a minute. Idempotent; raises nothing for a portal that does not answer.
    """
    return [trouble for question in _QUESTIONS if (trouble := _trouble(base, *question))]


def _trouble(base: str, path: str, meaning: str, right: Callable[[str], bool]) -> str:
    try:
        with urllib.request.urlopen(f"{base}{path}", timeout=_SECONDS) as answer:
            body = answer.read(_LONGEST_ANSWER).decode()
        if right(body):
            return ""
        said = body[:200]
    except (OSError, ValueError, KeyError) as error:
        said = _words(error)
    return f"{path}: {meaning}. Answer: {said}"


def _words(error: Exception) -> str:
    if isinstance(error, urllib.error.HTTPError):
        return f"{error.code} {error.read(200).decode(errors='replace')}"
    return str(error)


def main() -> None:
    """Check the portal whose base URL is the argument; exit with 1 and the reasons if it fails."""
    (base,) = sys.argv[1:]
    if troubles := check(base.rstrip("/")):
        sys.exit("\n".join(troubles))
    sys.stdout.write(f"The portal at {base} serves pages and the API.\n")


if __name__ == "__main__":
    main()
