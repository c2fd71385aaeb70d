"""Reading HTML for every converter that meets it: web pages, filings, mail bodies."""
