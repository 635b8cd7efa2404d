{{
    config(
        materialized='incremental',
        full_refresh=false,
        on_schema_change='append_new_columns'
    )
}}
{{ lineage_post.base_rows([
    ('node', lineage_post.type_text()),
    ('definition_version', lineage_post.type_text()),
    ('resource_type', lineage_post.type_text()),
    ('relation', lineage_post.type_text()),
    ('package', lineage_post.type_text()),
    ('materialization', lineage_post.type_text()),
    ('owner', lineage_post.type_text()),
    ('tags', lineage_post.type_text()),
    ('access', lineage_post.type_text()),
    ('group_name', lineage_post.type_text()),
    ('query', lineage_post.type_text()),
    ('renamed_from', lineage_post.type_text()),
    ('native', lineage_post.type_text()),
]) }}
