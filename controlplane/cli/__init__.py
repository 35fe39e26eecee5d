"""The `waypost` command.

One module per noun; ``output`` prints and decides exit codes, ``login_store`` remembers as whom to
speak, ``controlplane.rest_client`` speaks. ``prepare`` and ``publish`` are run as processes of
their own with an installation's environment.
"""

import os
import signal


def main() -> None:
    """Run the command line; the console script's entry point."""
    # What is imported takes long enough to be interrupted, and an exception would be swallowed in
    # callbacks of Python's own. Nothing is there yet that would have to be cleaned up.
    heard = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if heard:  # and not ignored, as by a script's job in the background
        signal.signal(signal.SIGINT, _end)
    from controlplane.cli import app

    if heard:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    app.run()


def _end(*_: object) -> None:
    os.write(2, b"interrupted\n")
    os._exit(130)
