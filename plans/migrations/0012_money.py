"""Add credit notes, coupons, discounts, commitments, credit grants, and the end of a trial.

The database refuses changes of credit notes, grants and their uses, a use of more than a grant has
left, and payments of what a credit note took back. Safe beside the previous version: it writes none
of these rows and does not know the new column.
"""

import controlplane.core.ids
import django.db.models.deletion
import django.db.models.expressions
from django.db import migrations, models


APPEND_ONLY = ("plans_creditnote", "plans_creditgrant", "plans_credituse")

PAYMENTS = """
CREATE OR REPLACE FUNCTION plans_payment_within_invoice() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE due bigint; paid bigint;
BEGIN
  SELECT {due} INTO due FROM plans_invoice
    WHERE id = NEW.invoice_id AND number IS NOT NULL FOR UPDATE;
  SELECT coalesce(sum(amount_minor), 0) INTO paid
    FROM plans_payment WHERE invoice_id = NEW.invoice_id;
  IF due IS NULL OR paid + NEW.amount_minor > due THEN
    RAISE EXCEPTION 'a payment needs an issued invoice and never exceeds what is still due'
      USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  RETURN NEW;
END $$;
"""
CREDITED = """total_minor - credit_minor - (
    SELECT coalesce(sum(receivable_minor), 0) FROM plans_creditnote
      WHERE invoice_id = NEW.invoice_id)"""

# FOR UPDATE locks the invoice or grant, so that two rows at once are checked one after the other.
NOTES = """
CREATE FUNCTION plans_creditnote_within_invoice() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE charged bigint; credited bigint;
BEGIN
  SELECT total_minor INTO charged FROM plans_invoice
    WHERE id = NEW.invoice_id AND number IS NOT NULL FOR UPDATE;
  SELECT coalesce(sum(total_minor), 0) INTO credited
    FROM plans_creditnote WHERE invoice_id = NEW.invoice_id;
  IF charged IS NULL OR credited + NEW.total_minor > charged THEN
    RAISE EXCEPTION 'credit notes never take back more than an issued invoice charged'
      USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER plans_creditnote_within_invoice BEFORE INSERT ON plans_creditnote
  FOR EACH ROW EXECUTE FUNCTION plans_creditnote_within_invoice();

CREATE TRIGGER plans_creditnote_series_counts BEFORE UPDATE OR DELETE
  ON plans_creditnotenumberseries FOR EACH ROW EXECUTE FUNCTION plans_series_counts_by_one();

CREATE FUNCTION plans_credituse_within_grant() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE granted bigint; used bigint;
BEGIN
  SELECT amount_minor INTO granted FROM plans_creditgrant WHERE id = NEW.grant_id FOR UPDATE;
  SELECT coalesce(sum(amount_minor), 0) INTO used
    FROM plans_credituse WHERE grant_id = NEW.grant_id;
  IF used + NEW.amount_minor > granted THEN
    RAISE EXCEPTION 'credit is never used beyond what was granted'
      USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER plans_credituse_within_grant BEFORE INSERT ON plans_credituse
  FOR EACH ROW EXECUTE FUNCTION plans_credituse_within_grant();
"""
NOTES_BACK = """
DROP TRIGGER plans_creditnote_within_invoice ON plans_creditnote;
DROP FUNCTION plans_creditnote_within_invoice();
DROP TRIGGER plans_creditnote_series_counts ON plans_creditnotenumberseries;
DROP TRIGGER plans_credituse_within_grant ON plans_credituse;
DROP FUNCTION plans_credituse_within_grant();
"""


def _append_only(table: str) -> migrations.RunSQL:
    return migrations.RunSQL(
        f"CREATE TRIGGER {table}_append_only BEFORE UPDATE OR DELETE ON {table} "
        "FOR EACH ROW EXECUTE FUNCTION core_refuse_change();",
        f"DROP TRIGGER {table}_append_only ON {table};",
    )


# As in 0011, with the trial: during it the fee is not charged, so it is a part of what was billed.
SUBSCRIPTION = """
CREATE OR REPLACE FUNCTION plans_subscription_in(s plans_plansubscription, i plans_invoice)
RETURNS jsonb LANGUAGE sql STABLE AS $$
  SELECT CASE WHEN s.tenant_id = i.tenant_id AND s.starts_at < i.ends_at
      AND (s.ends_at IS NULL OR s.ends_at > i.starts_at)
    THEN jsonb_build_array(s.plan_id, greatest(s.starts_at, i.starts_at),
      least(coalesce(s.ends_at, 'infinity'), i.ends_at), s.ends_at IS NULL OR s.ends_at > i.ends_at
      {trial})
    ELSE '[]' END
$$;
"""
TRIAL = """, CASE WHEN s.trial_ends_at > greatest(s.starts_at, i.starts_at)
        THEN least(s.trial_ends_at, i.ends_at) END"""


class Migration(migrations.Migration):

    dependencies = [
        ('plans', '0011_proof_guards'),
        ('tenants', '0025_money'),
    ]

    operations = [
        migrations.CreateModel(
            name='CreditNoteNumberSeries',
            fields=[
                ('legal_entity', models.CharField(max_length=63, primary_key=True, serialize=False)),
                ('last_number', models.PositiveBigIntegerField(default=0)),
            ],
        ),
        migrations.AddField(
            model_name='plansubscription',
            name='trial_ends_at',
            field=models.DateTimeField(null=True),
        ),
        migrations.CreateModel(
            name='Coupon',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('updated_at', models.DateTimeField(auto_now=True)),
                ('code', models.CharField(max_length=40, unique=True)),
                ('title', models.CharField(max_length=100)),
                ('percent', models.DecimalField(decimal_places=12, max_digits=15, null=True)),
                ('amount_minor', models.BigIntegerField(null=True)),
                ('currency', models.CharField(blank=True, max_length=3)),
                ('meters', models.JSONField(default=list)),
                ('months', models.PositiveIntegerField(null=True)),
                ('limit', models.PositiveIntegerField(null=True)),
                ('expires_at', models.DateTimeField(null=True)),
                ('created_by', models.CharField(max_length=255)),
            ],
            options={
                'constraints': [models.CheckConstraint(condition=models.Q(models.Q(('amount_minor__gt', 0), ('percent__isnull', True)), models.Q(('amount_minor__isnull', True), ('percent__gt', 0), ('percent__lte', 100)), _connector='OR'), name='coupon_one_kind')],
            },
        ),
        migrations.CreateModel(
            name='CreditGrant',
            fields=[
                ('id', models.CharField(default=controlplane.core.ids.credit_grant_id, max_length=40, primary_key=True, serialize=False)),
                ('legal_entity', models.CharField(max_length=63)),
                ('currency', models.CharField(max_length=3)),
                ('kind', models.CharField(choices=[('promotional', 'Promotional'), ('prepaid', 'Prepaid')], max_length=12)),
                ('amount_minor', models.BigIntegerField()),
                ('reference', models.CharField(max_length=120)),
                ('reason', models.TextField()),
                ('granted_at', models.DateTimeField()),
                ('granted_by', models.CharField(max_length=255)),
                ('expires_at', models.DateTimeField(null=True)),
                ('entry', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='plans.ledgerentry')),
                ('tenant', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='credit_grants', to='tenants.tenant')),
            ],
        ),
        migrations.CreateModel(
            name='CreditNote',
            fields=[
                ('id', models.CharField(default=controlplane.core.ids.credit_note_id, max_length=40, primary_key=True, serialize=False)),
                ('number', models.CharField(max_length=40, unique=True)),
                ('legal_entity', models.CharField(max_length=63)),
                ('currency', models.CharField(max_length=3)),
                ('net_minor', models.BigIntegerField()),
                ('tax_minor', models.BigIntegerField()),
                ('total_minor', models.BigIntegerField()),
                ('receivable_minor', models.BigIntegerField()),
                ('credit_minor', models.BigIntegerField()),
                ('reason', models.TextField()),
                ('document', models.TextField()),
                ('issued_at', models.DateTimeField()),
                ('issued_by', models.CharField(max_length=255)),
                ('invoice', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='credit_notes', to='plans.invoice')),
                ('tenant', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='credit_notes', to='tenants.tenant')),
            ],
        ),
        migrations.CreateModel(
            name='CreditUse',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('amount_minor', models.BigIntegerField()),
                ('entry', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='credit_uses', to='plans.ledgerentry')),
                ('grant', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='uses', to='plans.creditgrant')),
                ('invoice', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='credit_uses', to='plans.invoice')),
            ],
        ),
        migrations.CreateModel(
            name='Discount',
            fields=[
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('updated_at', models.DateTimeField(auto_now=True)),
                ('id', models.CharField(default=controlplane.core.ids.discount_id, max_length=40, primary_key=True, serialize=False)),
                ('title', models.CharField(max_length=100)),
                ('percent', models.DecimalField(decimal_places=12, max_digits=15, null=True)),
                ('amount_minor', models.BigIntegerField(null=True)),
                ('currency', models.CharField(blank=True, max_length=3)),
                ('meters', models.JSONField(default=list)),
                ('starts_at', models.DateTimeField()),
                ('ends_at', models.DateTimeField(null=True)),
                ('created_by', models.CharField(max_length=255)),
                ('coupon', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='redemptions', to='plans.coupon')),
                ('tenant', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='discounts', to='tenants.tenant')),
            ],
        ),
        migrations.CreateModel(
            name='Commitment',
            fields=[
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('updated_at', models.DateTimeField(auto_now=True)),
                ('id', models.CharField(default=controlplane.core.ids.commitment_id, max_length=40, primary_key=True, serialize=False)),
                ('title', models.CharField(max_length=100)),
                ('minimum_minor', models.BigIntegerField()),
                ('currency', models.CharField(max_length=3)),
                ('starts_at', models.DateTimeField()),
                ('ends_at', models.DateTimeField(null=True)),
                ('created_by', models.CharField(max_length=255)),
                ('tenant', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='commitments', to='tenants.tenant')),
            ],
            options={
                'constraints': [models.CheckConstraint(condition=models.Q(('minimum_minor__gt', 0)), name='commitment_positive')],
            },
        ),
        migrations.AddConstraint(
            model_name='creditgrant',
            constraint=models.UniqueConstraint(fields=('tenant', 'reference'), name='credit_grant_once'),
        ),
        migrations.AddConstraint(
            model_name='creditgrant',
            constraint=models.CheckConstraint(condition=models.Q(('amount_minor__gt', 0)), name='credit_grant_positive'),
        ),
        migrations.AddConstraint(
            model_name='creditnote',
            constraint=models.CheckConstraint(condition=models.Q(('total_minor', django.db.models.expressions.CombinedExpression(models.F('net_minor'), '+', models.F('tax_minor'))), ('total_minor', django.db.models.expressions.CombinedExpression(models.F('receivable_minor'), '+', models.F('credit_minor')))), name='credit_note_sums'),
        ),
        migrations.AddConstraint(
            model_name='creditnote',
            constraint=models.CheckConstraint(condition=models.Q(('credit_minor__gte', 0), ('net_minor__gt', 0), ('receivable_minor__gte', 0)), name='credit_note_positive'),
        ),
        migrations.AddConstraint(
            model_name='credituse',
            constraint=models.UniqueConstraint(fields=('grant', 'entry'), name='credit_use_once'),
        ),
        migrations.AddConstraint(
            model_name='credituse',
            constraint=models.CheckConstraint(condition=models.Q(('amount_minor__gt', 0)), name='credit_use_positive'),
        ),
        migrations.AddConstraint(
            model_name='discount',
            constraint=models.UniqueConstraint(fields=('tenant', 'coupon'), name='coupon_once_per_tenant'),
        ),
        migrations.AddConstraint(
            model_name='discount',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('amount_minor__gt', 0), ('percent__isnull', True)), models.Q(('amount_minor__isnull', True), ('percent__gt', 0), ('percent__lte', 100)), _connector='OR'), name='discount_one_kind'),
        ),
        *[_append_only(table) for table in APPEND_ONLY],
        migrations.RunSQL(NOTES, NOTES_BACK),
        migrations.RunSQL(
            PAYMENTS.format(due=CREDITED), PAYMENTS.format(due="total_minor - credit_minor")
        ),
        migrations.RunSQL(SUBSCRIPTION.format(trial=TRIAL), SUBSCRIPTION.format(trial="")),
    ]
