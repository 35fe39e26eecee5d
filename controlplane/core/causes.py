"""The causes for which an instance of a space does not run, as far as the platform reports them.

``workers.infra`` finds the cause of an instance. The condition Ready stores it
(``controlplane.core.phases``). Tenants read the words of the cause in place of the platform's own
message, which names registries, nodes and hosts. A space that does not come up for a cause in
``OF_RELEASES`` counts as failed in a rollout at once, and not only after the usual time.
"""

from enum import StrEnum


class Cause(StrEnum):
    """One cause: its stored value, and ``words``, which follow an instance's name in a sentence.

    ``words`` of ``NONE`` are empty. Values are stored in conditions, so they never change.
    """

    words: str

    def __new__(cls, value: str, words: str) -> "Cause":
        member = str.__new__(cls, value)
        # Set by hand: Enum would call ``str`` with both arguments.
        member._value_ = value
        member.words = words
        return member

    # No known cause. Tenants then read the message itself, so it quotes nothing of the platform.
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
