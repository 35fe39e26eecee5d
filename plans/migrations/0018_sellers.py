"""Add sellers of tenants, tax exemptions and checks of tax ids; name the seller in the ledger.

Safe beside the previous version: the new column has a default in the database. Entries of before
keep an empty legal entity, because rows of the ledger never change.
"""

import django.db.models.deletion
from django.db import migrations, models

import controlplane.core.ids

# The first issued invoice fixes from which seller, and in which currency, a tenant buys.
FIXED = """
CREATE FUNCTION plans_seller_fixed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP <> 'INSERT' AND (TG_OP = 'DELETE'
      OR (NEW.tenant_id, NEW.legal_entity, NEW.currency)
         IS DISTINCT FROM (OLD.tenant_id, OLD.legal_entity, OLD.currency))
    AND EXISTS (SELECT 1 FROM plans_invoice
                WHERE tenant_id = OLD.tenant_id AND number IS NOT NULL) THEN
    RAISE EXCEPTION 'the seller of a tenant with an issued invoice never changes'
      USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  RETURN CASE TG_OP WHEN 'DELETE' THEN OLD ELSE NEW END;
END $$;
CREATE TRIGGER plans_seller_fixed BEFORE UPDATE OR DELETE ON plans_sellerassignment
  FOR EACH ROW EXECUTE FUNCTION plans_seller_fixed();
"""
FIXED_BACK = """
DROP TRIGGER plans_seller_fixed ON plans_sellerassignment;
DROP FUNCTION plans_seller_fixed();
"""
# The text that stood in the row of the tenant counts from the first day on, as it did.
EXEMPTIONS = """
INSERT INTO plans_taxexemption (id, created_at, updated_at, tenant_id, category, certificate, text,
                                starts_on, set_by)
SELECT 'txe_' || substr(md5(id), 1, 20), now(), now(), id, 'E', '-', tax_exemption,
       '2000-01-01', 'system'
FROM tenants_tenant WHERE tax_exemption <> '';
"""
CHECKS = """
CREATE TRIGGER plans_taxidcheck_append_only BEFORE UPDATE OR DELETE ON plans_taxidcheck
  FOR EACH ROW EXECUTE FUNCTION core_refuse_change();
"""


class Migration(migrations.Migration):

    dependencies = [
        ('plans', '0017_quotas'),
        ('tenants', '0026_watched_rows'),
    ]

    operations = [
        migrations.AddField(
            model_name='ledgerentry',
            name='legal_entity',
            field=models.CharField(blank=True, db_default='', default='', max_length=63),
        ),
        migrations.CreateModel(
            name='SellerAssignment',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('updated_at', models.DateTimeField(auto_now=True)),
                ('legal_entity', models.CharField(max_length=63)),
                ('currency', models.CharField(max_length=3)),
                ('assigned_by', models.CharField(max_length=255)),
                ('tenant', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, related_name='seller_assignment', to='tenants.tenant')),
            ],
            options={
                'abstract': False,
            },
        ),
        migrations.CreateModel(
            name='TaxExemption',
            fields=[
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('updated_at', models.DateTimeField(auto_now=True)),
                ('id', models.CharField(default=controlplane.core.ids.tax_exemption_id, max_length=40, primary_key=True, serialize=False)),
                ('category', models.CharField(choices=[('E', 'Exempt'), ('Z', 'Zero rate')], max_length=1)),
                ('certificate', models.CharField(max_length=60)),
                ('text', models.CharField(max_length=300)),
                ('starts_on', models.DateField()),
                ('ends_on', models.DateField(null=True)),
                ('set_by', models.CharField(max_length=255)),
                ('tenant', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='tax_exemptions', to='tenants.tenant')),
            ],
            options={
                'constraints': [models.CheckConstraint(condition=models.Q(('category__in', ['E', 'Z'])), name='tax_exemption_category')],
            },
        ),
        migrations.CreateModel(
            name='TaxIdCheck',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('tax_id', models.CharField(blank=True, max_length=60)),
                ('country', models.CharField(blank=True, max_length=2)),
                ('status', models.CharField(max_length=20)),
                ('checked_at', models.DateTimeField()),
                ('confirmed_by', models.CharField(blank=True, max_length=255)),
                ('reference', models.CharField(blank=True, max_length=120)),
                ('tenant', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='tax_id_checks', to='tenants.tenant')),
            ],
            options={
                'indexes': [models.Index(fields=['tenant', '-id'], name='tax_id_check_newest')],
            },
        ),
        migrations.RunSQL(FIXED, FIXED_BACK),
        migrations.RunSQL(EXEMPTIONS, migrations.RunSQL.noop),
        migrations.RunSQL(CHECKS, "DROP TRIGGER plans_taxidcheck_append_only ON plans_taxidcheck;"),
    ]
