"""What clients of a space must trust, on the command line."""

from typing import Any

from tests.unit.controlplane.cli.conftest import Run

SPACE = "/tenants/acme/address-spaces/orders"


def test_authorities_are_printed_for_a_file(run: Run, answers: dict[str, Any]) -> None:
    answers[SPACE] = {"endpoints": [{"certificate_pem": "-----BEGIN CERTIFICATE-----\nx\n"}]}

    assert run("spaces", "trust", "orders").stdout == "-----BEGIN CERTIFICATE-----\nx\n"


def test_where_clients_know_who_signed_the_file_stays_empty(
    run: Run, answers: dict[str, Any]
) -> None:
    answers[SPACE] = {"endpoints": [{"certificate_pem": ""}]}

    shown = run("spaces", "trust", "orders")

    assert (shown.stdout, shown.exit_code) == ("", 0)
    assert "Clients need no file: they already trust the issuer of orders." in shown.stderr
