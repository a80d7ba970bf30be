"""Several hosting processes behind one door.

``door``       what listens: every request goes to the host that its episode is on
``relay``      bytes from a client to a host and back
``placement``  which host an episode is on, and ids that say so to those who know the key
``processes``  hosts as processes of this machine: started, watched, replaced
``host``       such a process
"""
