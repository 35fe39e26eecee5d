"""The `waypost` command.

Each group of commands is a module. ``output`` prints answers and chooses exit codes,
``login_store`` keeps the login between commands, and ``controlplane.rest_client`` calls the API.
``prepare``, ``publish`` and ``sample`` are no commands: they run as ``python -m`` in processes of
their own, with the environment of an installation.
"""

import os
import signal


def main() -> None:
    """Run the command line and end the process; the entry point of the script ``waypost``."""
    # The imports take long enough to be interrupted by Ctrl-C. The interpreter swallows a
    # KeyboardInterrupt that is raised in one of its callbacks. So until the imports are done, a
    # handler of our own ends the process at once; nothing needs a clean-up yet.
    is_default = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    # A shell ignores SIGINT in the background jobs of a script; that stays so.
    if is_default:
        signal.signal(signal.SIGINT, _end)
    from controlplane.cli import app

    if is_default:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    app.run()


def _end(*_: object) -> None:
    os.write(2, b"interrupted\n")
    os._exit(130)
