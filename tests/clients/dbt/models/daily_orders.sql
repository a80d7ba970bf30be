{{ config(materialized='incremental', unique_key='day') }}
select cast(placed as date) as day, sum(amount) as total from {{ ref('stg_orders') }}
{% if is_incremental() %} where cast(placed as date) >= (select max(day) from {{ this }}) {% endif %}
group by 1
