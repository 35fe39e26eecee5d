"""Decide to which bucket of time a sample belongs. No side effects.

A regular bucket lasts a quarter of an hour. The close of an invoice may end ("cut") a bucket early.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta

from workers.metering.source_states import BUCKET, floor_bucket

# The first cycle after a regular boundary still belongs to the bucket that ended, if it is this
# soon. Otherwise the usage just before the boundary would be counted in the next bucket.
BOUNDARY_GRACE = timedelta(minutes=5)


@dataclass(frozen=True)
class Clock:
    """Assigns the samples of one sampling cycle of one space to buckets.

    * ``taken_at``: when the samples of the cycle were taken.
    * ``space_bucket_at``: the bucket that the space was in before. For a space that was never
      sampled: the earliest time at which its first bucket may begin, or None.
    * ``cut_at``: where a close ends the running bucket; None in an ordinary cycle.

    A cut only decides where the next bucket begins, not which bucket this cycle's samples belong
    to. So an invoice is the same whether an ordinary cycle came before the cut or not.
    """

    taken_at: datetime
    space_bucket_at: datetime | None
    cut_at: datetime | None

    @property
    def regular(self) -> datetime:
        """The start of the running bucket without regard to the cut.

        It is never earlier than the bucket that the space was in before.
        """
        floor = floor_bucket(self.taken_at)
        return max(floor, self.space_bucket_at or floor)

    @property
    def current(self) -> datetime:
        """The start of the bucket that every sampled source is in after this cycle.

        It is never earlier than the cut.
        """
        return max(self.regular, self.cut_at or self.regular)

    def bucket_of_sample(self, bucket_at: datetime) -> datetime:
        """Return the bucket of this cycle's sample of a source that was in ``bucket_at`` before.

        That is the running bucket. The first cycle after a regular end of ``bucket_at`` still
        belongs to ``bucket_at``, if it comes within 5 minutes.
        """
        running = self._before_cut()
        if bucket_at >= running or self._is_first_after(bucket_at, running):
            return bucket_at
        return running

    def _before_cut(self) -> datetime:
        """Return the start of the running bucket as it was before the cut.

        A close repeats its cut for instances that were silent. Then the space is already in the
        bucket after the cut, and the repetition must find the same bucket as the first attempt.
        """
        is_repeated = self.cut_at is not None and self.cut_at == self.space_bucket_at
        return floor_bucket(self.taken_at) if is_repeated else self.regular

    def _is_first_after(self, bucket_at: datetime, running: datetime) -> bool:
        """Return whether this is the first cycle in ``running``, just after ``bucket_at`` ended.

        False if ``running`` began with a cut, or more than ``BOUNDARY_GRACE`` ago.
        """
        is_aligned = running == floor_bucket(self.taken_at)
        is_next = running - bucket_at <= BUCKET
        return is_aligned and is_next and self.taken_at - running <= BOUNDARY_GRACE
