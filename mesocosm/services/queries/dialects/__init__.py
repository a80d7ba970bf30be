"""The dialects of SQL that warehouses speak, one module each."""
