"""Rollouts of a guessing game, with questions about them whose evidence is known (AgentLongBench).

``encyclopaedia`` invents the creatures, ``twins`` gives every word a symbol of the same length in tokens,
``engine`` lets a forgetful player query and guess up to a number of tokens, ``transcript`` writes that down
as messages, ``questions`` asks eight types of questions with their golds and their evidence, ``reading``
answers them from the text alone, ``scoring`` judges answers, ``dataset`` and ``writing`` put it into files.
"""
