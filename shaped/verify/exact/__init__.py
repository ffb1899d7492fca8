"""An exact gradient check of ordinary PyTorch: no tolerance, no step size."""

from shaped.verify.exact.check import exact_gradcheck

__all__ = ["exact_gradcheck"]
