with ranked as (select name, total, row_number() over (order by total desc) as place from {{ ref('customer_summary') }})
select name, total from ranked where place = 1
