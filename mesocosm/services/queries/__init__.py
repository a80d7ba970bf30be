"""SQL of warehouses: statements in a vendor's dialect over tables that lie in a world's SQLite files.

A statement is parsed in the vendor's dialect, checked against the server's catalogue, rewritten, and
computed by DuckDB in memory on columnar copies of the tables it names; what it changes is written to SQLite
as rows. The libraries for that are the extra ``warehouses``: what imports them is imported when a statement
is run.
"""
