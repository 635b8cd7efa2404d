{#-
    A contract held against the lineage tables, for where the Python side is not in dbt's process:
    one query for each step of the walk, which every warehouse can do, from the column upwards.

    What is recorded may be of another definition than that of now: then the contract fails, as it
    does where nothing is recorded, where a name is not there, and where something on the way is not
    known.
-#}
{% macro contract_from_tables(kind, unique_id, arguments) %}
    {%- set problem = lineage_post.contract_problem(kind, arguments) -%}
    {%- if problem -%}
        {{ return([lineage_post.contract_row(kind, unique_id, arguments.column_name, '', problem)]) }}
    {%- endif -%}
    {%- set tables = lineage_post.contract_tables() -%}
    {%- if tables is string -%}
        {{ return([lineage_post.contract_row(kind, unique_id, arguments.column_name, '', tables)]) }}
    {%- endif -%}
    {%- set mine = lineage_post.recorded_columns(tables, [unique_id]) -%}
    {%- set stale = lineage_post.stale_because(tables, unique_id) -%}
    {%- if stale -%}
        {{ return([lineage_post.contract_row(kind, unique_id, arguments.column_name, '', stale)]) }}
    {%- endif -%}
    {%- if kind == 'lineage_fresh' -%}
        {{ return(lineage_post.fresh_from_tables(tables, unique_id, arguments)) }}
    {%- endif -%}
    {%- set wanted = lineage_post.unquoted(arguments.column_name) -%}
    {%- if kind == 'lineage_known' -%}
        {{ return(lineage_post.known_from_tables(tables, unique_id, wanted, mine, arguments)) }}
    {%- endif -%}
    {%- set origins = lineage_post.contract_origins(tables, arguments) -%}
    {%- set rows = [] -%}
    {%- for problem in origins.problems -%}
        {%- do rows.append(lineage_post.contract_row(kind, unique_id, wanted, '', problem)) -%}
    {%- endfor -%}
    {%- set starts = [] -%}
    {%- for column in mine if column.column_name not in [none, '*'] -%}
        {%- if not wanted or column.column_name | lower == wanted | lower -%}
            {%- do starts.append(column.column_name) -%}
        {%- endif -%}
    {%- endfor -%}
    {%- set unclear = mine | selectattr('column_name', 'equalto', '*') | list -%}
    {%- if not starts or (not wanted and unclear and arguments.allow_unknown is not true) -%}
        {%- set because = 'the recorded lineage of the model has no column ' ~ wanted if wanted
            else 'not all columns of the model are known' -%}
        {%- do rows.append(lineage_post.contract_row(kind, unique_id, wanted, '', because)) -%}
    {%- endif -%}
    {%- if rows -%}{{ return(rows) }}{%- endif -%}
    {%- for start in starts | unique -%}
        {%- set walked = lineage_post.contract_walk(tables, kind, unique_id, start, origins, arguments) -%}
        {%- do rows.extend(lineage_post.contract_verdict(kind, unique_id, start, origins, walked, arguments)) -%}
    {%- endfor -%}
    {{ return(rows) }}
{% endmacro %}

{#- What of a contract's arguments is not understood; none where all of it is. -#}
{% macro contract_problem(kind, arguments) %}
    {%- set origins = ['columns', 'column_tags', 'column_meta'] -%}
    {%- set known = {
        'derives_from': origins + ['require', 'allow_unknown'],
        'does_not_derive_from': origins + ['include_indirect', 'allow_unknown'],
        'masked_from': origins + ['include_indirect', 'allow_unknown'],
        'only_derives_from': origins + ['allow_unknown'],
        'is_identity_of': ['columns', 'allow_unknown'],
        'is_aggregated': origins + ['allow_unknown'],
        'lineage_known': ['max_unknown', 'max_assumed'],
        'lineage_fresh': ['max_age_hours'],
    }[kind] -%}
    {%- for name, value in arguments.items() if value is not none and name != 'column_name' -%}
        {%- if name not in known -%}
            {{ return(kind ~ ' has no argument ' ~ name ~ '. It has ' ~ known | join(', ')) }}
        {%- elif name in ['include_indirect', 'allow_unknown'] and value is not boolean -%}
            {{ return(name ~ ' is ' ~ value ~ '. It must be true or false') }}
        {%- elif name == 'require' and value not in ['all', 'any'] -%}
            {{ return(name ~ ' is ' ~ value ~ '. It must be all or any') }}
        {%- elif name.startswith('max_') and (value is not number or value is boolean) -%}
            {{ return(name ~ ' is ' ~ value ~ '. It must be a number') }}
        {%- endif -%}
    {%- endfor -%}
    {%- if 'columns' in known and kind != 'is_aggregated' and not (arguments.columns
        or arguments.column_tags or arguments.column_meta) -%}
        {{ return(kind ~ ' names no column') }}
    {%- endif -%}
    {{ return(none) }}
{% endmacro %}

{#- The relations to ask, or one line that says what is missing. -#}
{% macro contract_tables() %}
    {%- set found = {} -%}
    {%- set missing = [] -%}
    {%- for table in ['lineage_column_edges', 'lineage_current', 'lineage_columns', 'lineage_table_edges'] -%}
        {%- set node = graph.nodes.get('model.lineage_post.' ~ table) -%}
        {%- set relation = adapter.get_relation(node.database, node.schema, node.alias) if node -%}
        {%- do found.update({table: relation}) if relation else missing.append(table) -%}
    {%- endfor -%}
    {%- if missing -%}
        {{ return(
            'it could not be checked: the Python side is not in this dbt process, and there is no table '
            ~ missing | join(', ') ~ '. Install dbt-lineage-post beside dbt, or run lineage-post build'
            ~ ' and dbt run-operation lineage_post.load'
        ) }}
    {%- endif -%}
    {{ return(found) }}
{% endmacro %}

{#- The rows of a query as mappings with lower-case keys. -#}
{% macro contract_query(sql) %}
    {%- set rows = [] -%}
    {%- for row in run_query(sql).rows -%}
        {%- set found = {} -%}
        {%- for key, value in row.items() -%}{%- do found.update({key | lower: value}) -%}{%- endfor -%}
        {%- do rows.append(found) -%}
    {%- endfor -%}
    {{ return(rows) }}
{% endmacro %}

{% macro text_literals(values) %}
    {%- set found = [] -%}
    {%- for value in values -%}{%- do found.append(lineage_post.text_literal(value)) -%}{%- endfor -%}
    {{ return(found | join(', ')) }}
{% endmacro %}

{#- What is recorded of the columns of nodes; of several producers the one that knows best. -#}
{% macro recorded_columns(tables, nodes) %}
    {{ return(lineage_post.contract_query(
        'select distinct columns_of.node, columns_of.column_name, columns_of.state, columns_of.reason'
        ~ ' from ' ~ tables.lineage_columns.render() ~ ' as columns_of inner join '
        ~ tables.lineage_current.render() ~ ' as refreshes'
        ~ ' on refreshes.fingerprint = columns_of.fingerprint'
        ~ ' where columns_of.node in (' ~ lineage_post.text_literals(nodes) ~ ')'
    )) }}
{% endmacro %}

{#- Why what is recorded of a node cannot be taken for its lineage of now; none where it can. -#}
{% macro stale_because(tables, unique_id) %}
    {%- set node = graph.nodes.get(unique_id) or graph.sources.get(unique_id) or {} -%}
    {%- set name = node.name or unique_id -%}
    {%- set rows = lineage_post.contract_query(
        'select definition_version, state, reason from ' ~ tables.lineage_current.render()
        ~ ' where node = ' ~ lineage_post.text_literal(unique_id)
        ~ " and producer in ('execution', 'manifest')"
    ) -%}
    {%- if not rows -%}{{ return('cannot be proven: no lineage of ' ~ name ~ ' is recorded') }}{%- endif -%}
    {%- set row = rows[0] -%}
    {%- if row.state == 'unknown' and not unique_id.startswith('external.') -%}
        {{ return('cannot be proven: what ' ~ name ~ ' comes from is not known (' ~ row.reason ~ ')') }}
    {%- endif -%}
    {#- A definition version begins with sixteen digits of the MD5 of the raw SQL. What dbt has as
        the checksum of a file depends on the version of dbt. -#}
    {%- set checksum = local_md5(node.raw_code or '') -%}
    {%- set recorded = (row.definition_version or '').split('.')[0] -%}
    {%- if node.resource_type in ['model', 'snapshot'] and checksum[:16] != recorded -%}
        {{ return(
            'cannot be proven: what is recorded of ' ~ name ~ ' is of another definition. Run'
            ~ ' lineage-post build and dbt run-operation lineage_post.load'
        ) }}
    {%- endif -%}
    {{ return(none) }}
{% endmacro %}

{% macro unquoted(name) %}
    {{ return((name or '') | replace('"', '') | replace('`', '')) }}
{% endmacro %}

{#-
    The columns that a contract names: `groups` by what names them, as keys `node|column`, and the
    problems, for each name that nothing has.
-#}
{% macro contract_origins(tables, arguments) %}
    {%- set groups = {} -%}
    {%- set problems = [] -%}
    {%- set nodes = lineage_post.contract_nodes() -%}
    {%- set texts = arguments.columns or [] -%}
    {%- for text in ([texts] if texts is string else texts) -%}
        {%- set meant = lineage_post.contract_reference(text, nodes) -%}
        {%- set keys = [] -%}
        {%- if meant.ids -%}
            {%- for row in lineage_post.columns_spoken_of(tables, meant.ids) -%}
                {%- if lineage_post.matches(row.column_name, meant.column) -%}
                    {%- do keys.append(row.node ~ '|' ~ row.column_name) -%}
                {%- endif -%}
            {%- endfor -%}
        {%- endif -%}
        {%- do groups.update({text: keys}) if keys
            else problems.append('there is no column for ' ~ text ~ ' in what is recorded') -%}
    {%- endfor -%}
    {%- for how, selectors in [('tags', arguments.column_tags), ('meta', arguments.column_meta)] -%}
        {%- set selectors = selectors or [] -%}
        {%- for selector in ([selectors] if selectors is string else selectors) -%}
            {%- set keys = [] -%}
            {%- for node in nodes.values() -%}
                {%- for column in (node.columns or {}).values() -%}
                    {%- if lineage_post.carries(column, how, selector) -%}
                        {%- do keys.append(node.unique_id ~ '|' ~ column.name) -%}
                        {#- A nested field, by its path, is part of the column that holds it. -#}
                        {%- if '.' in column.name -%}
                            {%- do keys.append(node.unique_id ~ '|' ~ column.name.split('.')[0]) -%}
                        {%- endif -%}
                    {%- endif -%}
                {%- endfor -%}
            {%- endfor -%}
            {%- do groups.update({how ~ ' ' ~ selector: keys}) if keys
                else problems.append('no column of the project has the ' ~ how ~ ' ' ~ selector) -%}
        {%- endfor -%}
    {%- endfor -%}
    {%- set folded = [] -%}
    {%- for keys in groups.values() -%}{%- for key in keys -%}{%- do folded.append(key | lower) -%}{%- endfor -%}{%- endfor -%}
    {{ return({'groups': groups, 'problems': problems, 'all': folded}) }}
{% endmacro %}

{#- The columns of nodes that are recorded, or that a reader of them speaks of. -#}
{% macro columns_spoken_of(tables, ids) %}
    {%- set listed = lineage_post.text_literals(ids) -%}
    {{ return(lineage_post.contract_query(
        'select node, column_name from ' ~ tables.lineage_columns.render()
        ~ ' where column_name is not null and node in (' ~ listed ~ ')'
        ~ ' union select from_node as node, from_column as column_name from '
        ~ tables.lineage_column_edges.render() ~ ' where from_node in (' ~ listed ~ ')'
    )) }}
{% endmacro %}

{#- The nodes that have columns, by id. -#}
{% macro contract_nodes() %}
    {%- set found = {} -%}
    {%- for node in graph.nodes.values() if node.resource_type in ['model', 'snapshot', 'seed'] -%}
        {%- do found.update({node.unique_id: node}) -%}
    {%- endfor -%}
    {%- for node in graph.sources.values() -%}{%- do found.update({node.unique_id: node}) -%}{%- endfor -%}
    {{ return(found) }}
{% endmacro %}

{#- The ids that `model.column` or `source.table.column` means, and the column. -#}
{% macro contract_reference(text, nodes) %}
    {%- set parts = text.split('.') -%}
    {%- set ways = [(text, '*')] -%}
    {%- for at in range(parts | length - 1, 0, -1) -%}
        {%- do ways.append((parts[:at] | join('.'), lineage_post.unquoted(parts[at:] | join('.')))) -%}
    {%- endfor -%}
    {%- set found = [] -%}
    {%- for head, column in ways if not found -%}
        {%- set ids = [] -%}
        {#- A pattern never means the lineage tables, which hold nothing of the project. -#}
        {%- for node in nodes.values() if '*' not in head or node.package_name != 'lineage_post' -%}
            {%- set version = node.version | string if node.version is not none and node.version else '' -%}
            {%- set names = [node.unique_id] -%}
            {%- if node.resource_type == 'source' -%}
                {%- do names.extend([node.source_name ~ '.' ~ node.name, node.name]) -%}
            {%- elif version -%}
                {%- do names.extend([node.name ~ '.v' ~ version, node.name ~ '_v' ~ version]) -%}
                {%- if version == node.latest_version | string -%}{%- do names.append(node.name) -%}{%- endif -%}
            {%- else -%}
                {%- do names.extend([node.name, node.package_name ~ '.' ~ node.name]) -%}
            {%- endif -%}
            {%- for name in names if lineage_post.matches(name, head) -%}
                {%- if node.unique_id not in ids -%}{%- do ids.append(node.unique_id) -%}{%- endif -%}
            {%- endfor -%}
        {%- endfor -%}
        {#- Without a pattern it is one node, a model rather than a source of its name. -#}
        {%- if '*' not in head and ids | length > 1 -%}
            {%- set models = ids | reject('in', graph.sources) | list -%}
            {%- set ids = models if models | length == 1 else [] -%}
        {%- endif -%}
        {%- if ids -%}{%- do found.append({'ids': ids, 'column': column}) -%}{%- endif -%}
    {%- endfor -%}
    {{ return(found[0] if found else {'ids': [], 'column': ''}) }}
{% endmacro %}

{#- Whether a name is meant by a text, which may have `*`. -#}
{% macro matches(name, pattern) %}
    {%- if '*' not in pattern -%}{{ return(name | lower == pattern | lower) }}{%- endif -%}
    {%- set expression = modules.re.escape(pattern | lower).replace('\\*', '.*') -%}
    {{ return(modules.re.fullmatch(expression, name | lower) is not none) }}
{% endmacro %}

{#- Whether a declared column has a tag, or a meta key, with a value or with any that is no denial. -#}
{% macro carries(column, how, selector) %}
    {%- set config = column.config or {} -%}
    {%- if how == 'tags' -%}
        {%- for tags in [column.tags, config.tags] -%}
            {%- for tag in ([tags] if tags is string else (tags or [])) if lineage_post.matches(tag, selector) -%}
                {{ return(true) }}
            {%- endfor -%}
        {%- endfor -%}
        {{ return(false) }}
    {%- endif -%}
    {%- set key, equals, wanted = selector.partition('=') -%}
    {%- for meta in [column.meta, config.meta] -%}
        {%- for value in lineage_post.meta_values(lineage_post.meta_at(meta, key)) -%}
            {%- if not equals or value | lower == wanted | trim | lower -%}{{ return(true) }}{%- endif -%}
        {%- endfor -%}
    {%- endfor -%}
    {{ return(false) }}
{% endmacro %}

{#- The value of a key, else that of a path: `governance.pii`. -#}
{% macro meta_at(meta, key) %}
    {%- if meta is not mapping -%}{{ return(none) }}{%- endif -%}
    {%- if key in meta -%}{{ return(meta[key]) }}{%- endif -%}
    {%- set head, dot, rest = key.partition('.') -%}
    {{ return(lineage_post.meta_at(meta.get(head), rest) if dot else none) }}
{% endmacro %}

{#- The values that say something, as texts: `no`, `false` and nothing say nothing. -#}
{% macro meta_values(value) %}
    {%- set found = [] -%}
    {%- if value is sequence and value is not string and value is not mapping -%}
        {%- for item in value -%}{%- do found.extend(lineage_post.meta_values(item)) -%}{%- endfor -%}
    {%- elif value is not none and value is not mapping -%}
        {%- set text = value | string | trim -%}
        {%- if text | lower in ['true', 'yes'] -%}
            {%- do found.append('true') -%}
        {%- elif text | lower not in ['', 'false', 'no', 'none', 'null'] -%}
            {%- do found.append(text) -%}
        {%- endif -%}
    {%- endif -%}
    {{ return(found) }}
{% endmacro %}

{#-
    The walk, step by step: `came_by` has each column that was reached, the one it leads to and the
    edge; `changes` are edges that is_identity_of does not allow; `unknown` what is not known. What is
    recorded of another definition proves no derivation.
-#}
{% macro contract_walk(tables, kind, unique_id, start, origins, arguments) %}
    {%- set indirect = arguments.include_indirect is true -%}
    {%- set came_by = {} -%}
    {%- set first = unique_id ~ '|' ~ start -%}
    {%- do came_by.update({first: none}) -%}
    {%- set state = {'frontier': [[unique_id, start]], 'unknown': [], 'changes': [], 'fed': []} -%}
    {%- set checked = {} -%}
    {#- The Jinja of dbt 2 asks the condition of a loop once, ahead of it: what changes on the way is
        asked within. -#}
    {%- for depth in range(200) -%}
        {%- if state.frontier -%}
            {%- do lineage_post.unknowns_of(tables, state, checked) -%}
            {%- set nodes = state.frontier | map(attribute=0) | unique | list -%}
            {%- set at = {} -%}
            {%- for node, column in state.frontier -%}{%- do at.update({node ~ '|' ~ (column or ''): true}) -%}{%- endfor -%}
            {%- set frontier = [] -%}
            {%- for edge in lineage_post.edges_into(tables, nodes, indirect) -%}
                {%- set target = edge.to_node ~ '|' ~ (edge.to_column or '') -%}
                {%- set source = edge.from_node ~ '|' ~ (edge.from_column or '') -%}
                {%- set is_stop = kind in ['only_derives_from', 'is_identity_of']
                    and target | lower in origins.all and target != first -%}
                {%- if target in at and not is_stop -%}
                    {%- if edge.type == 'DIRECT' -%}{%- do state.fed.append(target) -%}{%- endif -%}
                    {%- set is_open = not (
                        (kind == 'masked_from' and edge.masking is true)
                        or (kind == 'is_aggregated' and edge.subtype == 'AGGREGATION'
                            and '"kind":"identity"' not in (edge.ops or '') | replace(' ', ''))
                        or (kind == 'derives_from' and (edge.certainty == 'assumed' or checked[edge.to_node].stale))
                        or (kind == 'is_identity_of' and (edge.subtype != 'IDENTITY' or edge.certainty == 'assumed'))
                    ) -%}
                    {%- if not is_open and kind == 'is_identity_of' -%}{%- do state.changes.append(edge) -%}{%- endif -%}
                    {%- if is_open and source not in came_by -%}
                        {%- do came_by.update({source: {'to': target, 'edge': edge}}) -%}
                        {#- A field of a struct may come from any column that the struct was made of. -#}
                        {%- if kind != 'derives_from' or not edge.from_field -%}
                            {%- do frontier.append([edge.from_node, edge.from_column]) -%}
                        {%- endif -%}
                    {%- endif -%}
                {%- endif -%}
            {%- endfor -%}
            {%- if indirect -%}
                {%- for node, column in state.frontier if column -%}
                    {%- if node ~ '|' not in came_by -%}
                        {%- do came_by.update({node ~ '|': {'to': node ~ '|' ~ column, 'edge': none}}) -%}
                        {%- do frontier.append([node, none]) -%}
                    {%- endif -%}
                {%- endfor -%}
            {%- endif -%}
            {%- do state.update({'frontier': frontier}) -%}
        {%- endif -%}
    {%- endfor -%}
    {%- if state.frontier -%}
        {%- do state.unknown.append([first, 'cannot be proven: the way is longer than 200 steps']) -%}
    {%- endif -%}
    {{ return({'first': first, 'came_by': came_by, 'state': state}) }}
{% endmacro %}

{#- The edges into nodes; with `indirect` also those that decide rows, and the rows they are made of. -#}
{% macro edges_into(tables, nodes, indirect) %}
    {%- set listed = lineage_post.text_literals(nodes) -%}
    {%- set rows = lineage_post.contract_query(
        'select distinct from_node, from_column, from_field, to_node, to_column, type, subtype, masking, certainty, ops'
        ~ ' from ' ~ tables.lineage_column_edges.render() ~ ' where to_node in (' ~ listed ~ ')'
        ~ (" and type = 'DIRECT'" if not indirect else '') ~ ' order by 1, 2, 3, 4, 5, 6'
    ) -%}
    {%- if indirect -%}
        {%- do rows.extend(lineage_post.contract_query(
            'select from_node, cast(null as ' ~ dbt.type_string() ~ ') as from_column, to_node,'
            ~ ' cast(null as ' ~ dbt.type_string() ~ ") as to_column, 'INDIRECT' as type,"
            ~ " 'ROWS' as subtype, 'exact' as certainty from " ~ tables.lineage_table_edges.render()
            ~ ' where to_node in (' ~ listed ~ ')'
        )) -%}
    {%- endif -%}
    {{ return(rows) }}
{% endmacro %}

{#- Adds what is not known of the columns of a frontier; each node is looked up once. -#}
{% macro unknowns_of(tables, state, checked) %}
    {%- set fresh = [] -%}
    {%- for node, column in state.frontier -%}
        {%- if node not in checked and node not in fresh -%}{%- do fresh.append(node) -%}{%- endif -%}
    {%- endfor -%}
    {%- if fresh -%}
        {%- for node in fresh -%}{%- do checked.update({node: {'stale': none, 'columns': {}}}) -%}{%- endfor -%}
        {%- for row in lineage_post.recorded_columns(tables, fresh) -%}
            {%- set key = (row.column_name or '') | lower -%}
            {%- set known = checked[row.node].columns.get(key) -%}
            {%- if known != 'known' -%}
                {%- do checked[row.node].columns.update({key: 'known' if row.state == 'known' else row.reason or row.state}) -%}
            {%- endif -%}
        {%- endfor -%}
        {%- for node in fresh -%}
            {%- do checked[node].update({'stale': lineage_post.stale_because(tables, node)}) -%}
        {%- endfor -%}
    {%- endif -%}
    {%- for node, column in state.frontier -%}
        {%- set known = checked[node] -%}
        {%- set reason = known.columns.get((column or '') | lower) -%}
        {%- set is_leaf = node.startswith('source.') or node.startswith('seed.') -%}
        {%- set key = node ~ '|' ~ (column or '') -%}
        {%- if known.stale -%}
            {%- do state.unknown.append([key, known.stale]) -%}
        {%- elif (reason and reason != 'known') or (column and not reason and not is_leaf) -%}
            {%- do state.unknown.append([
                key, 'cannot be proven: what ' ~ lineage_post.contract_name(key)
                ~ ' comes from is not known (' ~ (reason or 'not recorded') ~ ')'
            ]) -%}
        {%- endif -%}
    {%- endfor -%}
{% endmacro %}

{% macro contract_name(key) %}
    {%- set node, column = key.split('|', 1) -%}
    {%- set parts = node.split('.') -%}
    {%- set name = node[9:] if node.startswith('external.') else parts[2:] | join('.') -%}
    {{ return(name ~ '.' ~ column if column else 'rows of ' ~ name) }}
{% endmacro %}

{#- `raw.email -> stg.email -> dim.hash (transformation, masked)` -#}
{% macro contract_path(walked, key) %}
    {%- set found = [lineage_post.contract_name(key)] -%}
    {%- set at = {'key': key} -%}
    {%- for step in range(200) -%}
        {%- set next = walked.came_by.get(at.key) -%}
        {%- if next -%}
            {%- set how = [] -%}
            {%- if next.edge and next.edge.subtype not in ['IDENTITY', 'ROWS'] -%}
                {%- do how.append(next.edge.subtype | lower | replace('_', ' ')) -%}
            {%- endif -%}
            {%- if next.edge and next.edge.masking is true -%}{%- do how.append('masked') -%}{%- endif -%}
            {%- do found.append(lineage_post.contract_name(next.to) ~ (' (' ~ how | join(', ') ~ ')' if how else '')) -%}
            {%- do at.update({'key': next.to}) -%}
        {%- endif -%}
    {%- endfor -%}
    {{ return(found | join(' -> ')) }}
{% endmacro %}

{#- What a walk says of a contract: its failing rows. -#}
{% macro contract_verdict(kind, unique_id, column, origins, walked, arguments) %}
    {%- set rows = [] -%}
    {%- set reached = walked.came_by.keys() | reject('equalto', walked.first) | list -%}
    {%- set hits = [] -%}
    {%- set leaves = [] -%}
    {%- for key in reached -%}
        {%- if key | lower in origins.all -%}{%- do hits.append(key) -%}{%- endif -%}
        {%- if key.split('.')[0] in ['source', 'seed', 'external'] and key not in walked.state.fed
            and not key.endswith('|') -%}{%- do leaves.append(key) -%}{%- endif -%}
    {%- endfor -%}
    {%- set broken = [] -%}
    {%- if kind in ['does_not_derive_from', 'masked_from'] or (kind == 'is_aggregated' and origins.groups) -%}
        {%- set word = {'does_not_derive_from': 'it comes from ', 'masked_from': 'unmasked: ',
            'is_aggregated': 'not aggregated: '}[kind] -%}
        {%- for key in hits -%}{%- do broken.append([key, word ~ lineage_post.contract_name(key)]) -%}{%- endfor -%}
    {%- elif kind == 'is_aggregated' -%}
        {%- for key in leaves -%}
            {%- do broken.append([key, 'not aggregated: ' ~ lineage_post.contract_name(key)]) -%}
        {%- endfor -%}
    {%- elif kind in ['only_derives_from', 'is_identity_of'] -%}
        {%- for key in leaves if key not in hits -%}
            {%- do broken.append([key, 'it also comes from ' ~ lineage_post.contract_name(key)]) -%}
        {%- endfor -%}
        {%- for edge in walked.state.changes -%}
            {%- set target = edge.to_node ~ '|' ~ edge.to_column -%}
            {%- do broken.append([target, lineage_post.contract_name(edge.from_node ~ '|' ~ edge.from_column)
                ~ ' is changed on the way to ' ~ lineage_post.contract_name(target)]) -%}
        {%- endfor -%}
        {%- if kind == 'is_identity_of' and not hits and not broken -%}
            {%- do broken.append([walked.first, 'it is no copy of ' ~ origins.groups.keys() | join(' or ')]) -%}
        {%- endif -%}
    {%- elif kind == 'derives_from' -%}
        {%- set folded = reached | map('lower') | list -%}
        {%- set missing = [] -%}
        {%- for name, keys in origins.groups.items() -%}
            {%- set met = [] -%}
            {%- for key in keys if key | lower in folded -%}{%- do met.append(key) -%}{%- endfor -%}
            {%- if not met -%}{%- do missing.append(name) -%}{%- endif -%}
        {%- endfor -%}
        {%- set is_met = not missing or (arguments.require == 'any' and missing | length < origins.groups | length)
            or (arguments.allow_unknown is true and walked.state.unknown) -%}
        {%- for name in missing if not is_met -%}
            {%- set where = (leaves or [walked.first])[0] -%}
            {%- do broken.append([where, 'it does not come from ' ~ name ~ ', as far as is recorded']) -%}
        {%- endfor -%}
    {%- endif -%}
    {%- set is_proven = kind == 'derives_from' and not broken -%}
    {%- if not broken and not is_proven and arguments.allow_unknown is not true -%}
        {%- for key, because in walked.state.unknown[:1] -%}
            {%- if not (kind in ['only_derives_from', 'is_identity_of'] and key | lower in origins.all
                and key != walked.first) -%}{%- do broken.append([key, because]) -%}{%- endif -%}
        {%- endfor -%}
    {%- endif -%}
    {%- for key, because in broken[:100] -%}
        {%- do rows.append(lineage_post.contract_row(
            kind, unique_id, column, lineage_post.contract_path(walked, key), because
        )) -%}
    {%- endfor -%}
    {{ return(rows) }}
{% endmacro %}

{% macro known_from_tables(tables, unique_id, wanted, mine, arguments) %}
    {%- set rows = [] -%}
    {%- set best = {} -%}
    {%- for column in mine -%}
        {%- if best.get(column.column_name or '', {}).state != 'known' -%}
            {%- do best.update({column.column_name or '': column}) -%}
        {%- endif -%}
    {%- endfor -%}
    {%- for name, column in best.items() if column.state != 'known' -%}
        {%- if not wanted or name == '*' or name | lower == wanted | lower -%}
            {%- set where = lineage_post.contract_name(unique_id ~ '|' ~ name) -%}
            {%- do rows.append(lineage_post.contract_row('lineage_known', unique_id, name, where,
                'what ' ~ where ~ ' comes from is ' ~ column.state ~ ' (' ~ column.reason ~ ')')) -%}
        {%- endif -%}
    {%- endfor -%}
    {%- if not best -%}
        {%- do rows.append(lineage_post.contract_row('lineage_known', unique_id, wanted, '',
            'no column of the model is recorded')) -%}
    {%- elif rows | length <= (arguments.max_unknown or 0) -%}
        {%- do rows.clear() -%}
    {%- endif -%}
    {%- if arguments.max_assumed is not none and arguments.max_assumed is defined -%}
        {%- set assumed = lineage_post.contract_query(
            'select distinct to_column from ' ~ tables.lineage_column_edges.render()
            ~ ' where to_node = ' ~ lineage_post.text_literal(unique_id) ~ " and certainty = 'assumed'"
        ) -%}
        {%- if assumed | length > arguments.max_assumed -%}
            {%- for row in assumed -%}
                {%- set where = lineage_post.contract_name(unique_id ~ '|' ~ (row.to_column or '')) -%}
                {%- do rows.append(lineage_post.contract_row('lineage_known', unique_id, row.to_column, where,
                    'what ' ~ where ~ ' comes from is only assumed')) -%}
            {%- endfor -%}
        {%- endif -%}
    {%- endif -%}
    {{ return(rows) }}
{% endmacro %}

{% macro fresh_from_tables(tables, unique_id, arguments) %}
    {%- set rows = [] -%}
    {%- if arguments.max_age_hours -%}
        {%- set found = lineage_post.contract_query(
            'select max(refreshed_at) as refreshed_at from ' ~ tables.lineage_current.render()
            ~ ' where node = ' ~ lineage_post.text_literal(unique_id)
        ) -%}
        {%- set at = found[0].refreshed_at -%}
        {%- set oldest = modules.datetime.datetime.utcnow()
            - modules.datetime.timedelta(hours=arguments.max_age_hours) -%}
        {%- if not at or at.replace(tzinfo=none) < oldest -%}
            {%- do rows.append(lineage_post.contract_row('lineage_fresh', unique_id, '', '',
                'its lineage was recorded at ' ~ at ~ ' UTC, and ' ~ arguments.max_age_hours ~ ' hours are allowed')) -%}
        {%- endif -%}
    {%- endif -%}
    {{ return(rows) }}
{% endmacro %}
