"""Add checkouts, events of providers, refunds, disputes, dunning; payments may exceed what is due.

The database refuses payments that settle more than what is due, refunds of more than was paid, and
changes of booked amounts. Safe beside the previous version: it writes none of these rows, and its
payments have no part that became credit.
"""

import controlplane.core.ids
import django.db.models.deletion
import django.db.models.expressions
from django.db import migrations, models


PAYMENTS = """
CREATE OR REPLACE FUNCTION plans_payment_within_invoice() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE due bigint; paid bigint;
BEGIN
  SELECT total_minor - credit_minor - (
      SELECT coalesce(sum(receivable_minor), 0) FROM plans_creditnote
        WHERE invoice_id = NEW.invoice_id) INTO due FROM plans_invoice
    WHERE id = NEW.invoice_id AND number IS NOT NULL FOR UPDATE;
  SELECT coalesce(sum(amount_minor{credit}), 0){reopened} INTO paid
    FROM plans_payment WHERE invoice_id = NEW.invoice_id;
  IF due IS NULL OR paid + NEW.amount_minor{new_credit} > greatest(due, paid) THEN
    RAISE EXCEPTION 'a payment needs an issued invoice and never exceeds what is still due'
      USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  RETURN NEW;
END $$;
"""
REOPENED = """ - (
      SELECT coalesce(sum(reopened_minor), 0) FROM plans_refund
        WHERE invoice_id = NEW.invoice_id AND state <> 'failed')"""

# FOR UPDATE locks the payment, so that two refunds at once are checked one after the other.
REFUNDS = """
CREATE FUNCTION plans_refund_within_payment() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE received bigint; gone bigint;
BEGIN
  SELECT amount_minor INTO received FROM plans_payment
    WHERE id = NEW.payment_id AND invoice_id = NEW.invoice_id FOR UPDATE;
  SELECT coalesce(sum(amount_minor), 0) INTO gone
    FROM plans_refund WHERE payment_id = NEW.payment_id AND state <> 'failed';
  IF received IS NULL OR gone + NEW.amount_minor > received THEN
    RAISE EXCEPTION 'refunds never exceed the payment'
      USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER plans_refund_within_payment BEFORE INSERT ON plans_refund
  FOR EACH ROW EXECUTE FUNCTION plans_refund_within_payment();

CREATE FUNCTION plans_refund_keeps_amounts() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'DELETE' OR OLD.state = 'failed' OR
      (OLD.payment_id, OLD.invoice_id, OLD.kind, OLD.amount_minor, OLD.credit_minor,
       OLD.reopened_minor, OLD.requested_at, OLD.requested_by, OLD.reason)
      IS DISTINCT FROM
      (NEW.payment_id, NEW.invoice_id, NEW.kind, NEW.amount_minor, NEW.credit_minor,
       NEW.reopened_minor, NEW.requested_at, NEW.requested_by, NEW.reason) THEN
    RAISE EXCEPTION 'a refund is booked: nothing but its state changes'
      USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER plans_refund_keeps_amounts BEFORE UPDATE OR DELETE ON plans_refund
  FOR EACH ROW EXECUTE FUNCTION plans_refund_keeps_amounts();
"""
REFUNDS_BACK = """
DROP TRIGGER plans_refund_within_payment ON plans_refund;
DROP FUNCTION plans_refund_within_payment();
DROP TRIGGER plans_refund_keeps_amounts ON plans_refund;
DROP FUNCTION plans_refund_keeps_amounts();
"""


class Migration(migrations.Migration):

    dependencies = [
        ('plans', '0013_close_runs'),
        ('tenants', '0028_unpaid_invoices'),
    ]

    operations = [
        migrations.CreateModel(
            name='Checkout',
            fields=[
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('updated_at', models.DateTimeField(auto_now=True)),
                ('id', models.CharField(default=controlplane.core.ids.checkout_id, max_length=40, primary_key=True, serialize=False)),
                ('provider', models.CharField(max_length=40)),
                ('reference', models.CharField(max_length=120)),
                ('url', models.TextField()),
                ('amount_minor', models.BigIntegerField()),
                ('requested_by', models.CharField(max_length=255)),
                ('expires_at', models.DateTimeField()),
            ],
        ),
        migrations.CreateModel(
            name='DunningCase',
            fields=[
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('updated_at', models.DateTimeField(auto_now=True)),
                ('id', models.CharField(default=controlplane.core.ids.dunning_case_id, max_length=40, primary_key=True, serialize=False)),
                ('opened_at', models.DateTimeField()),
                ('noticed_at', models.DateTimeField()),
                ('limit_at', models.DateTimeField(null=True)),
                ('suspend_at', models.DateTimeField(null=True)),
                ('reminded_days', models.JSONField(default=list)),
                ('ended_at', models.DateTimeField(null=True)),
            ],
        ),
        migrations.CreateModel(
            name='DunningPause',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('reason', models.TextField()),
                ('paused_by', models.CharField(max_length=255)),
                ('paused_at', models.DateTimeField()),
                ('until', models.DateTimeField(null=True)),
                ('ended_at', models.DateTimeField(null=True)),
            ],
        ),
        migrations.CreateModel(
            name='PaymentDispute',
            fields=[
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('updated_at', models.DateTimeField(auto_now=True)),
                ('id', models.CharField(default=controlplane.core.ids.payment_dispute_id, max_length=40, primary_key=True, serialize=False)),
                ('source', models.CharField(max_length=40)),
                ('reference', models.CharField(max_length=120)),
                ('amount_minor', models.BigIntegerField()),
                ('reason', models.CharField(blank=True, max_length=200)),
                ('state', models.CharField(choices=[('open', 'Open'), ('won', 'Won'), ('lost', 'Lost')], default='open', max_length=6)),
                ('opened_at', models.DateTimeField()),
                ('ended_at', models.DateTimeField(null=True)),
            ],
        ),
        migrations.CreateModel(
            name='PaymentEvent',
            fields=[
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('updated_at', models.DateTimeField(auto_now=True)),
                ('id', models.CharField(default=controlplane.core.ids.payment_event_id, max_length=40, primary_key=True, serialize=False)),
                ('provider', models.CharField(max_length=40)),
                ('event_id', models.CharField(max_length=200)),
                ('kind', models.CharField(max_length=40)),
                ('occurred_at', models.DateTimeField()),
                ('received_at', models.DateTimeField()),
                ('fields', models.JSONField(default=dict)),
                ('state', models.CharField(choices=[('waiting', 'Waiting'), ('applied', 'Applied'), ('ignored', 'Ignored'), ('refused', 'Refused')], default='waiting', max_length=10)),
                ('message', models.TextField(blank=True)),
            ],
        ),
        migrations.CreateModel(
            name='Refund',
            fields=[
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('updated_at', models.DateTimeField(auto_now=True)),
                ('id', models.CharField(default=controlplane.core.ids.refund_id, max_length=40, primary_key=True, serialize=False)),
                ('kind', models.CharField(choices=[('refund', 'Refund'), ('chargeback', 'Chargeback')], default='refund', max_length=12)),
                ('reference', models.CharField(blank=True, max_length=120)),
                ('amount_minor', models.BigIntegerField()),
                ('credit_minor', models.BigIntegerField()),
                ('reopened_minor', models.BigIntegerField()),
                ('state', models.CharField(choices=[('requested', 'Requested'), ('pending', 'Pending'), ('succeeded', 'Succeeded'), ('failed', 'Failed')], default='requested', max_length=10)),
                ('reason', models.TextField()),
                ('message', models.TextField(blank=True)),
                ('requested_by', models.CharField(max_length=255)),
                ('requested_at', models.DateTimeField()),
            ],
        ),
        migrations.AddField(
            model_name='payment',
            name='credit_minor',
            field=models.BigIntegerField(db_default=0, default=0),
        ),
        migrations.AddIndex(
            model_name='invoice',
            index=models.Index(condition=models.Q(('state__in', ['issued', 'partly_paid', 'overdue'])), fields=['due_at'], name='invoice_unpaid'),
        ),
        migrations.AddConstraint(
            model_name='payment',
            constraint=models.CheckConstraint(condition=models.Q(('credit_minor__gte', 0), ('credit_minor__lte', models.F('amount_minor'))), name='payment_credit_within'),
        ),
        migrations.AddField(
            model_name='checkout',
            name='invoice',
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='checkouts', to='plans.invoice'),
        ),
        migrations.AddField(
            model_name='dunningcase',
            name='invoice',
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='dunning_cases', to='plans.invoice'),
        ),
        migrations.AddField(
            model_name='dunningcase',
            name='tenant',
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='tenants.tenant'),
        ),
        migrations.AddField(
            model_name='dunningpause',
            name='tenant',
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='tenants.tenant'),
        ),
        migrations.AddField(
            model_name='paymentdispute',
            name='payment',
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='disputes', to='plans.payment'),
        ),
        migrations.AddField(
            model_name='paymentevent',
            name='invoice',
            field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='payment_events', to='plans.invoice'),
        ),
        migrations.AddField(
            model_name='refund',
            name='invoice',
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='refunds', to='plans.invoice'),
        ),
        migrations.AddField(
            model_name='refund',
            name='payment',
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='refunds', to='plans.payment'),
        ),
        migrations.AddConstraint(
            model_name='checkout',
            constraint=models.UniqueConstraint(fields=('provider', 'reference'), name='checkout_once'),
        ),
        migrations.AddConstraint(
            model_name='checkout',
            constraint=models.CheckConstraint(condition=models.Q(('amount_minor__gt', 0)), name='checkout_positive'),
        ),
        migrations.AddConstraint(
            model_name='dunningcase',
            constraint=models.UniqueConstraint(condition=models.Q(('ended_at__isnull', True)), fields=('invoice',), name='dunning_case_once'),
        ),
        migrations.AddConstraint(
            model_name='dunningpause',
            constraint=models.UniqueConstraint(condition=models.Q(('ended_at__isnull', True)), fields=('tenant',), name='dunning_pause_once'),
        ),
        migrations.AddConstraint(
            model_name='paymentdispute',
            constraint=models.UniqueConstraint(fields=('payment', 'reference'), name='payment_dispute_once'),
        ),
        migrations.AddIndex(
            model_name='paymentevent',
            index=models.Index(condition=models.Q(('state', 'waiting')), fields=['received_at'], name='payment_event_waiting'),
        ),
        migrations.AddConstraint(
            model_name='paymentevent',
            constraint=models.UniqueConstraint(fields=('provider', 'event_id'), name='payment_event_once'),
        ),
        migrations.AddIndex(
            model_name='refund',
            index=models.Index(condition=models.Q(('state', 'requested')), fields=['requested_at'], name='refund_requested'),
        ),
        migrations.AddConstraint(
            model_name='refund',
            constraint=models.UniqueConstraint(condition=models.Q(('reference', ''), _negated=True), fields=('payment', 'kind', 'reference'), name='refund_once'),
        ),
        migrations.AddConstraint(
            model_name='refund',
            constraint=models.CheckConstraint(condition=models.Q(('amount_minor', django.db.models.expressions.CombinedExpression(models.F('credit_minor'), '+', models.F('reopened_minor'))), ('amount_minor__gt', 0), ('credit_minor__gte', 0), ('reopened_minor__gte', 0)), name='refund_sums'),
        ),
        migrations.RunSQL(
            PAYMENTS.format(
                credit=" - credit_minor", reopened=REOPENED, new_credit=" - NEW.credit_minor"
            ),
            PAYMENTS.format(credit="", reopened="", new_credit=""),
        ),
        migrations.RunSQL(REFUNDS, REFUNDS_BACK),
    ]
