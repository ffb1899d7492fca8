"""Models as programs that run without their Python code, with the signature that they declare.

`export` writes one by torch.export; `load_exported` runs it, or a scripted model, and checks each call.
"""

from shaped.runtime.exported.archive import ExportedError as ExportedError
from shaped.runtime.exported.loading import load_exported as load_exported
from shaped.runtime.exported.writing import ExportError as ExportError
from shaped.runtime.exported.writing import export as export
