"""Which reasons to hold an invoice staff may release, and what the invoice then states. Pure.

A release accepts reasons that no correction removes, because the samples are gone for good. The
invoice bills what gold has, which the second computation confirms. ``releasing`` stores releases.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from plans.invoicing.close_validation import Reason

# The codes that staff may release, each with the sentence that the invoice's document stores.
# Another text needs a new ENGINE_VERSION. ``samples.two_values`` is left out on purpose: gold keeps
# the larger of two values, so the invoice could bill more than was counted.
MISSING = {
    "samples.hole_at_end": "Samples never arrived, and no later sample includes their counts.",
    "samples.fall": "A counter was reset without a restart of its instance.",
    "samples.none": "A space was active and has no sample in this period.",
}


@dataclass(frozen=True)
class Release:
    """One reason that staff accepted: ``because`` is their text, ``at`` the time in ISO 8601.

    ``code`` and ``message`` are those of the reason. Stored in documents by these names.
    """

    code: str
    message: str
    because: str
    at: str

    def sentence(self) -> str:
        """Return text that says what is missing, and why staff released the invoice."""
        return (
            f"{MISSING[self.code]} What was not seen is not billed. The operator released this "
            f"invoice: {self.because}"
        )


def releasable(held_reasons: Sequence[Mapping[str, str]]) -> list[Mapping[str, str]]:
    """Return those of an invoice's ``held_reasons`` that staff may release."""
    return [reason for reason in held_reasons if reason["code"] in MISSING]


def split(
    reasons: Sequence[Reason], stored: Sequence[Mapping[str, str]]
) -> tuple[list[Reason], list[Release]]:
    """Return the reasons that still hold the invoice, and the releases of the others.

    ``stored`` is the invoice's column ``releases``. A release covers only the reason with the same
    code and message. Any other reason holds the invoice until staff release it, too.
    """
    known = {(row["code"], row["message"]): Release(**row) for row in stored}
    left, released = [], []
    for reason in reasons:
        found = known.get((reason.code, reason.message))
        if found is None:
            left.append(reason)
        else:
            released.append(found)
    return left, released


def plain(released: Sequence[Release]) -> dict[str, Any]:
    """Return the key ``released`` of a manifest; no key if nothing was released."""
    # Left out if there are none, as in the documents of earlier versions.
    return {"released": [asdict(release) for release in released]} if released else {}
