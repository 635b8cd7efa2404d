select
    id,
    email
from {{ ref('opaque') }}
