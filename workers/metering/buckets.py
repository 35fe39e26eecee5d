"""Which bucket a round belongs to: regular ones of a quarter of an hour, cut short by a close."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from workers.metering.lives import BUCKET, floor_bucket

# A first round this late after a regular boundary still belongs to the bucket that ended.
BOUNDARY_GRACE = timedelta(minutes=5)


@dataclass(frozen=True)
class Clock:
    """The buckets of one round: when it was, where the space stands, where a close cuts."""

    taken_at: datetime
    space_bucket_at: datetime | None
    cut_at: datetime | None

    @property
    def regular(self) -> datetime:
        """The running bucket, were there no cut; it never goes back."""
        floor = floor_bucket(self.taken_at)
        return max(floor, self.space_bucket_at or floor)

    @property
    def current(self) -> datetime:
        return max(self.regular, self.cut_at or self.regular)

    def is_boundary(self, bucket_at: datetime) -> bool:
        """Return whether this round still belongs to ``bucket_at``, which has ended."""
        if bucket_at >= self.current:
            return False
        is_aligned = self.current == floor_bucket(self.taken_at)
        is_next = self.current - bucket_at <= BUCKET
        in_time = self.taken_at - self.current <= BOUNDARY_GRACE
        return self.cut_at is not None or (is_aligned and is_next and in_time)
