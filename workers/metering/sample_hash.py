"""The evidence hash of samples: independent of order, duplicates, batches and of the engine.

Each sample is encoded as text and hashed with SHA-256. The 256 bits are eight words of 32 bits. The
hash of a set of samples is, for each word, the sum over the distinct samples modulo 2^32; it is
written as 64 hexadecimal digits. Sums do not depend on the order, so any engine can add up any part
of the samples.

The text of a sample has all columns but ``batch_id``, in the order of the schema, each with a comma
at its end. A string is its length in bytes, a colon and itself; an instant is its microseconds
since 1970; a date is YYYY-MM-DD. A meter is ``name=value``, and left out if it is zero; a meter
that was added later (``bronze.optional``) is also left out if it is null. So a sample of before a
meter was added keeps its hash. Any other null is ``-``. docs/lakehouse.md describes the hash for
people who check it.

Version 1 hashed the sorted ids of the samples, without their values; ``recompute.sample_ids`` is
that rule, by which invoices of earlier versions are verified.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from workers.metering import bronze

IDS, VALUES = 1, 2  # stored in manifests: never renumber them
WORDS = tuple(f"word_{n}" for n in range(8))
# One sample: of two rows with the same key and other values, one is wrong.
KEY = ("source", "boot_id", "address", "epoch", "seq")
_WORD = 1 << 32
_DIGITS = "123456789abcdef"


@dataclass(frozen=True)
class Dialect:
    """How one SQL engine writes the parts of the hash that engines write differently.

    * ``octets`` and ``micros`` are templates: the bytes of a text in UTF-8, and the microseconds
      of an instant since 1970. ``{}`` stands for the column.
    * ``digest`` is the template of the SHA-256 of a text as hexadecimal digits.
    * ``word`` returns the number that eight hexadecimal digits of a column stand for, from the
      column and the position of the first digit (from 1).
    """

    octets: str
    micros: str
    digest: str
    word: Callable[[str, int], str]


def _from_digits(column: str, first: int) -> str:
    # DataFusion has no function from hexadecimal text to a number. ``strpos`` returns 0 for "0".
    return " + ".join(
        f"CAST(strpos('{_DIGITS}', substr({column}, {first + n}, 1)) AS bigint) * {16 ** (7 - n)}"
        for n in range(8)
    )


DATAFUSION = Dialect(
    octets="octet_length({})",
    micros="CAST(arrow_cast({}, 'Timestamp(Microsecond, Some(\"UTC\"))') AS bigint)",
    digest="encode(sha256({}), 'hex')",
    word=_from_digits,
)


def combined(sums: Sequence[int]) -> str:
    """Return the hash of the eight sums of words, which need not be reduced."""
    return "".join(f"{total % _WORD:08x}" for total in sums)


def words_sql(
    dialect: Dialect, rows: str, where: str = "true", *also: str, key: Sequence[str] = KEY
) -> str:
    """Return a query of the distinct samples of ``rows``: the columns ``WORDS``, ``key``, ``also``.

    ``rows`` is a table with all columns of bronze. The query may be a subquery, so that it can be
    grouped. ``also`` are columns that the hash covers.
    """
    keys = ", ".join((*key, *also))
    text = _encoded_sql(dialect)
    words = ", ".join(f"{dialect.word('hex', 1 + 8 * n)} AS {w}" for n, w in enumerate(WORDS))
    hashed = dialect.digest.format("encoded")
    return (
        f"SELECT {keys}, {words} FROM (SELECT {keys}, {hashed} AS hex FROM "
        f"(SELECT DISTINCT {keys}, {text} AS encoded FROM {rows} WHERE {where}) AS e) AS h"
    )


def rows_sql(dialect: Dialect, rows: str, where: str = "true") -> str:
    """Return a query of the distinct samples of ``rows``: what the hash covers, and ``sha256``.

    ``sha256`` is the hash of the one sample, as hexadecimal digits. The other columns are all of
    the schema but ``batch_id``. Meters that were added later are 0 where they are null.
    """
    names = [name for name, _ in _columns()]
    values = ", ".join(
        f"coalesce({name}, 0) AS {name}" if name in bronze.optional() else name for name in names
    )
    digest = dialect.digest.format("encoded")
    return (
        f"SELECT {', '.join(names)}, {digest} AS sha256 FROM (SELECT DISTINCT {values}, "
        f"{_encoded_sql(dialect)} AS encoded FROM {rows} WHERE {where}) AS e"
    )


def sums_sql(count: str = "count(*)") -> str:
    """Return the columns that add up the words of a table, and ``count`` as ``n``."""
    return ", ".join([*(f"CAST(sum({w}) AS bigint) AS {w}" for w in WORDS), f"{count} AS n"])


def _encoded_sql(dialect: Dialect) -> str:
    return " || ".join(_part_sql(dialect, name, kind) for name, kind in _columns())


def _part_sql(dialect: Dialect, name: str, kind: str) -> str:
    def text(value: str) -> str:
        return f"CAST({value} AS varchar)"

    if kind == "meter":
        given = f"'{name}=' || coalesce({text(name)}, '-') || ','"
        value = f"coalesce({name}, 0)" if name in bronze.optional() else name
        return f"CASE WHEN {value} = 0 THEN '' ELSE {given} END"
    if kind == "string":
        value = f"{text(dialect.octets.format(name))} || ':' || {name}"
    elif kind == "timestamp":
        value = text(dialect.micros.format(name))
    else:
        value = text(name)
    return f"coalesce({value}, '-') || ','"


def _columns() -> list[tuple[str, str]]:
    """Return (column, kind) of all columns that the hash covers; meters have the kind ``meter``."""
    return [(name, kind) for name, kind in bronze.kinds() if name != "batch_id"]
