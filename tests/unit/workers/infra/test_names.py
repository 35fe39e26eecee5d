"""Names are legal everywhere and never collide, whatever tenants call their spaces."""

import re

from hypothesis import given
from hypothesis import strategies as st

from workers.infra import names

LEGAL = re.compile(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?")  # RFC 1123 label
anything = st.text(max_size=200)


@given(tenant=anything, space=anything, readable=anything)
def test_namespace_is_a_legal_label(tenant: str, space: str, readable: str) -> None:
    name = names.namespace(tenant, space, readable)

    assert LEGAL.fullmatch(name), name
    assert name.startswith("wp-")
    assert "--" not in name


@given(st.lists(st.tuples(anything, anything), min_size=2, max_size=2, unique=True), anything)
def test_different_ids_give_different_names(ids: list[tuple[str, str]], readable: str) -> None:
    first, second = (names.namespace(tenant, space, readable) for tenant, space in ids)

    assert first != second


def test_ids_cannot_be_shifted_into_each_other() -> None:
    assert names.namespace("ab", "c", "x") != names.namespace("a", "bc", "x")


def test_a_name_stays_what_it_is() -> None:
    # A release that makes another name of the same ids would lose the namespaces that are there.
    assert names.namespace("ten_1", "spc_1", "My Orders!") == "wp-my-orders-fba017f4t6ge"
