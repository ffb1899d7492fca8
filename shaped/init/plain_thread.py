"""Work on a tensor where torch does what it is told: in a thread of its own, which has none of the caller's modes.

In the caller's thread `torch.compile` may be tracing: it would fuse the operations, and a fused multiply-add rounds
once where the specification rounds twice. Modes that replace operations, autocast and vmap are bound to a thread, too.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext

import torch
from torch import Tensor


def in_plain_threads(work: Callable[[], None], out: Tensor, threads: int = 1) -> None:
    """Call `work`, which writes `out`, in so many new threads at a time, and wait for all.

    Raises:
        Exception: what a call raised, if one did.
    """
    stream = torch.cuda.current_stream(out.device) if out.device.type == "cuda" else None
    errors: list[BaseException] = []

    def run() -> None:
        # A new thread takes this over from the caller's; it is of this thread alone.
        torch.set_flush_denormal(False)
        # What the caller's thread does on a GPU comes before and after, if it is the same stream. A tensor that was
        # made in inference mode can be written in that mode only.
        on_stream: AbstractContextManager[object] = nullcontext() if stream is None else torch.cuda.stream(stream)
        try:
            with on_stream, torch.inference_mode(out.is_inference()), torch.no_grad():
                work()
        except BaseException as error:  # it is raised again in the caller's thread
            errors.append(error)

    started = [threading.Thread(target=run, name="shaped.init") for _ in range(threads)]
    for thread in started:
        thread.start()
    for thread in started:
        thread.join()
    if errors:
        raise errors[0]
