"""Threshold Relative Attention for PyTorch.

`tra.attention` and the other functions are torch.ops.tra.*; `tra.ThresholdRelativeAttention` is a module around them.
"""

from tra._library import load_library

load_library()

from tra.attention import (  # noqa: E402  (the operators must exist first)
    KeyValueCache,
    ThresholdRelativeAttention,
    attention,
    attention_composed,
    attention_decode,
    attention_varlen,
    dropout_mask,
    softmax_attention,
)

__all__ = [
    "KeyValueCache",
    "ThresholdRelativeAttention",
    "attention",
    "attention_composed",
    "attention_decode",
    "attention_varlen",
    "dropout_mask",
    "softmax_attention",
]
