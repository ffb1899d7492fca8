"""`fit`: epochs over batches, validation, and what people want to see and keep of a training run."""
