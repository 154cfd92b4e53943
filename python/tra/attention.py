"""Names the operators and defines the attention module. The maths is not here but in the library."""

from typing import Optional, Tuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

attention = torch.ops.tra.attention
attention_composed = torch.ops.tra.attention_composed
attention_decode = torch.ops.tra.attention_decode
attention_varlen = torch.ops.tra.attention_varlen
dropout_mask = torch.ops.tra.dropout_mask
softmax_attention = torch.ops.tra.softmax_attention


class KeyValueCache:
    """Holds the keys and values of the positions so far, with room for `capacity` positions."""

    def __init__(self, batch: int, num_heads: int, capacity: int, head_dim: int, dtype=None, device=None):
        self.length = 0
        self._keys = torch.empty(batch, num_heads, capacity, head_dim, dtype=dtype, device=device)
        self._values = torch.empty_like(self._keys)

    def append(self, k: Tensor, v: Tensor) -> Tuple[Tensor, Tensor]:
        """Adds [B, H, new, d] keys and values; returns views of all of them."""
        batch, heads, _, width = self._keys.shape
        for rows in (k, v):
            if (rows.size(0), rows.size(1), rows.size(3)) != (batch, heads, width) or rows.size(2) != k.size(2):
                raise ValueError(
                    f"cache is for [batch, head, channel] of {[batch, heads, width]}, got [batch, head, position, "
                    f"channel] of {list(rows.shape)}; use one cache for one batch of one module"
                )
        end = self.length + k.size(2)
        capacity = self._keys.size(2)
        if end > capacity:
            raise ValueError(f"cache holds {capacity} positions, {end} needed; make it larger")
        self._keys[:, :, self.length : end] = k
        self._values[:, :, self.length : end] = v
        self.length = end
        return self._keys[:, :, :end], self._values[:, :, :end]


class ThresholdRelativeAttention(nn.Module):
    """Computes causal self-attention with thresholded keys and distances counted over the keys that remain.

    embed_dim is split over num_heads. Dropout applies to the "logits", as in the paper's listing, to the "weights", or
    to "none"; it draws its seed from torch's generator, so torch.manual_seed makes it repeatable.
    """

    def __init__(
        self,
        embed_dim: int,
        num_heads: int,
        dropout: float = 0.01,
        *,
        dropout_on: str = "logits",
        qk_norm: bool = True,
        stop_eps: Optional[float] = None,
    ):
        super().__init__()
        if num_heads < 1 or embed_dim % num_heads != 0:
            raise ValueError(f"embed_dim {embed_dim} is not a multiple of num_heads {num_heads}")
        if not 0.0 <= dropout < 1.0:
            raise ValueError(f"dropout must be in [0, 1), got {dropout}")
        modes = torch.ops.tra.dropout_modes()
        if dropout_on not in modes:
            raise ValueError(f"dropout_on must be one of {', '.join(map(repr, modes))}, got {dropout_on!r}")
        self.embed_dim = embed_dim
        self.num_heads = num_heads
        self.head_dim = embed_dim // num_heads
        self.dropout = dropout
        self.dropout_on = dropout_on
        self.qk_norm = qk_norm
        self.stop = {} if stop_eps is None else {"stop_eps": stop_eps}
        self.query = nn.Linear(embed_dim, embed_dim, bias=False)
        self.key = nn.Linear(embed_dim, embed_dim, bias=False)
        self.value = nn.Linear(embed_dim, embed_dim, bias=False)
        self.gate = nn.Linear(embed_dim, num_heads)
        self.out = nn.Linear(embed_dim, embed_dim)

    def new_cache(self, batch: int, capacity: int) -> KeyValueCache:
        """Returns a cache for step-by-step decoding of up to `capacity` positions."""
        weight = self.key.weight
        return KeyValueCache(batch, self.num_heads, capacity, self.head_dim, weight.dtype, weight.device)

    def forward(self, x: Tensor, cache: Optional[KeyValueCache] = None) -> Tensor:
        """Maps [batch, positions, embed_dim] to the same shape. With a cache, x continues the positions in it."""
        batch, positions, _ = x.shape

        def heads(y: Tensor) -> Tensor:  # [B, T, E] -> [B, H, T, d], a view
            return y.view(batch, positions, self.num_heads, self.head_dim).transpose(1, 2)

        q, k, v = heads(self.query(x)), heads(self.key(x)), heads(self.value(x))
        log_gate = F.logsigmoid(self.gate(x)).transpose(1, 2)  # [B, H, T]
        if cache is not None:
            if torch.is_grad_enabled():
                raise RuntimeError("a cache is for inference and keeps no gradients: use torch.no_grad()")
            k, v = cache.append(k, v)
            # Under autocast the projections may have another dtype than the cache.
            y = attention_decode(q.to(k.dtype), k, v, log_gate.to(k.dtype), qk_norm=self.qk_norm, **self.stop)
        elif self.training and self.dropout > 0.0 and self.dropout_on != "none":
            seed = int(torch.randint(2**63 - 1, ()))
            y = attention(
                q, k, v, log_gate, qk_norm=self.qk_norm, dropout_p=self.dropout, dropout_on=self.dropout_on, seed=seed,
                **self.stop,
            )
        else:
            y = attention(q, k, v, log_gate, qk_norm=self.qk_norm, **self.stop)
        return self.out(y.transpose(1, 2).reshape(batch, positions, self.embed_dim))

    def extra_repr(self) -> str:
        return (
            f"embed_dim={self.embed_dim}, num_heads={self.num_heads}, dropout={self.dropout}, "
            f"dropout_on={self.dropout_on!r}, qk_norm={self.qk_norm}"
        )
