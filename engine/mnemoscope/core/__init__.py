"""Values that every part speaks: namespaces, records, times, texts, filters, and how work is driven."""
