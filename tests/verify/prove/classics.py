"""The closed forms of backwards that the field uses, in plain torch: `f` and `f_backward` of each.

The annotations of the forward say what is proved; those of the backward would repeat them.
"""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float, Int
from torch import Tensor

EPS = 1e-5


# Products


def matmul(a: Float[Tensor, "n k"], b: Float[Tensor, "k m"]) -> Float[Tensor, "n m"]:
    return a @ b


def matmul_backward(grad, a, b):
    return grad @ b.T, a.T @ grad


def matmul_batched(a: Float[Tensor, "b h n k"], b: Float[Tensor, "b h k m"]) -> Float[Tensor, "b h n m"]:
    return a @ b


def matmul_batched_backward(grad, a, b):
    return grad @ b.transpose(-1, -2), a.transpose(-1, -2) @ grad


def matmul_broadcast(a: Float[Tensor, "b n k"], b: Float[Tensor, "k m"]) -> Float[Tensor, "b n m"]:
    return a @ b


def matmul_broadcast_backward(grad, a, b):
    return grad @ b.T, torch.einsum("bnk,bnm->km", a, grad)


def linear(x: Float[Tensor, "b i"], w: Float[Tensor, "o i"], b: Float[Tensor, "o"]) -> Float[Tensor, "b o"]:
    return F.linear(x, w, b)


def linear_backward(grad, x, w, b):
    return grad @ w, grad.T @ x, grad.sum(0)


def bilinear(
    x: Float[Tensor, "b i"], y: Float[Tensor, "b j"], w: Float[Tensor, "o i j"], b: Float[Tensor, "o"]
) -> Float[Tensor, "b o"]:
    return F.bilinear(x, y, w, b)


def bilinear_backward(grad, x, y, w, b):
    return (
        torch.einsum("bo,oij,bj->bi", grad, w, y),
        torch.einsum("bo,oij,bi->bj", grad, w, x),
        torch.einsum("bo,bi,bj->oij", grad, x, y),
        grad.sum(0),
    )


def trace_of_square(a: Float[Tensor, "n n"]) -> Float[Tensor, ""]:
    return (a @ a).diagonal().sum()


def trace_of_square_backward(grad, a):
    return 2 * grad * a.T


def broadcast_product(a: Float[Tensor, "n 1"], b: Float[Tensor, "1 m"]) -> Float[Tensor, "n m"]:
    return a * b


def broadcast_product_backward(grad, a, b):
    return (grad * b).sum(1, keepdim=True), (grad * a).sum(0, keepdim=True)


# Softmax and its kin


def softmax(x: Float[Tensor, "b c"]) -> Float[Tensor, "b c"]:
    return torch.softmax(x, -1)


def softmax_backward(grad, x):
    y = torch.softmax(x, -1)
    return y * (grad - (grad * y).sum(-1, keepdim=True))


def softmax_shifted(x: Float[Tensor, "b c"]) -> Float[Tensor, "b c"]:
    e = torch.exp(x - x.amax(-1, keepdim=True))
    return e / e.sum(-1, keepdim=True)


softmax_shifted_backward = softmax_backward


def softmax_masked(x: Float[Tensor, "b c"], keep: Bool[Tensor, "b c"]) -> Float[Tensor, "b c"]:
    e = torch.where(keep, torch.exp(x), 0.0)
    return e / (e.sum(-1, keepdim=True) + 1)


def softmax_masked_backward(grad, x, keep):
    y = softmax_masked(x, keep)
    return y * (grad - (grad * y).sum(-1, keepdim=True)), None


def log_softmax(x: Float[Tensor, "b c"]) -> Float[Tensor, "b c"]:
    return torch.log_softmax(x, -1)


def log_softmax_backward(grad, x):
    return grad - torch.softmax(x, -1) * grad.sum(-1, keepdim=True)


def logsumexp(x: Float[Tensor, "b c"]) -> Float[Tensor, "b"]:
    return torch.logsumexp(x, -1)


def logsumexp_backward(grad, x):
    return grad[:, None] * torch.softmax(x, -1)


# Normalisation


def _normalised(x, dims, eps):
    scale = torch.rsqrt(x.var(dims, unbiased=False, keepdim=True) + eps)
    return (x - x.mean(dims, keepdim=True)) * scale, scale


def _normalised_backward(grad, x, dims, eps):
    y, scale = _normalised(x, dims, eps)
    return scale * (grad - grad.mean(dims, keepdim=True) - y * (grad * y).mean(dims, keepdim=True))


def layer_norm(x: Float[Tensor, "b t d"], w: Float[Tensor, "d"], b: Float[Tensor, "d"]) -> Float[Tensor, "b t d"]:
    return F.layer_norm(x, x.shape[-1:], w, b, EPS)


def layer_norm_backward(grad, x, w, b):
    y, _ = _normalised(x, -1, EPS)
    return _normalised_backward(grad * w, x, -1, EPS), (grad * y).sum((0, 1)), grad.sum((0, 1))


def rms_norm(x: Float[Tensor, "b d"], w: Float[Tensor, "d"]) -> Float[Tensor, "b d"]:
    return F.rms_norm(x, x.shape[-1:], w, EPS)


def rms_norm_backward(grad, x, w):
    scale = torch.rsqrt((x * x).mean(-1, keepdim=True) + EPS)
    h = grad * w
    return scale * (h - x * scale * scale * (h * x).mean(-1, keepdim=True)), (grad * x * scale).sum(0)


def batch_norm(x: Float[Tensor, "n c l"], w: Float[Tensor, "c"], b: Float[Tensor, "c"]) -> Float[Tensor, "n c l"]:
    return F.batch_norm(x, None, None, w, b, True, 0.1, EPS)


def batch_norm_backward(grad, x, w, b):
    y, _ = _normalised(x, (0, 2), EPS)
    return _normalised_backward(grad * w[:, None], x, (0, 2), EPS), (grad * y).sum((0, 2)), grad.sum((0, 2))


def group_norm(
    x: Float[Tensor, "n g*c l"], w: Float[Tensor, "g*c"], b: Float[Tensor, "g*c"], g: int
) -> Float[Tensor, "n g*c l"]:
    return F.group_norm(x, g, w, b, EPS)


def group_norm_backward(grad, x, w, b, g):
    n = x.shape[0]
    y, _ = _normalised(x.reshape(n, g, -1), -1, EPS)
    inner = _normalised_backward((grad * w[:, None]).reshape(n, g, -1), x.reshape(n, g, -1), -1, EPS)
    return inner.reshape(x.shape), (grad * y.reshape(x.shape)).sum((0, 2)), grad.sum((0, 2)), None


# Activations


def gelu(x: Float[Tensor, "*s"]) -> Float[Tensor, "*s"]:
    return F.gelu(x)


def gelu_backward(grad, x):
    cdf = 0.5 * (1 + torch.erf(x / math.sqrt(2)))
    return grad * (cdf + x * torch.exp(-x * x / 2) / math.sqrt(2 * math.pi))


def gelu_tanh(x: Float[Tensor, "*s"]) -> Float[Tensor, "*s"]:
    return F.gelu(x, approximate="tanh")


def gelu_tanh_backward(grad, x):
    k = math.sqrt(2 / math.pi)
    t = torch.tanh(k * (x + 0.044715 * x**3))
    return grad * (0.5 * (1 + t) + 0.5 * x * (1 - t * t) * k * (1 + 3 * 0.044715 * x * x))


def silu(x: Float[Tensor, "*s"]) -> Float[Tensor, "*s"]:
    return F.silu(x)


def silu_backward(grad, x):
    s = torch.sigmoid(x)
    return grad * s * (1 + x * (1 - s))


def relu(x: Float[Tensor, "*s"]) -> Float[Tensor, "*s"]:
    return torch.relu(x)


def relu_backward(grad, x):
    return grad * (x > 0)


def swiglu(x: Float[Tensor, "b d"], w: Float[Tensor, "f d"], v: Float[Tensor, "f d"]) -> Float[Tensor, "b f"]:
    return F.silu(x @ w.T) * (x @ v.T)


def swiglu_backward(grad, x, w, v):
    a, b = x @ w.T, x @ v.T
    s = torch.sigmoid(a)
    da, db = grad * b * s * (1 + a * (1 - s)), grad * a * s
    return da @ w + db @ v, da.T @ x, db.T @ x


# Losses


def mse(x: Float[Tensor, "b d"], y: Float[Tensor, "b d"]) -> Float[Tensor, ""]:
    return F.mse_loss(x, y)


def mse_backward(grad, x, y):
    d = 2 * grad * (x - y) / x.numel()
    return d, -d


def cross_entropy(z: Float[Tensor, "b c"], y: Int[Tensor, "b"]) -> Float[Tensor, ""]:
    return F.cross_entropy(z, y)


def cross_entropy_backward(grad, z, y):
    return grad * (torch.softmax(z, -1) - F.one_hot(y, z.size(1))) / z.size(0), None


def cross_entropy_smoothed(z: Float[Tensor, "b c"], y: Int[Tensor, "b"]) -> Float[Tensor, ""]:
    return F.cross_entropy(z, y, label_smoothing=0.1)


def cross_entropy_smoothed_backward(grad, z, y):
    target = 0.9 * F.one_hot(y, z.size(1)).to(z.dtype) + 0.1 / z.size(1)
    return grad * (torch.softmax(z, -1) - target) / z.size(0), None


def cross_entropy_ignoring(z: Float[Tensor, "b c"], y: Int[Tensor, "b"]) -> Float[Tensor, ""]:
    return F.cross_entropy(z, y, ignore_index=0)


def cross_entropy_ignoring_backward(grad, z, y):
    kept = (y != 0).to(z.dtype)
    return grad * kept[:, None] * (torch.softmax(z, -1) - F.one_hot(y, z.size(1))) / kept.sum(), None


def cosine_similarity(a: Float[Tensor, "b d"], b: Float[Tensor, "b d"]) -> Float[Tensor, "b"]:
    return (a * b).sum(-1) / (a.norm(dim=-1) * b.norm(dim=-1))


def cosine_similarity_backward(grad, a, b):
    na, nb = a.norm(dim=-1, keepdim=True), b.norm(dim=-1, keepdim=True)
    c = (a * b).sum(-1, keepdim=True) / (na * nb)
    g = grad[:, None]
    return g * (b / (na * nb) - c * a / (na * na)), g * (a / (na * nb) - c * b / (nb * nb))


# Attention


def attention(
    q: Float[Tensor, "b h n d"], k: Float[Tensor, "b h m d"], v: Float[Tensor, "b h m e"]
) -> Float[Tensor, "b h n e"]:
    return F.scaled_dot_product_attention(q, k, v)


def attention_backward(grad, q, k, v):
    s = q.shape[-1] ** -0.5
    p = torch.softmax(q @ k.transpose(-1, -2) * s, -1)
    dp = grad @ v.transpose(-1, -2)
    ds = p * (dp - (dp * p).sum(-1, keepdim=True))
    return ds @ k * s, ds.transpose(-1, -2) @ q * s, p.transpose(-1, -2) @ grad


attention_flash = attention


def attention_flash_backward(grad, q, k, v):
    """The form of flash attention: D is the sum of dO * O over the values."""
    s = q.shape[-1] ** -0.5
    p = torch.softmax(q @ k.transpose(-1, -2) * s, -1)
    d = (grad * (p @ v)).sum(-1, keepdim=True)
    ds = p * (grad @ v.transpose(-1, -2) - d)
    return ds @ k * s, ds.transpose(-1, -2) @ q * s, p.transpose(-1, -2) @ grad


def attention_with_bias(
    q: Float[Tensor, "b h n d"], k: Float[Tensor, "b h m d"], v: Float[Tensor, "b h m e"], bias: Float[Tensor, "n m"]
) -> Float[Tensor, "b h n e"]:
    return F.scaled_dot_product_attention(q, k, v, attn_mask=bias)


def attention_with_bias_backward(grad, q, k, v, bias):
    s = 1 / math.sqrt(q.shape[-1])
    p = torch.softmax(q @ k.transpose(-1, -2) * s + bias, -1)
    dp = grad @ v.transpose(-1, -2)
    ds = p * (dp - (dp * p).sum(-1, keepdim=True))
    return ds @ k * s, ds.transpose(-1, -2) @ q * s, p.transpose(-1, -2) @ grad, ds.sum((0, 1))


def attention_causal(
    q: Float[Tensor, "b n d"], k: Float[Tensor, "b n d"], v: Float[Tensor, "b n e"]
) -> Float[Tensor, "b n e"]:
    n = q.shape[1]
    keep = torch.arange(n)[:, None] >= torch.arange(n)[None, :]
    return torch.softmax((q @ k.mT / math.sqrt(q.shape[-1])).masked_fill(~keep, -math.inf), -1) @ v


def attention_causal_backward(grad, q, k, v):
    n, s = q.shape[1], 1 / math.sqrt(q.shape[-1])
    keep = torch.ones(n, n, dtype=torch.bool).tril()
    e = torch.where(keep, torch.exp(q @ k.mT * s), 0.0)
    p = e / e.sum(-1, keepdim=True)
    ds = p * (grad @ v.mT - (grad @ v.mT * p).sum(-1, keepdim=True))
    return ds @ k * s, ds.mT @ q * s, p.mT @ grad


# Recurrent cells


def lstm_cell(
    x: Float[Tensor, "b i"],
    h: Float[Tensor, "b h"],
    c: Float[Tensor, "b h"],
    w: Float[Tensor, "4*h i"],
    u: Float[Tensor, "4*h h"],
    b: Float[Tensor, "4*h"],
) -> tuple[Float[Tensor, "b h"], Float[Tensor, "b h"]]:
    i, f, g, o = (x @ w.T + h @ u.T + b).chunk(4, 1)
    new = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
    return torch.sigmoid(o) * torch.tanh(new), new


def lstm_cell_backward(grad, x, h, c, w, u, b):
    dh, dc = grad
    i, f, g, o = (x @ w.T + h @ u.T + b).chunk(4, 1)
    i, f, g, o = torch.sigmoid(i), torch.sigmoid(f), torch.tanh(g), torch.sigmoid(o)
    t = torch.tanh(f * c + i * g)
    dc = dc + dh * o * (1 - t * t)
    d = torch.cat((dc * g * i * (1 - i), dc * c * f * (1 - f), dc * i * (1 - g * g), dh * t * o * (1 - o)), 1)
    return d @ w, d @ u, dc * f, d.T @ x, d.T @ h, d.sum(0)


def gru_cell(
    x: Float[Tensor, "b i"],
    h: Float[Tensor, "b h"],
    wr: Float[Tensor, "h i"],
    wz: Float[Tensor, "h i"],
    wn: Float[Tensor, "h i"],
    ur: Float[Tensor, "h h"],
    uz: Float[Tensor, "h h"],
    un: Float[Tensor, "h h"],
    bn: Float[Tensor, "h"],
) -> Float[Tensor, "b h"]:
    r, z = torch.sigmoid(x @ wr.T + h @ ur.T), torch.sigmoid(x @ wz.T + h @ uz.T)
    n = torch.tanh(x @ wn.T + r * (h @ un.T + bn))
    return (1 - z) * n + z * h


def gru_cell_backward(grad, x, h, wr, wz, wn, ur, uz, un, bn):
    r, z = torch.sigmoid(x @ wr.T + h @ ur.T), torch.sigmoid(x @ wz.T + h @ uz.T)
    m = h @ un.T + bn
    n = torch.tanh(x @ wn.T + r * m)
    dn = grad * (1 - z) * (1 - n * n)
    dz = grad * (h - n) * z * (1 - z)
    dm, dr = dn * r, dn * m * r * (1 - r)
    return (
        dr @ wr + dz @ wz + dn @ wn,
        grad * z + dr @ ur + dz @ uz + dm @ un,
        *(each.T @ x for each in (dr, dz, dn)),
        *(each.T @ h for each in (dr, dz, dm)),
        dm.sum(0),
    )


# Convolution, pooling, lookups


def conv1d(x: Float[Tensor, "b c n+k-1"], w: Float[Tensor, "o c k"], b: Float[Tensor, "o"]) -> Float[Tensor, "b o n"]:
    return F.conv1d(x, w, b)


def conv1d_backward(grad, x, w, b):
    dw = F.conv1d(x.transpose(0, 1), grad.transpose(0, 1)).transpose(0, 1)
    return F.conv_transpose1d(grad, w), dw, grad.sum((0, 2))


def conv1d_strided(
    x: Float[Tensor, "b c dilation*(k-1)+stride*m"],
    w: Float[Tensor, "o c k"],
    stride: int,
    padding: int,
    dilation: int,
) -> Float[Tensor, "b o p"]:
    return F.conv1d(x, w, None, stride, padding, dilation)


def conv1d_strided_backward(grad, x, w, stride, padding, dilation):
    n, m, k = x.size(2), grad.size(2), w.size(2)
    beyond = n - ((m - 1) * stride - 2 * padding + dilation * (k - 1) + 1)
    dx = F.conv_transpose1d(grad, w, None, stride, padding, beyond, 1, dilation)
    seen = stride * torch.arange(m)[None, :] + dilation * torch.arange(k)[:, None]
    windows = F.pad(x, (padding, padding))[:, :, seen]
    return dx, torch.einsum("bom,bckm->ock", grad, windows), None, None, None


def conv2d_padded(x: Float[Tensor, "b c n+k-1 m+l-1"], w: Float[Tensor, "o c k l"]) -> Float[Tensor, "b o n+4 m+4"]:
    return F.conv2d(x, w, padding=2)


def conv2d_padded_backward(grad, x, w):
    dw = F.conv2d(x.transpose(0, 1), grad.transpose(0, 1), padding=2).transpose(0, 1)
    return F.conv_transpose2d(grad, w, padding=2), dw


def avg_pool(x: Float[Tensor, "b c n*3"]) -> Float[Tensor, "b c n"]:
    return F.avg_pool1d(x, 3)


def avg_pool_backward(grad, x):
    return grad.repeat_interleave(3, -1) / 3


def embedding(i: Int[Tensor, "b t"], w: Float[Tensor, "v d"]) -> Float[Tensor, "b t d"]:
    return F.embedding(i, w)


def embedding_backward(grad, i, w):
    return None, torch.einsum("btv,btd->vd", F.one_hot(i, w.size(0)).to(grad.dtype), grad)


def embedding_scattered(i: Int[Tensor, "t"], w: Float[Tensor, "v d"]) -> Float[Tensor, "t d"]:
    return w[i]


def embedding_scattered_backward(grad, i, w):
    return None, torch.zeros_like(w).index_add(0, i, grad)


def cumsum(x: Float[Tensor, "b n"]) -> Float[Tensor, "b n"]:
    return x.cumsum(1)


def cumsum_backward(grad, x):
    return grad.flip(1).cumsum(1).flip(1)


def cumprod(x: Float[Tensor, "n"]) -> Float[Tensor, "n"]:
    return x.cumprod(0)


def cumprod_backward(grad, x):
    return (grad * x.cumprod(0)).flip(0).cumsum(0).flip(0) / x


# Blocks


def mlp(
    x: Float[Tensor, "b d"], w: Float[Tensor, "d f"], b: Float[Tensor, "f"], v: Float[Tensor, "f d"]
) -> Float[Tensor, "b d"]:
    return F.gelu(x @ w + b) @ v


def mlp_backward(grad, x, w, b, v):
    a = x @ w + b
    d = gelu_backward(grad @ v.T, a)
    return d @ w.T, x.T @ d, d.sum(0), F.gelu(a).T @ grad


def prenorm_block(x: Float[Tensor, "b d"], w: Float[Tensor, "d"], m: Float[Tensor, "d d"]) -> Float[Tensor, "b d"]:
    return x + F.rms_norm(x, x.shape[-1:], w, EPS) @ m


def prenorm_block_backward(grad, x, w, m):
    scale = torch.rsqrt((x * x).mean(-1, keepdim=True) + EPS)
    u = grad @ m.T
    h = u * w
    dx = scale * (h - x * scale * scale * (h * x).mean(-1, keepdim=True))
    return grad + dx, (u * x * scale).sum(0), (x * scale * w).T @ grad


CLASSICS = {
    name: (forward, globals()[f"{name}_backward"])
    for name, forward in list(globals().items())
    if f"{name}_backward" in globals() and not name.startswith("_")
}
