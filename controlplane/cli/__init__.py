"""The `waypost` command.

One module for each group of commands. ``output`` prints answers and chooses exit codes,
``login_store`` keeps the login between commands, and ``controlplane.rest_client`` calls the API.
``prepare``, ``publish`` and ``sample`` run as processes with an installation's environment.
"""

import os
import signal


def main() -> None:
    """Run the command line; the console script's entry point."""
    # The imports take long enough to be interrupted. A KeyboardInterrupt inside a callback of the
    # interpreter would be swallowed, so this handler exits at once; nothing needs a clean-up yet.
    is_default = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if is_default:  # and not ignored, as in a background job of a script
        signal.signal(signal.SIGINT, _end)
    from controlplane.cli import app

    if is_default:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    app.run()


def _end(*_: object) -> None:
    os.write(2, b"interrupted\n")
    os._exit(130)
