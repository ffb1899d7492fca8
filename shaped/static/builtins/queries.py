"""Functions of torch, NumPy and math that give no tensor and no array.

They ask something of the machine, set modes and random states, or give numbers. Of a result at most the number is
known. They are told apart from operations without a rule, which `shaped check --stats` counts, and what they are given
stays as it was.
"""

from __future__ import annotations

import ast
import math
from typing import TYPE_CHECKING

from shaped.spec.devices import device_name
from shaped.spec.dims import Dim
from shaped.spec.values import UNKNOWN, Device
from shaped.static.operators import NOT_FOLLOWED
from shaped.static.values import StaticValue, as_dim

if TYPE_CHECKING:
    from collections.abc import Callable

    from shaped.static.arguments import Arguments
    from shaped.static.builtins.kind import Builtin
    from shaped.static.interpreter import Interpreter

DEVICES = ("cuda", "xpu", "mps", "npu", "hpu", "mlu", "musa", "accelerator", "neuron")

COUNTS = frozenset(
    [
        *(f"torch.{device}.{name}" for device in DEVICES for name in ("device_count", "current_device")),
        *(f"torch.{device}.memory_allocated" for device in DEVICES),
        *(f"torch.{device}.max_memory_allocated" for device in DEVICES),
        *(f"torch.{device}.memory_reserved" for device in DEVICES),
        *("torch.accelerator.current_device_index", "torch.mps.current_allocated_memory"),
        *("torch.mps.driver_allocated_memory", "torch.mps.recommended_max_memory"),
        *("torch.distributed.get_world_size", "torch.distributed.get_rank", "torch.distributed.get_global_rank"),
        *("torch.get_num_threads", "torch.get_num_interop_threads", "torch.initial_seed", "torch.seed"),
        "torch.get_deterministic_debug_mode",
    ]
)

# Flags, dtypes, devices, properties and generators; context managers; what acts on the program and gives nothing.
_PLAIN = [
    *("Event", "Generator", "Stream", "are_deterministic_algorithms_enabled", "autocast", "can_cast", "device"),
    *("finfo", "get_autocast_cpu_dtype", "get_autocast_dtype", "get_autocast_gpu_dtype"),
    *("get_default_device", "get_default_dtype", "get_device_module", "get_float32_matmul_precision"),
    *("get_rng_state", "iinfo", "is_autocast_cpu_enabled", "is_autocast_enabled"),
    *("is_deterministic_algorithms_warn_only_enabled", "is_grad_enabled", "is_inference_mode_enabled"),
    *("is_storage", "manual_seed", "promote_types", "save", "set_default_device", "set_default_dtype"),
    *("set_deterministic_debug_mode", "set_float32_matmul_precision", "set_flush_denormal", "set_grad_enabled"),
    *("set_num_interop_threads", "set_num_threads", "set_printoptions", "set_rng_state", "typename"),
    *("use_deterministic_algorithms", "_assert_async", "_C._ExcludeDispatchKeyGuard"),
    *("_C.DisableTorchFunctionSubclass", "_C._get_accelerator", "_C._get_privateuse1_backend_name"),
    *("_C._get_tracing_state", "_C._jit_can_fuse_on_cpu", "_C._jit_can_fuse_on_gpu", "_C._log_api_usage_once"),
    *("_C._jit_override_can_fuse_on_cpu", "_C._jit_override_can_fuse_on_gpu", "_C._jit_set_nvfuser_enabled"),
    *("_C._jit_set_nvfuser_guard_mode", "_C._jit_set_profiling_executor", "_C._jit_set_profiling_mode"),
    *("_C._jit_set_texpr_fuser_enabled", "_dynamo.is_compiling", "_dynamo.mark_static_address"),
    *("_dynamo.mark_dynamic", "_dynamo.utils.is_compile_supported", "amp.GradScaler", "amp.autocast"),
    *("autograd.graph.save_on_cpu", "autograd.profiler.record_function", "autograd.set_detect_anomaly"),
    *("backends.cpu.get_cpu_capability", "backends.cuda.can_use_flash_attention", "backends.cuda.sdp_kernel"),
    *("backends.cudnn.flags", "backends.cudnn.is_available", "backends.mps.is_available", "backends.mps.is_built"),
    *("backends.mps.is_macos_or_newer", "compiler.cudagraph_mark_step_begin", "compiler.is_compiling"),
    *("compiler.is_exporting", "compiler.reset", "cpu.is_available", "distributed.barrier"),
    *("distributed.destroy_process_group", "distributed.get_backend", "distributed.get_process_group_ranks"),
    *("distributed.init_device_mesh", "distributed.init_process_group", "distributed.is_available"),
    *("distributed.is_initialized", "distributed.monitored_barrier", "distributed.new_group"),
    *("distributed.tensor.Partial", "distributed.tensor.Replicate", "distributed.tensor.Shard"),
    *("distributed.all_reduce", "distributed.broadcast", "distributed.reduce"),  # they write values, of the same shape
    *("jit.is_tracing", "mps.clear_graph_cache", "nn.attention.sdpa_kernel"),
    *("profiler.profile", "profiler.record_function", "profiler.schedule", "profiler.tensorboard_trace_handler"),
    *("random.fork_rng", "random.get_rng_state", "random.set_rng_state", "serialization.safe_globals"),
    *("serialization.get_unsafe_globals_in_checkpoint", "utils.data.get_worker_info"),
    *("utils.tensorboard.SummaryWriter", "utils.data.RandomSampler", "utils.data.SequentialSampler"),
    *("utils.data.distributed.DistributedSampler", "utils.data.DataLoader", "utils.data.ConcatDataset"),
    *("optim.Adam", "optim.AdamW", "optim.SGD", "optim.RMSprop", "optim.Adagrad", "optim.Adamax", "optim.NAdam"),
    *("optim.RAdam", "optim.Adadelta", "optim.ASGD", "optim.LBFGS", "optim.Rprop", "optim.SparseAdam"),
    *("cuda.amp.GradScaler", "cuda.amp.autocast", "cuda.amp.grad_scaler.GradScaler"),
    *("optim.lr_scheduler.CosineAnnealingLR", "optim.lr_scheduler.LambdaLR", "optim.lr_scheduler.LinearLR"),
    *("optim.lr_scheduler.MultiStepLR", "optim.lr_scheduler.OneCycleLR", "optim.lr_scheduler.ReduceLROnPlateau"),
    *("optim.lr_scheduler.SequentialLR", "optim.lr_scheduler.StepLR"),
]
_OF_A_DEVICE = [
    *("Event", "Stream", "current_stream", "default_stream", "device", "empty_cache", "get_device_capability"),
    *("get_device_name", "get_device_properties", "is_available", "is_bf16_supported", "is_built"),
    *("is_current_stream_capturing", "is_initialized", "manual_seed", "manual_seed_all", "mem_get_info"),
    *("get_rng_state", "get_rng_state_all", "random.get_rng_state", "random.get_rng_state_all"),
    *("reset_peak_memory_stats", "set_device", "set_device_index", "stream", "synchronize", "current_accelerator"),
    *("set_rng_state", "set_rng_state_all", "random.set_rng_state", "random.set_rng_state_all"),
]
NO_OPERATIONS = frozenset(
    [
        *(f"torch.{name}" for name in _PLAIN),
        *(f"torch.{device}.{name}" for device in DEVICES for name in _OF_A_DEVICE),
        *("math.isclose", "math.isfinite", "math.isinf", "math.isnan"),
        *("numpy.allclose", "numpy.array_equal", "numpy.can_cast", "numpy.dtype", "numpy.errstate", "numpy.finfo"),
        *("numpy.iinfo", "numpy.isscalar", "numpy.issubdtype", "numpy.iscomplexobj", "numpy.printoptions"),
        *("numpy.random.default_rng", "numpy.random.get_state", "numpy.random.seed", "numpy.random.set_state"),
        *("numpy.save", "numpy.savez", "numpy.set_printoptions"),
        *("numpy.testing.assert_allclose", "numpy.testing.assert_almost_equal", "numpy.testing.assert_array_equal"),
        "numpy.testing.assert_array_almost_equal",
    ]
)


def _count(interpreter: Interpreter, arguments: Arguments, node: ast.AST) -> StaticValue:
    return interpreter.context.fresh(low=None)


def _nothing(interpreter: Interpreter, arguments: Arguments, node: ast.AST) -> StaticValue:
    return UNKNOWN


def _is_scripting(interpreter: Interpreter, arguments: Arguments, node: ast.AST) -> StaticValue:
    """Python itself never runs what TorchScript compiled."""
    return False


def _device(interpreter: Interpreter, arguments: Arguments, node: ast.AST) -> StaticValue:
    """`torch.device("cuda", 1)`, `torch.device(x)`."""
    given = [interpreter.lower(value) for value in (*arguments.args, *arguments.kwargs.values())]
    return Device(device_name(*given[:2])) if given else Device(None)


def _gain(interpreter: Interpreter, arguments: Arguments, node: ast.AST) -> StaticValue:
    return NOT_FOLLOWED


def _real(function: Callable[..., float]) -> Builtin:
    """A function of floats: its value where all of them are known."""

    def apply(interpreter: Interpreter, arguments: Arguments, node: ast.AST) -> StaticValue:
        numbers = [_number(value) for value in arguments.args]
        known = [number for number in numbers if number is not None]
        if len(known) < len(numbers) or arguments.kwargs:
            return NOT_FOLLOWED
        try:
            return float(function(*known))
        except (ValueError, OverflowError, TypeError):
            return NOT_FOLLOWED

    return apply


def _whole(function: Callable[..., int]) -> Builtin:
    """A function of ints: its value where all of them are constants."""

    def apply(interpreter: Interpreter, arguments: Arguments, node: ast.AST) -> StaticValue:
        dims = [as_dim(value) for value in arguments.args]
        known = [dim.constant for dim in dims if dim is not None and dim.constant is not None]
        if len(known) == len(dims) and all(abs(number) <= _MOST for number in known):
            try:
                return Dim.of(function(*known))
            except (ValueError, TypeError):
                pass
        return interpreter.context.fresh(low=None)

    return apply


_MOST = 1000  # the factorial of a greater number is no size


def _number(value: StaticValue) -> float | None:
    dim = as_dim(value)
    if dim is not None:
        constant = dim.constant
        return None if constant is None or constant.bit_length() > 1000 else float(constant)
    return value if isinstance(value, float) and value == value else None


_REAL: list[Callable[..., float]] = [
    *(math.acos, math.asin, math.atan, math.atan2, math.copysign, math.cosh, math.degrees, math.dist, math.erf),
    *(math.erfc, math.expm1, math.fmod, math.gamma, math.hypot, math.lgamma, math.log1p, math.pow, math.radians),
    *(math.sinh, math.tan, math.tanh),
]
_WHOLE: list[Callable[..., int]] = [math.comb, math.factorial, math.gcd, math.lcm, math.perm]

FUNCTIONS: dict[str, Builtin] = {
    **dict.fromkeys(sorted(COUNTS), _count),
    **dict.fromkeys(sorted(NO_OPERATIONS), _nothing),
    "torch.device": _device,
    "torch.jit.is_scripting": _is_scripting,
    "torch.nn.init.calculate_gain": _gain,
    **{f"math.{function.__name__}": _real(function) for function in _REAL},
    **{f"math.{function.__name__}": _whole(function) for function in _WHOLE},
}
