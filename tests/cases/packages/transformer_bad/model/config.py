from dataclasses import dataclass


@dataclass
class Config:
    vocab: int = 100
    d_model: int = 32
    d_ff: int = 128
