"""The pricing engines whose invoices can be verified, by the version that a manifest names.

A change that may give other bytes for equal inputs raises ``facts.ENGINE_VERSION``. The functions
of the former version then stay here, under their version. A function that versions share decides by
``Facts.engine``. A test verifies the golden invoices of each version
(``tests/data/golden_invoices``). Versions 1 and 2 were never released.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from plans.invoicing import document, rated_period
from plans.invoicing.document import Document
from plans.invoicing.facts import Facts
from plans.invoicing.rated_period import RatedPeriod, Reader


@dataclass(frozen=True)
class Engine:
    """``rate`` prices a period; ``build`` makes the document of a draft from it."""

    rate: Callable[[Facts, Reader], RatedPeriod]
    build: Callable[..., Document]


BY_VERSION: Mapping[str, Engine] = {
    # Bills usage in a gap between two plans to the plan before the gap.
    "3": Engine(rated_period.rate, document.build),
    # Holds an invoice with usage in a gap. Knows terms, and tax by country.
    "4": Engine(rated_period.rate, document.build),
    # Taxes the correction of a month as the month was taxed. Manifests of former engines pin no tax
    # of corrections, so their corrections bear the tax of the invoice that carries them.
    "5": Engine(rated_period.rate, document.build),
}
