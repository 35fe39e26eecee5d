"""Makes invoices, from the close of a period to the payment. Import from the defining module.

``invoice_closing`` makes a draft; ``issuing`` approves and numbers a draft and records payments.
``previewing`` prices the running period. ``invoice_verification`` recomputes an invoice.
``rendering`` makes pages and files. ``states`` has the states of invoices.
"""
