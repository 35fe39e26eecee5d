"""Writes terms of EN 16931 as UBL 2.1, an ``Invoice`` or a ``CreditNote`` (OASIS UBL 2.1). Pure."""

from dataclasses import dataclass
from xml.etree.ElementTree import Element

from plans.einvoices.en16931 import CREDIT_NOTE, GUIDELINE, Adjustment, EInvoice, Line, Party
from plans.einvoices.vat import Tax
from plans.einvoices.xml_tree import Tree

_OASIS = "urn:oasis:names:specification:ubl:schema:xsd"
_COMMON = {
    "cac": f"{_OASIS}:CommonAggregateComponents-2",
    "cbc": f"{_OASIS}:CommonBasicComponents-2",
}


def write(invoice: EInvoice) -> bytes:
    """Return the UBL document; its elements stand in the order that the schema demands."""
    kind = "CreditNote" if invoice.type_code == CREDIT_NOTE else "Invoice"
    tree = Tree.begin(f"ubl:{kind}", {"ubl": f"{_OASIS}:{kind}-2", **_COMMON})
    writer = _Writer(invoice, tree, kind)
    writer.header()
    writer.party("AccountingSupplierParty", invoice.seller)
    writer.party("AccountingCustomerParty", invoice.buyer)
    tree.add(tree.root, "cac:PaymentTerms/cbc:Note", invoice.terms)
    for adjustment in invoice.adjustments:
        writer.adjustment(adjustment)
    writer.tax()
    writer.totals()
    for line in invoice.lines:
        writer.line(line)
    return tree.to_bytes()


@dataclass(frozen=True)
class _Writer:
    """Adds the parts of ``invoice`` to the end of ``tree``."""

    invoice: EInvoice
    tree: Tree
    kind: str

    def header(self) -> None:
        invoice, tree, root = self.invoice, self.tree, self.tree.root
        tree.add(root, "cbc:CustomizationID", GUIDELINE)
        tree.add(root, "cbc:ID", invoice.number)
        tree.add(root, "cbc:IssueDate", invoice.issued_on.isoformat())
        # Only an ``Invoice`` has this element; a credit note is never due.
        if invoice.due_on:
            tree.add(root, "cbc:DueDate", invoice.due_on.isoformat())
        tree.add(root, f"cbc:{self.kind}TypeCode", invoice.type_code)
        if invoice.note:
            tree.add(root, "cbc:Note", invoice.note)
        tree.add(root, "cbc:DocumentCurrencyCode", invoice.currency)
        period = tree.add(root, "cac:InvoicePeriod")
        tree.add(period, "cbc:StartDate", invoice.starts_on.isoformat())
        tree.add(period, "cbc:EndDate", invoice.ends_on.isoformat())
        if invoice.preceding:
            number, day = invoice.preceding
            reference = tree.add(root, "cac:BillingReference/cac:InvoiceDocumentReference")
            tree.add(reference, "cbc:ID", number)
            tree.add(reference, "cbc:IssueDate", day.isoformat())

    def party(self, role: str, party: Party) -> None:
        tree = self.tree
        node = tree.add(tree.root, f"cac:{role}/cac:Party")
        if party.other_id:
            tree.add(node, "cac:PartyIdentification/cbc:ID", party.other_id)
        address = tree.add(node, "cac:PostalAddress")
        places = ("cbc:StreetName", "cbc:AdditionalStreetName", "cac:AddressLine/cbc:Line")
        # Not strict: an address may have fewer than three lines.
        for path, text in zip(places, party.address, strict=False):
            tree.add(address, path, text)
        tree.add(address, "cac:Country/cbc:IdentificationCode", party.country)
        if party.vat_id:
            scheme = tree.add(node, "cac:PartyTaxScheme")
            tree.add(scheme, "cbc:CompanyID", party.vat_id)
            tree.add(scheme, "cac:TaxScheme/cbc:ID", "VAT")
        elif party.other_id and party is self.invoice.seller and self.invoice.is_taxed:
            scheme = tree.add(node, "cac:PartyTaxScheme")  # BT-32
            tree.add(scheme, "cbc:CompanyID", party.other_id)
            tree.add(scheme, "cac:TaxScheme/cbc:ID", "TAX")
        tree.add(node, "cac:PartyLegalEntity/cbc:RegistrationName", party.name)
        if party.email:
            tree.add(node, "cac:Contact/cbc:ElectronicMail", party.email)

    def adjustment(self, adjustment: Adjustment) -> None:
        node = self.tree.add(self.tree.root, "cac:AllowanceCharge")
        self.tree.add(node, "cbc:ChargeIndicator", str(adjustment.is_charge).lower())
        self.tree.add(node, "cbc:AllowanceChargeReason", adjustment.reason)
        self.amount(node, "cbc:Amount", adjustment.amount_minor)
        self.category(node, "cac:TaxCategory", adjustment.tax)

    def tax(self) -> None:
        total = self.tree.add(self.tree.root, "cac:TaxTotal")
        self.amount(total, "cbc:TaxAmount", self.invoice.tax_minor)
        for tax in self.invoice.taxes:
            part = self.tree.add(total, "cac:TaxSubtotal")
            self.amount(part, "cbc:TaxableAmount", tax.taxable_minor)
            self.amount(part, "cbc:TaxAmount", tax.tax_minor)
            # The reason (BT-120) is a term of the breakdown; lines and adjustments have none.
            self.category(part, "cac:TaxCategory", tax, tax.reason)

    def totals(self) -> None:
        invoice = self.invoice
        node = self.tree.add(self.tree.root, "cac:LegalMonetaryTotal")
        allowances, charges = (invoice.adjusted_minor(is_charge=is_) for is_ in (False, True))
        for name, amount in {
            "LineExtensionAmount": invoice.lines_minor,
            "TaxExclusiveAmount": invoice.net_minor,
            "TaxInclusiveAmount": invoice.total_minor,
            "AllowanceTotalAmount": allowances,
            "ChargeTotalAmount": charges,
            "PrepaidAmount": invoice.paid_minor,
            "PayableAmount": invoice.total_minor - invoice.paid_minor,
        }.items():
            self.amount(node, f"cbc:{name}", amount)

    def line(self, line: Line) -> None:
        tree = self.tree
        node = tree.add(tree.root, f"cac:{self.kind}Line")
        tree.add(node, "cbc:ID", line.id)
        name = "Credited" if self.invoice.type_code == CREDIT_NOTE else "Invoiced"
        tree.add(node, f"cbc:{name}Quantity", f"{line.quantity:f}", unitCode=line.unit_code)
        self.amount(node, "cbc:LineExtensionAmount", line.amount_minor)
        item = tree.add(node, "cac:Item")
        if line.description:
            tree.add(item, "cbc:Description", line.description)
        tree.add(item, "cbc:Name", line.name)
        self.category(item, "cac:ClassifiedTaxCategory", line.tax)
        currency = self.invoice.currency
        tree.add(node, "cac:Price/cbc:PriceAmount", f"{line.price:f}", currencyID=currency)

    def category(self, parent: Element, name: str, tax: Tax, reason: str = "") -> None:
        node = self.tree.add(parent, name)
        self.tree.add(node, "cbc:ID", tax.category)
        if tax.percent is not None:
            self.tree.add(node, "cbc:Percent", f"{tax.percent:f}")
        if reason:
            self.tree.add(node, "cbc:TaxExemptionReason", reason)
        self.tree.add(node, "cac:TaxScheme/cbc:ID", "VAT")

    def amount(self, parent: Element, name: str, minor: int) -> None:
        self.tree.add(parent, name, self.invoice.amount(minor), currencyID=self.invoice.currency)
