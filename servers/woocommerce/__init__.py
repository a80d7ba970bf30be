"""A WooCommerce shop: catalogue, orders, customers, coupons, reports and settings."""
