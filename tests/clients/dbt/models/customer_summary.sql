{{ config(materialized='table') }}
select c.id, c.name, c.city, coalesce(t.total, 0) as total, coalesce(t.orders, 0) as orders
from {{ ref('stg_customers') }} c left join {{ ref('order_totals') }} t on t.customer_id = c.id
