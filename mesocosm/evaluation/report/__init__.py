"""The report on evaluations: rows from logs, tables with intervals, figures, one page."""
