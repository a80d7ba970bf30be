"""What ``benchmarks/fuzz.py`` hands in: arguments, and lines of the mail protocols."""
