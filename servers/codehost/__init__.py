"""A code host: repositories of real git objects, issues, pull requests, reviews, releases and search."""
