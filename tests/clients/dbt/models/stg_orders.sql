select id, customer_id, amount, placed, paid from {{ ref('orders') }}
