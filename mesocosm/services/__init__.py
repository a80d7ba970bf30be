"""Services: what a mock product is made of (store, tools, schemas), and the open world that calls them."""
