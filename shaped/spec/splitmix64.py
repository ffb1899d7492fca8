"""The constants of SplitMix64, of which both the initialisers and the orders of batches are made.

Source: Steele, Lea, Flood, "Fast splittable pseudorandom number generators" (2014); the multipliers are those of
Stafford's "Mix13". All arithmetic is modulo 2^64.
"""

from __future__ import annotations

GAMMA = 0x9E3779B97F4A7C15
FIRST_MULTIPLIER = 0xBF58476D1CE4E5B9
SECOND_MULTIPLIER = 0x94D049BB133111EB
