"""The lines of invoices are divided between spaces without a rest."""

from plans.invoicing import space_costs


def test_parts_go_to_their_spaces_and_the_rest_is_shared() -> None:
    used = [
        {"space_id": "spc_a", "used_base": 1, "amount_minor": 30},
        {"space_id": "spc_b", "used_base": 2, "amount_minor": 60},
        {"space_id": "spc_c", "used_base": 0, "amount_minor": 0},
    ]
    first = {"lines": [{"amount_minor": 100, "detail": {}},
                       {"amount_minor": 90, "detail": {"spaces": used}}]}  # fmt: skip
    second = {"lines": [{"amount_minor": -5, "detail": {}},
                        {"amount_minor": 30, "detail": {"spaces": used[:1]}}]}  # fmt: skip

    found = space_costs.divide([first, second])

    assert found == ({"spc_a": 60, "spc_b": 60}, 95)
    assert space_costs.divide([]) == ({}, 0)
