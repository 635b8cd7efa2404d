"""The object that the macros call in dbt's own process. Only here is dbt imported.

dbt imports this package on every command: nothing at module level may import sqlglot or touch a
file, and nothing that dbt calls may raise.
"""
