select * from {{ ref('customer_summary') }} where total < 0
