"""Trainers: one scalar loss, its parameters and inputs as typed lists, and loops over data."""
