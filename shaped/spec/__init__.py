"""What programs mean: sizes, shapes, dtypes and operations. Pure Python; torch is never imported here."""
