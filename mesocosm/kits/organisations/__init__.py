"""Worlds as organisations: a setting, events that happen in it, and scenes written by hand that tell them."""
