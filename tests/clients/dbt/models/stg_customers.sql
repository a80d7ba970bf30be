select id, name, coalesce(nullif(city, ''), 'unknown') as city, joined from {{ ref('customers') }}
