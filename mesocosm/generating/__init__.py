"""What the generators of several families share: people, everyday mail, wordings, and spending a filler.

It stands on the servers' stores, so that nothing of the machinery may import it.
"""
