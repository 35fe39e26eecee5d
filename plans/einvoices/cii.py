"""Writes terms of EN 16931 as UN/CEFACT Cross Industry Invoice D16B, the XML of Factur-X. Pure."""

from dataclasses import dataclass
from datetime import date
from xml.etree.ElementTree import Element

from plans.einvoices.en16931 import GUIDELINE, Adjustment, EInvoice, Line, Party
from plans.einvoices.vat import Tax
from plans.einvoices.xml_tree import Tree

_DATA = "urn:un:unece:uncefact:data:standard"
_NAMESPACES = {
    "rsm": f"{_DATA}:CrossIndustryInvoice:100",
    "ram": f"{_DATA}:ReusableAggregateBusinessInformationEntity:100",
    "udt": f"{_DATA}:UnqualifiedDataType:100",
    "qdt": f"{_DATA}:QualifiedDataType:100",
}
_DAY_FORMAT = "102"  # YYYYMMDD, by UNTDID 2379


def write(invoice: EInvoice) -> bytes:
    """Return the CII document; its elements stand in the order that the schema demands."""
    tree = Tree.begin("rsm:CrossIndustryInvoice", _NAMESPACES)
    writer = _Writer(invoice, tree)
    writer.header()
    trade = tree.add(tree.root, "rsm:SupplyChainTradeTransaction")
    for line in invoice.lines:
        writer.line(trade, line)
    agreement = tree.add(trade, "ram:ApplicableHeaderTradeAgreement")
    writer.party(agreement, "ram:SellerTradeParty", invoice.seller)
    writer.party(agreement, "ram:BuyerTradeParty", invoice.buyer)
    # Empty, because nothing is shipped; the schema demands the element.
    tree.add(trade, "ram:ApplicableHeaderTradeDelivery")
    writer.settlement(tree.add(trade, "ram:ApplicableHeaderTradeSettlement"))
    return tree.to_bytes()


@dataclass(frozen=True)
class _Writer:
    """Adds the parts of ``invoice`` to elements of ``tree``."""

    invoice: EInvoice
    tree: Tree

    def header(self) -> None:
        invoice, tree = self.invoice, self.tree
        context = tree.add(tree.root, "rsm:ExchangedDocumentContext")
        tree.add(context, "ram:GuidelineSpecifiedDocumentContextParameter/ram:ID", GUIDELINE)
        node = tree.add(tree.root, "rsm:ExchangedDocument")
        tree.add(node, "ram:ID", invoice.number)
        tree.add(node, "ram:TypeCode", invoice.type_code)
        self.day(node, "ram:IssueDateTime/udt:DateTimeString", invoice.issued_on)
        if invoice.note:
            tree.add(node, "ram:IncludedNote/ram:Content", invoice.note)

    def line(self, trade: Element, line: Line) -> None:
        tree = self.tree
        node = tree.add(trade, "ram:IncludedSupplyChainTradeLineItem")
        tree.add(node, "ram:AssociatedDocumentLineDocument/ram:LineID", line.id)
        product = tree.add(node, "ram:SpecifiedTradeProduct")
        tree.add(product, "ram:Name", line.name)
        if line.description:
            tree.add(product, "ram:Description", line.description)
        tree.add(
            node,
            "ram:SpecifiedLineTradeAgreement/ram:NetPriceProductTradePrice/ram:ChargeAmount",
            f"{line.price:f}",
        )
        tree.add(
            node,
            "ram:SpecifiedLineTradeDelivery/ram:BilledQuantity",
            f"{line.quantity:f}",
            unitCode=line.unit_code,
        )
        settled = tree.add(node, "ram:SpecifiedLineTradeSettlement")
        self.category(settled, "ram:ApplicableTradeTax", line.tax)
        tree.add(
            settled,
            "ram:SpecifiedTradeSettlementLineMonetarySummation/ram:LineTotalAmount",
            self.invoice.amount(line.amount_minor),
        )

    def party(self, agreement: Element, role: str, party: Party) -> None:
        tree = self.tree
        node = tree.add(agreement, role)
        if party.other_id:
            tree.add(node, "ram:ID", party.other_id)
        tree.add(node, "ram:Name", party.name)
        if party.email:
            path = "ram:DefinedTradeContact/ram:EmailURIUniversalCommunication/ram:URIID"
            tree.add(node, path, party.email)
        address = tree.add(node, "ram:PostalTradeAddress")
        # Not strict: an address may have fewer than three lines.
        for name, text in zip(("LineOne", "LineTwo", "LineThree"), party.address, strict=False):
            tree.add(address, f"ram:{name}", text)
        tree.add(address, "ram:CountryID", party.country)
        if party.vat_id:
            tree.add(node, "ram:SpecifiedTaxRegistration/ram:ID", party.vat_id, schemeID="VA")
        elif party.other_id and party is self.invoice.seller and self.invoice.is_taxed:
            # BT-32: a tax number that is no VAT id.
            tree.add(node, "ram:SpecifiedTaxRegistration/ram:ID", party.other_id, schemeID="FC")

    def settlement(self, node: Element) -> None:
        invoice, tree = self.invoice, self.tree
        tree.add(node, "ram:InvoiceCurrencyCode", invoice.currency)
        for tax in invoice.taxes:
            self.tax(node, tax)
        period = tree.add(node, "ram:BillingSpecifiedPeriod")
        self.day(period, "ram:StartDateTime/udt:DateTimeString", invoice.starts_on)
        self.day(period, "ram:EndDateTime/udt:DateTimeString", invoice.ends_on)
        for adjustment in invoice.adjustments:
            self.adjustment(node, adjustment)
        terms = tree.add(node, "ram:SpecifiedTradePaymentTerms")
        tree.add(terms, "ram:Description", invoice.terms)
        if invoice.due_on:
            self.day(terms, "ram:DueDateDateTime/udt:DateTimeString", invoice.due_on)
        self.totals(node)
        if invoice.preceding:
            number, day = invoice.preceding
            reference = tree.add(node, "ram:InvoiceReferencedDocument")
            tree.add(reference, "ram:IssuerAssignedID", number)
            self.day(reference, "ram:FormattedIssueDateTime/qdt:DateTimeString", day)

    def tax(self, parent: Element, tax: Tax) -> None:
        tree = self.tree
        node = tree.add(parent, "ram:ApplicableTradeTax")
        tree.add(node, "ram:CalculatedAmount", self.invoice.amount(tax.tax_minor))
        tree.add(node, "ram:TypeCode", "VAT")
        if tax.reason:
            tree.add(node, "ram:ExemptionReason", tax.reason)
        tree.add(node, "ram:BasisAmount", self.invoice.amount(tax.taxable_minor))
        tree.add(node, "ram:CategoryCode", tax.category)
        if tax.percent is not None:
            tree.add(node, "ram:RateApplicablePercent", f"{tax.percent:f}")

    def adjustment(self, parent: Element, adjustment: Adjustment) -> None:
        tree = self.tree
        node = tree.add(parent, "ram:SpecifiedTradeAllowanceCharge")
        indicator = str(adjustment.is_charge).lower()
        tree.add(node, "ram:ChargeIndicator/udt:Indicator", indicator)
        tree.add(node, "ram:ActualAmount", self.invoice.amount(adjustment.amount_minor))
        tree.add(node, "ram:Reason", adjustment.reason)
        self.category(node, "ram:CategoryTradeTax", adjustment.tax)

    def totals(self, parent: Element) -> None:
        invoice = self.invoice
        node = self.tree.add(parent, "ram:SpecifiedTradeSettlementHeaderMonetarySummation")
        allowances, charges = (invoice.adjusted_minor(is_charge=is_) for is_ in (False, True))
        for name, minor in {
            "LineTotalAmount": invoice.lines_minor,
            "ChargeTotalAmount": charges,
            "AllowanceTotalAmount": allowances,
            "TaxBasisTotalAmount": invoice.net_minor,
            "TaxTotalAmount": invoice.tax_minor,
            "GrandTotalAmount": invoice.total_minor,
            "TotalPrepaidAmount": invoice.paid_minor,
            "DuePayableAmount": invoice.total_minor - invoice.paid_minor,
        }.items():
            # The schema demands the currency of this amount only.
            currency = {"currencyID": invoice.currency} if name == "TaxTotalAmount" else {}
            self.tree.add(node, f"ram:{name}", invoice.amount(minor), **currency)

    def category(self, parent: Element, name: str, tax: Tax) -> None:
        node = self.tree.add(parent, name)
        self.tree.add(node, "ram:TypeCode", "VAT")
        self.tree.add(node, "ram:CategoryCode", tax.category)
        if tax.percent is not None:
            self.tree.add(node, "ram:RateApplicablePercent", f"{tax.percent:f}")

    def day(self, parent: Element, path: str, day: date) -> None:
        self.tree.add(parent, path, f"{day:%Y%m%d}", format=_DAY_FORMAT)
