{{ config(materialized='table') }}
select customer_id, count(*) as orders, sum(amount) as total, avg(amount) as mean
from {{ ref('stg_orders') }} group by customer_id
