"""Services: what a mock product is made of (store, tools, schemas), and how its tools are called."""
