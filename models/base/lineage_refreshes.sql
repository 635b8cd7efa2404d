{{
    config(
        materialized='incremental',
        full_refresh=false,
        on_schema_change='append_new_columns'
    )
}}
{{ lineage_post.base_rows([
    ('node', lineage_post.type_text()),
    ('run_id', lineage_post.type_text()),
    ('producer', lineage_post.type_text()),
    ('refreshed_at', dbt.type_timestamp()),
    ('recorded_at', dbt.type_timestamp()),
    ('status', lineage_post.type_text()),
    ('operation', lineage_post.type_text()),
    ('definition_version', lineage_post.type_text()),
    ('git_revision', lineage_post.type_text()),
    ('build_mode', lineage_post.type_text()),
    ('fingerprint', lineage_post.type_text()),
    ('last_known_fingerprint', lineage_post.type_text()),
    ('state', lineage_post.type_text()),
    ('reason', lineage_post.type_text()),
    ('inputs', lineage_post.type_text()),
    ('column_derivations', lineage_post.type_text()),
    ('trace_id', lineage_post.type_text()),
]) }}
