"""Compares values and gradients of torch.ops.tra.linear_cross_entropy with the maths in plain torch operations."""

import unittest

import torch
from torch.nn import functional as F

import tra  # noqa: F401, loads the operators


def draw(vocabulary, ignored, dtype=torch.float32):
    g = torch.Generator().manual_seed(vocabulary)
    hidden = torch.randn(3, 20, 16, generator=g).to(dtype).requires_grad_()
    weight = (0.3 * torch.randn(vocabulary, 16, generator=g)).to(dtype).requires_grad_()
    targets = torch.randint(vocabulary, (3, 20), generator=g)
    return hidden, weight, targets.masked_fill(torch.rand(3, 20, generator=g) < ignored, -100)


class LinearCrossEntropyTest(unittest.TestCase):
    def test_matches_plain_operations(self):
        # The tolerances allow for rounding in sums over 60 positions.
        for dtype, tolerance in ((torch.float32, 1e-5), (torch.float64, 1e-12)):
            for vocabulary in (1, 6, 1000):
                for ignored in (0.0, 0.5):
                    with self.subTest(dtype=dtype, vocabulary=vocabulary, ignored=ignored):
                        hidden, weight, targets = draw(vocabulary, ignored, dtype)
                        loss, supervised, correct = torch.ops.tra.linear_cross_entropy(hidden, weight, targets)
                        logits = F.linear(hidden, weight).flatten(0, 1)
                        plain = F.cross_entropy(logits, targets.flatten(), reduction="sum")
                        torch.testing.assert_close(loss, plain, rtol=1e-6, atol=tolerance)
                        self.assertEqual(supervised, (targets >= 0).sum().item())
                        self.assertEqual(correct, (logits.argmax(-1) == targets.flatten()).sum().item())
                        got = torch.autograd.grad(loss / supervised, (hidden, weight))
                        want = torch.autograd.grad(plain / supervised, (hidden, weight))
                        for a, b in zip(got, want):
                            torch.testing.assert_close(a, b, rtol=0, atol=tolerance)

    def test_autocast_does_not_lower_the_logits(self):
        hidden, weight, targets = draw(50, 0.0)
        plain = torch.ops.tra.linear_cross_entropy(hidden, weight, targets)[0]
        with torch.autocast("cpu", dtype=torch.bfloat16):
            self.assertTrue(torch.equal(torch.ops.tra.linear_cross_entropy(hidden, weight, targets)[0], plain))

    def test_a_target_outside_the_vocabulary_is_named(self):
        hidden, weight, targets = draw(6, 0.0)
        targets[1, 2] = 9
        with self.assertRaisesRegex(IndexError, "target 9 is not one of the 6 rows of weight"):
            torch.ops.tra.linear_cross_entropy(hidden, weight, targets)


if __name__ == "__main__":
    unittest.main()
