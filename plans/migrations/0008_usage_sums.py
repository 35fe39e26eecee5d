"""Sums of usage by hour and by day, which triggers keep, so that pages read few rows.

Safe beside the previous version: it goes on writing ``plans_usagerecord``, and the triggers keep
the sums. The migration holds up copies of usage until it has summed what is there.
"""

from django.db import migrations, models

_KEYS = {
    "hour": "tenant_id, space_id, meter, date_trunc('hour', bucket_at, 'UTC')",
    "spaceday": "tenant_id, space_id, meter, date_trunc('day', bucket_at, 'UTC')",
    "day": "tenant_id, space_id, meter, date_trunc('day', bucket_at, 'UTC'), address",
}
_COLUMNS = {
    "hour": "tenant_id, space_id, meter, hour_at",
    "spaceday": "tenant_id, space_id, meter, day_at",
    "day": "tenant_id, space_id, meter, day_at, address",
}


def _sum(step: str, source: str) -> str:
    """Return the statement that adds the rows of ``source`` to the sums by ``step``."""
    columns = _COLUMNS[step]
    return f"""
  INSERT INTO plans_usage{step} AS s ({columns}, summed, largest)
  SELECT {_KEYS[step]}, sum(quantity), max(quantity) FROM {source}
  GROUP BY {", ".join(str(n + 1) for n in range(len(columns.split(","))))}
  ON CONFLICT ({columns}) DO UPDATE SET
    summed = s.summed + excluded.summed, largest = greatest(s.largest, excluded.largest);
"""


def _sum_again(step: str) -> str:
    """Return the statements that sum the steps of rows in ``removed`` again, of what is left."""
    columns, keys = _COLUMNS[step], _KEYS[step]
    return f"""
  DELETE FROM plans_usage{step} WHERE ({columns}) IN (SELECT {keys} FROM removed);
  INSERT INTO plans_usage{step} ({columns}, summed, largest)
  SELECT {_KEYS[step]}, sum(quantity), max(quantity) FROM plans_usagerecord
  WHERE bucket_at >= (SELECT date_trunc('day', min(bucket_at), 'UTC') FROM removed)
    AND bucket_at < (SELECT max(bucket_at) + interval '1 day' FROM removed)
    AND tenant_id IN (SELECT tenant_id FROM removed)
    AND ({keys}) IN (SELECT {keys} FROM removed)
  GROUP BY {", ".join(str(n + 1) for n in range(len(columns.split(","))))};
"""


FORWARD = f"""
CREATE FUNCTION plans_usage_add_sums() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN {_sum("hour", "added")} {_sum("spaceday", "added")} {_sum("day", "added")}
  RETURN NULL;
END $$;
CREATE TRIGGER plans_usage_add_sums AFTER INSERT ON plans_usagerecord
  REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION plans_usage_add_sums();

CREATE FUNCTION plans_usage_sum_again() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NOT EXISTS (SELECT FROM removed) THEN
    RETURN NULL;
  END IF; {_sum_again("hour")} {_sum_again("spaceday")} {_sum_again("day")}
  RETURN NULL;
END $$;
CREATE TRIGGER plans_usage_sum_again AFTER DELETE ON plans_usagerecord
  REFERENCING OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION plans_usage_sum_again();
-- Nothing updates usage. If something does, both the old and the new steps are summed again.
CREATE TRIGGER plans_usage_sum_before AFTER UPDATE ON plans_usagerecord
  REFERENCING OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION plans_usage_sum_again();
CREATE TRIGGER plans_usage_sum_after AFTER UPDATE ON plans_usagerecord
  REFERENCING NEW TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION plans_usage_sum_again();
{_sum("hour", "plans_usagerecord")}
{_sum("spaceday", "plans_usagerecord")}
{_sum("day", "plans_usagerecord")}
"""
BACK = """
DROP TRIGGER plans_usage_add_sums ON plans_usagerecord;
DROP TRIGGER plans_usage_sum_again ON plans_usagerecord;
DROP TRIGGER plans_usage_sum_before ON plans_usagerecord;
DROP TRIGGER plans_usage_sum_after ON plans_usagerecord;
DROP FUNCTION plans_usage_add_sums();
DROP FUNCTION plans_usage_sum_again();
"""


def _columns() -> list[tuple[str, models.Field]]:
    """Return the columns that both tables of sums have."""
    return [
        (
            "id",
            models.BigAutoField(
                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
            ),
        ),
        ("tenant_id", models.CharField(max_length=40)),
        ("space_id", models.CharField(max_length=40)),
        ("meter", models.CharField(max_length=40)),
        ("summed", models.BigIntegerField()),
        ("largest", models.BigIntegerField()),
    ]


class Migration(migrations.Migration):
    dependencies = [("plans", "0007_catalog_version")]
    operations = [
        migrations.CreateModel(
            name="UsageHour",
            fields=[*_columns(), ("hour_at", models.DateTimeField())],
        ),
        migrations.CreateModel(
            name="UsageSpaceDay",
            fields=[*_columns(), ("day_at", models.DateTimeField())],
        ),
        migrations.CreateModel(
            name="UsageDay",
            fields=[
                *_columns(),
                ("address", models.CharField(blank=True, max_length=255)),
                ("day_at", models.DateTimeField()),
            ],
        ),
        migrations.AddConstraint(
            model_name="usagehour",
            constraint=models.UniqueConstraint(
                fields=["tenant_id", "meter", "hour_at", "space_id"], name="usage_hour_once"
            ),
        ),
        migrations.AddConstraint(
            model_name="usagespaceday",
            constraint=models.UniqueConstraint(
                fields=["tenant_id", "meter", "day_at", "space_id"], name="usage_space_day_once"
            ),
        ),
        migrations.AddConstraint(
            model_name="usageday",
            constraint=models.UniqueConstraint(
                fields=["tenant_id", "meter", "day_at", "space_id", "address"],
                name="usage_day_once",
            ),
        ),
        migrations.RunSQL(FORWARD, BACK),
    ]
