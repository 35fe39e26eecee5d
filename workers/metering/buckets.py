"""Which bucket a round belongs to: regular ones of a quarter of an hour, cut short by a close."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from workers.metering.lives import BUCKET, floor_bucket

# A first round this late after a regular boundary still belongs to the bucket that ended.
BOUNDARY_GRACE = timedelta(minutes=5)


@dataclass(frozen=True)
class Clock:
    """The buckets of one round: when it was, where the space stands, where a close cuts.

    A cut only says where the next bucket begins. Which one this round's samples belong to does not
    depend on it, so a bill is the same whether an ordinary round came before the cut or not.
    """

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
        """The bucket that everything after this round belongs to."""
        return max(self.regular, self.cut_at or self.regular)

    def place(self, bucket_at: datetime) -> datetime:
        """Return the bucket that this round's sample of a source in ``bucket_at`` belongs to."""
        running = self._before_cut()
        if bucket_at >= running or self._is_first_after(bucket_at, running):
            return bucket_at
        return running

    def _before_cut(self) -> datetime:
        """The running bucket; to a cut that is repeated for who was silent, as to the first one."""
        is_repeated = self.cut_at is not None and self.cut_at == self.space_bucket_at
        return floor_bucket(self.taken_at) if is_repeated else self.regular

    def _is_first_after(self, bucket_at: datetime, running: datetime) -> bool:
        """Return whether this is the round just after the regular end of ``bucket_at``."""
        is_aligned = running == floor_bucket(self.taken_at)
        is_next = running - bucket_at <= BUCKET
        return is_aligned and is_next and self.taken_at - running <= BOUNDARY_GRACE
