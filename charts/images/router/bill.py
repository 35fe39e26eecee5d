"""Add the router and its AMQP library to the bill of materials on stdin; write it to stdout.

``bill.py <commit of Qpid Dispatch> <version of Qpid Proton>``. Both were built from source, so no
Debian package of the image lists them. Uses the standard library only, because it runs while the
image is built.
"""

import json
import sys


def main() -> None:
    commit, proton = sys.argv[1:]
    bill = json.load(sys.stdin)
    bill["components"] += [
        _component("qpid-dispatch", commit),
        _component("qpid-proton", proton),
    ]
    json.dump(bill, sys.stdout, indent=1)


def _component(name: str, version: str) -> dict[str, str]:
    purl = f"pkg:github/apache/{name}@{version}"
    return {"type": "application", "name": name, "version": version, "purl": purl}


if __name__ == "__main__":
    main()
