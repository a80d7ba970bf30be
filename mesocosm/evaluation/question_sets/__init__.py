"""One module for each data set of questions, with one object ``questions``: registered by existing."""
