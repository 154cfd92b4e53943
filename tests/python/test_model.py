"""Compares whole models with a decoder of plain torch operations.

Weights are drawn in C++, changed in Python and run in both.
"""

import json
import math
import os
import subprocess
import tempfile
import unittest

import torch
from torch.nn import functional as F

from tra import safetensors

TOOL = os.environ["TRA_PARITY_TOOL"]
SIZES = {"vocabulary": 13, "layers": 2, "heads": 4, "width": 64, "train_length": 12, "max_length": 60, "cope_positions": 9}


class Plain:
    """Computes every variant from its equations, in float64. `w` maps names to tensors; see tra/model/weights.h."""

    def __init__(self, config, w, labels=None):
        self.config, self.w, self.labels = config, w, labels
        self.heads = config["heads"]
        self.width = config["width"] // self.heads

    def linear(self, x, name):
        return F.linear(x, self.w[name + ".weight"], self.w.get(name + ".bias"))

    @staticmethod
    def norm(x, gain=1.0, eps=1e-6):
        return x / torch.sqrt(x.pow(2).mean(-1, keepdim=True) + eps) * gain

    def split(self, x, heads):
        return x.view(*x.shape[:2], heads, -1).transpose(1, 2)

    def rope(self, x):
        half = x.shape[-1] // 2
        frequency = 500000.0 ** (-torch.arange(half, dtype=x.dtype) / half)
        angle = torch.arange(x.shape[2], dtype=x.dtype)[:, None] * frequency
        a, b = x[..., :half], x[..., half:]
        return torch.cat([a * angle.cos() - b * angle.sin(), a * angle.sin() + b * angle.cos()], -1)

    def attention(self, x, layer):
        at = f"layers.{layer}.attention."
        length = x.shape[1]
        kind = self.config["attention"]
        q, k = (self.split(self.linear(x, at + n), self.heads) for n in ("query", "key"))
        v = self.linear(x, at + "value")
        i, j = torch.arange(length)[:, None], torch.arange(length)[None, :]
        causal = j <= i

        def softmax(logits, keep=causal):
            logits = logits.masked_fill(~keep, -1e30)  # finite: a row may keep nothing
            weights = torch.exp(logits - logits.amax(-1, keepdim=True).detach()).masked_fill(~keep, 0)
            return weights / weights.sum(-1, keepdim=True).clamp_min(1e-300)

        def scores(q, k):
            return q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])

        if kind == "diff":
            q, k = self.rope(q), self.rope(k)
            v = self.split(v, self.heads // 2)
            init = 0.8 - 0.6 * math.exp(-0.3 * layer)
            dot = lambda n: (self.w[at + "lambda_q" + n] * self.w[at + "lambda_k" + n]).sum()
            lam = dot("1").exp() - dot("2").exp() + init
            a = softmax(scores(q[:, 0::2], k[:, 0::2])) - lam * softmax(scores(q[:, 1::2], k[:, 1::2]))
            out = self.norm(a @ v, self.w[at + "norm"], 1e-5) * (1 - init)
        else:
            v = self.split(v, self.heads)
            keep = causal
            if kind == "rope":
                q, k = self.rope(q), self.rope(k)
            if kind == "tra":
                q, k = self.norm(q), self.norm(k)
            logits = scores(q, k)
            if kind == "tra":
                keep = causal & (logits > 0)
                gate = F.logsigmoid(self.linear(x, at + "gate")).transpose(1, 2)
                # For each key: how many keys are kept from this one to the query.
                count = torch.stack([keep[..., n:].sum(-1) for n in range(length)], -1)
                logits = logits + count * gate[..., None]
            elif kind == "fot":
                f = F.logsigmoid(self.linear(x, at + "gate")).transpose(1, 2)
                between = (j[0][None, None, :] > j[0][None, :, None]) & (j[0][None, None, :] <= j[0][:, None, None])
                logits = logits + torch.einsum("ijl,bhl->bhij", between.to(f.dtype), f)
            elif kind == "rel":
                logits = logits + self.w[at + "bias"][:, (i - j).clamp(0, self.config["train_length"] - 1)]
            elif kind == "cope":
                gates = torch.sigmoid(logits) * causal
                last = self.config["cope_positions"] - 1
                position = torch.stack([gates[..., n:].sum(-1) for n in range(length)], -1).clamp_max(last)
                z = q @ self.w[at + "positions"] / math.sqrt(self.width)
                low = position.floor().long()
                weight = position - low
                logits = logits + z.gather(-1, low) * (1 - weight) + z.gather(-1, position.ceil().long()) * weight
            out = softmax(logits, keep) @ v
        return self.linear(out.transpose(1, 2).reshape(x.shape), at + "out")

    def mlp(self, x, layer):
        up, gate = self.linear(x, f"layers.{layer}.mlp.up").chunk(2, -1)
        return self.linear(up * F.silu(gate), f"layers.{layer}.mlp.down")

    def logits(self, tokens):
        x = self.w["embedding"][tokens]
        if self.config["attention"] == "ape":
            x = x + self.w["positions"][: tokens.shape[1]]
        if self.labels is not None:
            x = x + self.w["positions"][self.labels]
        for n in range(self.config["layers"]):
            first, second = self.w[f"layers.{n}.attention_norm"], self.w[f"layers.{n}.mlp_norm"]
            if self.config["block"] == "prenorm":
                x = x + self.attention(self.norm(x, first), n)
                x = x + self.mlp(self.norm(x, second), n)
            else:
                x = self.norm(x, first)
                x = x + self.attention(x, n)
                x = self.norm(x, second)
                x = x + self.mlp(x, n)
        return F.linear(self.norm(x, self.w["norm"]), self.w["head"])


class ModelParity(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.TemporaryDirectory()
        self.addCleanup(self.directory.cleanup)

    def path(self, name):
        return os.path.join(self.directory.name, name)

    def compare(self, attention, block):
        config = dict(SIZES, attention=attention, block=block)
        subprocess.run([TOOL, "init", json.dumps(config), self.path("drawn")], check=True)
        weights, metadata = safetensors.load(self.path("drawn"))
        self.assertEqual(json.loads(metadata["config"])["attention"], attention)
        g = torch.Generator().manual_seed(3)
        for name, each in weights.items():  # larger weights, so that attention matters; still fp32
            spread = 0.15 if each.ndim == 2 else 0.3
            weights[name] = (torch.from_numpy(each.copy()) + spread * torch.randn(each.shape, generator=g)).numpy()
        safetensors.save(self.path("changed"), weights, metadata)
        tokens = torch.randint(13, (6, 45), generator=g)  # longer than train_length
        targets = torch.randint(-3, 13, (6, 45), generator=g)  # some are not supervised
        safetensors.save(self.path("input"), {"tokens": tokens.numpy(), "targets": targets.numpy()})
        subprocess.run([TOOL, "run", self.path("changed"), self.path("input"), self.path("output")], check=True)
        output = {name: torch.from_numpy(each.copy()) for name, each in safetensors.load(self.path("output"))[0].items()}

        plain_weights = {name: torch.from_numpy(each.copy()).double().requires_grad_() for name, each in weights.items()}
        logits = Plain(config, plain_weights, output.get("labels")).logits(tokens)
        loss = F.cross_entropy(logits.flatten(0, 1), targets.masked_fill(targets < 0, -100).flatten(), reduction="sum")
        loss.backward()
        # Logits are about 3; the tolerance allows for two layers in fp32.
        torch.testing.assert_close(output["logits"].double(), logits.detach(), rtol=0, atol=5e-5)
        torch.testing.assert_close(output["loss"].double(), loss.detach(), rtol=1e-5, atol=0)
        for name, each in plain_weights.items():
            scale = max(1.0, each.grad.abs().max().item())
            torch.testing.assert_close(output["grad." + name].double(), each.grad, rtol=0, atol=2e-4 * scale,
                                       msg=lambda text: f"{attention} {block} {name}: {text}")


for variant in "nope ape rel rope label fot diff cope tra".split():
    for wiring in ("prenorm", "normed-residual"):
        def test(self, variant=variant, wiring=wiring):
            self.compare(variant, wiring)

        setattr(ModelParity, f"test_{variant}_{wiring.replace('-', '_')}", test)

if __name__ == "__main__":
    unittest.main()
