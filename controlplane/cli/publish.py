"""Publishes a catalog in an installation's database, or only shows what would change.

``waypost catalog publish`` runs this module as a separate process with the installation's
environment. In a cluster, operators run it in a pod.
"""

import sys
from pathlib import Path

import django

from controlplane.cli import output
from controlplane.core.errors import Invalid
from plans.catalog import parsing


def main() -> None:
    """Print what publishing does to each plan, then publish the catalog.

    The first argument is the path of the catalog's YAML file. Unchanged plans are printed too. With
    ``--dry-run`` nothing is published. ``--output=`` names the format
    of the list and of errors.
    """
    # Without a parser of options: `waypost catalog publish` has checked them.
    given = [word.partition("=")[2] for word in sys.argv if word.startswith("--output=")]
    form = output.answer_in(output.Format(*given) if given else output.Format.TABLE)
    with output.refusals():
        django.setup()
        # Models can be imported only now.
        from controlplane.core.audit import Actor
        from plans.catalog import publishing

        catalog = parsing.parse(_read(Path(sys.argv[1])))
        rows = [
            {
                "what": change.section,
                "key": change.key,
                "change": change.kind,
                "tenants": change.n_subscribers,
            }
            for change in publishing.preview(catalog)
        ]
        output.show_rows(rows, ["what", "key", "change", "tenants"], form)
        if "--dry-run" not in sys.argv:
            publishing.publish(catalog, by=Actor("operator:command-line"))


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise Invalid(
            f"{path} is not UTF-8 text (byte {error.start}): save it as UTF-8.",
            code="catalog.not_text",
        ) from error


if __name__ == "__main__":
    main()
