"""Why an instance of a space does not run, as far as the platform reports it.

``workers.infra`` finds the cause. Conditions store it (``controlplane.core.phases``). Tenants read
its words in place of the platform's own message, which names registries, nodes and hosts. A rollout
stops at once for the causes in ``OF_RELEASES``.
"""

from enum import StrEnum


class Cause(StrEnum):
    """A cause. ``words`` complete a sentence about an instance, for tenants.

    Values are stored in conditions, so they never change.
    """

    words: str

    def __new__(cls, value: str, words: str) -> "Cause":
        member = str.__new__(cls, value)
        member._value_ = value
        member.words = words
        return member

    # The message holds nothing of the platform, so tenants may read it as it is.
    NONE = "", ""
    IMAGE = "Image", "its software cannot be loaded"
    CRASHES = "Crashes", "it ends soon after each start"
    MEMORY = "Memory", "it ended because it needed more memory than its plan gives it"
    ENDED = "Ended", "it ended"
    DEAF = "Deaf", "it runs, but does not accept connections"
    NO_PLACE = "NoPlace", "the platform has no free resources for it"
    NODE = "Node", "the machine that it ran on does not answer"
    PLATFORM = "Platform", "the platform does not start it"


# A release is likely to be at fault. It need not be: an image that the registry does not have for a
# minute looks the same, and so does a broker whose volume is damaged.
OF_RELEASES = frozenset({Cause.IMAGE, Cause.CRASHES})
