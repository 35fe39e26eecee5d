"""Checks from outside that an installed portal serves: its health, its pages and its API.

``helm test`` runs this module in a pod as ``python -m controlplane.cli.portal_check <base URL>``.
The check changes nothing and needs no account.
"""

import json
import sys
import urllib.error
import urllib.request
from collections.abc import Callable
from http.client import HTTPException

_SECONDS = 15  # for each request
_LONGEST_ANSWER = 4 << 20  # bytes


# Path, what a wrong answer means, and a function of the body that returns whether it is right.
_QUESTIONS: tuple[tuple[str, str, Callable[[str], bool]], ...] = (
    ("/healthz", "the web server does not serve", lambda body: True),
    (
        "/readyz",
        "the database or the queue is away",
        lambda body: bool(json.loads(body)["status"] == "ready"),
    ),
    ("/login", "the portal has no page to log in", lambda body: "<html" in body),
    (
        "/api/v1/plans",
        "the API offers no plans: did the migration job run?",
        lambda body: len(json.loads(body)["items"]) > 0,
    ),
)


def check(base: str) -> list[str]:
    """Request four paths of the portal at ``base``; return a text for each wrong answer, or [].

    ``base`` is the URL without a final slash. A request that gets no answer for 15 s counts as
    wrong, and so does an error status.
    """
    return [trouble for question in _QUESTIONS if (trouble := _trouble(base, *question))]


def _trouble(base: str, path: str, meaning: str, right: Callable[[str], bool]) -> str:
    try:
        with urllib.request.urlopen(f"{base}{path}", timeout=_SECONDS) as answer:
            body = answer.read(_LONGEST_ANSWER).decode()
        if right(body):
            return ""
        said = body[:200]
    # Before its base class OSError: the body of an HTTPError says more than its text.
    except urllib.error.HTTPError as error:
        said = f"{error.code} {error.read(200).decode(errors='replace')}"
    # The last three: a body that is not the expected JSON.
    except (OSError, HTTPException, ValueError, KeyError, TypeError) as error:
        said = str(error)
    return f"{path}: {meaning}. Answer: {said}"


def main() -> None:
    """Check the portal whose base URL is the command's only argument.

    If an answer is wrong, print the reasons on stderr and exit with 1.
    """
    (base,) = sys.argv[1:]
    if troubles := check(base.rstrip("/")):
        sys.exit("\n".join(troubles))
    sys.stdout.write(f"The portal at {base} serves pages and the API.\n")


if __name__ == "__main__":
    main()
