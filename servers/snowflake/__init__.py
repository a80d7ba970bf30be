"""Snowflake: databases, schemas, tables, views and sequences, asked and changed in Snowflake SQL."""
