"""Sums of products by labels."""

from __future__ import annotations

from shaped.verify.theorem import Theorem

_EQUATIONS = [
    ("ij,jk->ik", "n k", "k m"),
    ("bij,bjk->bik", "b n k", "b k m"),
    ("bhqd,bhkd->bhqk", "b h q d", "b h k d"),
    ("...ij,...jk->...ik", "b n k", "b k m"),
    ("i,j->ij", "n", "m"),
    ("i,i->", "n", "n"),
    ("ij,ij->i", "n m", "n m"),
    ("ijk,k->ji", "n m k", "k"),
    ("ij,jk,kl->il", "n m", "m k", "k d"),
    ("bi,ijk,bk->bj", "b i", "i j k", "b k"),
    ("ii->i", "n n"),
    ("ii->", "n n"),
    ("ij->j", "n m"),
    ("b...->...b", "b n m"),
]

THEOREMS = [Theorem("einsum", {"args": [f"={equation}", *axes]}) for equation, *axes in _EQUATIONS]
