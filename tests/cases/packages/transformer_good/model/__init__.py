from .config import Config
from .layers import Block

__all__ = ["Block", "Config"]
