"""The run-time side: checked calls, typed lists of tensors, compiled kernels."""
