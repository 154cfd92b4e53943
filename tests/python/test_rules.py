"""Compares the operators of the baselines' score rules with their equations in plain torch."""

import math
import unittest

import torch
from torch.nn import functional as F

import tra  # noqa: F401  (loads the operators)

B, H, D = 2, 3, 16


def scores(q, k):
    queries, keys = q.shape[2], k.shape[2]
    i, j = torch.arange(keys - queries, keys)[:, None], torch.arange(keys)[None, :]
    return q @ k.transpose(-2, -1) / math.sqrt(q.shape[3]), i, j


def softmax(logits, i, j):
    return torch.softmax(logits.masked_fill(j > i, -math.inf), -1)


def forgetting(q, k, v, log_forget):
    s, i, j = scores(q, k)
    sums = log_forget.cumsum(-1)
    return softmax(s + sums[..., -q.shape[2]:, None] - sums[..., None, :], i, j) @ v


def distance(q, k, v, bias):
    s, i, j = scores(q, k)
    return softmax(s + bias[:, (i - j).clamp(0, bias.shape[1] - 1)], i, j) @ v


def contextual(q, k, v, z):
    s, i, j = scores(q, k)
    gates = torch.sigmoid(s).masked_fill(j > i, 0)
    p = (gates.sum(-1, keepdim=True) - gates.cumsum(-1) + gates).clamp(0, z.shape[-1] - 1)
    low = p.floor().long()
    return softmax(s + torch.lerp(z.gather(-1, low), z.gather(-1, p.ceil().long()), p - low), i, j) @ v


def draw(queries, keys):
    g = torch.Generator().manual_seed(queries + keys)
    rand = lambda *shape: torch.randn(*shape, generator=g, dtype=torch.float64)
    q, k, v = rand(B, H, queries, D), rand(B, H, keys, D), rand(B, H, keys, D)
    return (q, k, v), {
        "forgetting": (forgetting, F.logsigmoid(2 + rand(B, H, keys))),
        "distance": (distance, rand(H, 11)),
        "contextual": (contextual, rand(B, H, queries, 7)),
    }


class RulesTest(unittest.TestCase):
    def test_values_and_gradients_match_the_equations(self):
        for queries, keys in ((33, 33), (20, 33)):
            qkv, rules = draw(queries, keys)
            for name, (plain, rule_input) in rules.items():
                for suffix, dtype, atol in (("", torch.float32, 3e-5), ("_composed", torch.float64, 1e-10)):
                    with self.subTest(rule=name + suffix, queries=queries):
                        wide = [x.clone().requires_grad_() for x in (*qkv, rule_input)]
                        fast = [x.to(dtype, copy=True).requires_grad_() for x in (*qkv, rule_input)]
                        want = plain(*wide)
                        got = getattr(torch.ops.tra, name + "_attention" + suffix)(*fast)
                        torch.testing.assert_close(got.double(), want, rtol=0, atol=atol)
                        weight = torch.randn(want.shape, generator=torch.Generator().manual_seed(1), dtype=want.dtype)
                        (want * weight).sum().backward()
                        (got * weight).sum().backward()
                        for a, b in zip(fast, wide):
                            torch.testing.assert_close(a.grad.double(), b.grad, rtol=1e-4, atol=atol)

    def test_decode_is_the_last_row(self):
        (q, k, v), rules = draw(33, 33)
        for name, (_, rule_input) in rules.items():
            q, k, v, rule_input = (x.float() for x in (q, k, v, rule_input))
            whole = getattr(torch.ops.tra, name + "_attention")(q, k, v, rule_input)
            last = rule_input[:, :, -1:] if name == "contextual" else rule_input
            step = getattr(torch.ops.tra, name + "_attention_decode")(q[:, :, -1:], k, v, last)
            torch.testing.assert_close(step, whole[:, :, -1:], rtol=0, atol=5e-6)

    def test_bad_input_is_refused_with_shapes(self):
        (q, k, v), rules = draw(5, 9)
        words = {"forgetting": r"log_forget must be \[batch, head, key\].*log_forget \[2, 3, 8\]",
                 "distance": r"bias must be \[head, distance\].*bias \[2, 11\]",
                 "contextual": r"position_logits must be \[batch, head, query, position\].*\[2, 3, 4, 7\]"}
        bad = {"forgetting": lambda x: x[:, :, :8], "distance": lambda x: x[:2], "contextual": lambda x: x[:, :, :4]}
        for name, (_, rule_input) in rules.items():
            with self.assertRaisesRegex(ValueError, words[name]):
                getattr(torch.ops.tra, name + "_attention")(q, k, v, bad[name](rule_input))
        with self.assertRaisesRegex(ValueError, "log_forget must be at most 0"):
            torch.ops.tra.forgetting_attention(q, k, v, -rules["forgetting"][1])


if __name__ == "__main__":
    unittest.main()
