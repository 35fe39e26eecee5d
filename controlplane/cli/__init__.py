"""The `waypost` command.

One module per noun; ``output`` prints and decides exit codes, ``login_store`` remembers as whom to
speak, ``controlplane.rest_client`` speaks. ``prepare`` and ``publish`` are run as processes of
their own with an installation's environment.
"""


def main() -> None:
    """Run the command line; the console script's entry point."""
    from controlplane.cli import app

    app.run()
