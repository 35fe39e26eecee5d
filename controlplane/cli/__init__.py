"""The `waypost` command.

One module per noun; ``output`` prints and decides exit codes, ``login_store`` remembers as whom to
speak, ``controlplane.rest_client`` speaks. ``prepare`` and ``publish`` are run as processes of
their own with an installation's environment.
"""

import sys


def main() -> None:
    """Run the command line; the console script's entry point."""
    try:
        from controlplane.cli import app
    except KeyboardInterrupt:  # what is imported takes long enough to be interrupted
        sys.stderr.write("interrupted\n")
        raise SystemExit(130) from None
    app.run()
