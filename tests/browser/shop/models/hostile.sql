select
    id as "<svg onload=window.pwned=1>",
    status as "a'); drop table x; --",
    amount as "{{ '{{' }} 7*7 {{ '}}' }}",
    customer_id as "left|right `tick` </script><script>window.pwned=2</script>",
    ordered_at as "up&#8238;‮down"
from {{ ref('raw_orders') }}
