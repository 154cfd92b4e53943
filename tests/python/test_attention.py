"""Compares values and gradients of torch.ops.tra.* and of the module with the maths in plain torch operations."""

import math
import os
import subprocess
import sys
import unittest

import torch
from torch.nn import functional as F

import tra


def plain(q, k, v, log_gate, qk_norm=True, dropped=None, p=0.0, dropout_on="none", keep=None):
    """Computes Threshold Relative Attention step by step. Returns the output and the scores."""
    if qk_norm:
        q = q / torch.sqrt((q * q).mean(-1, keepdim=True) + 1e-6)
        k = k / torch.sqrt((k * k).mean(-1, keepdim=True) + 1e-6)
    s = torch.einsum("bhid,bhjd->bhij", q, k) / math.sqrt(q.shape[-1])
    queries, keys = s.shape[-2:]
    past = torch.ones(queries, keys, dtype=torch.bool).tril(keys - queries)
    if keep is None:
        keep = past & (s > 0)
    # the distance of key j is the number of kept keys in j..i
    reverse = torch.arange(keys - 1, -1, -1)
    distance = keep.to(s.dtype)[..., reverse].cumsum(-1)[..., reverse]
    logits = s + distance * log_gate[..., None]
    if dropout_on == "logits":
        logits = torch.where(dropped, torch.zeros_like(logits), logits / (1 - p))
    logits = logits.masked_fill(~keep, -1e30)
    weights = torch.exp(logits - logits.detach().amax(-1, keepdim=True)) * keep
    total = weights.sum(-1, keepdim=True)
    weights = weights / torch.where(total == 0, torch.ones_like(total), total)
    if dropout_on == "weights":
        weights = torch.where(dropped, torch.zeros_like(weights), weights / (1 - p))
    return weights @ v, s


def draw(batch=2, heads=3, queries=37, keys=37, width=16, value_width=None, dtype=torch.float32, seed=0):
    g = torch.Generator().manual_seed(seed)
    value_width = value_width or width
    q = torch.randn(batch, heads, queries, width, generator=g)
    k = torch.randn(batch, heads, keys, width, generator=g)
    v = torch.randn(batch, heads, keys, value_width, generator=g)
    log_gate = F.logsigmoid(2 + torch.randn(batch, heads, queries, generator=g))
    return [x.to(dtype).requires_grad_() for x in (q, k, v, log_gate)]


def gradients(out, inputs, seed=1):
    weight = torch.randn(out.shape, generator=torch.Generator().manual_seed(seed)).to(out.dtype)
    return torch.autograd.grad((out * weight).sum(), inputs)


class AttentionTest(unittest.TestCase):
    def compare(self, got_inputs, got, **options):
        """Compares an fp32 result and its gradients with `plain` in float64."""
        wide = [x.detach().double().requires_grad_() for x in got_inputs]
        want, s = plain(*wide, **options)
        # A score that rounds to the other side of 0 would change the distances of other keys; these draws have none.
        self.assertGreater(s.abs().min().item(), 1e-6, "draw other inputs")
        torch.testing.assert_close(got.double(), want, rtol=0, atol=5e-6)
        for a, b in zip(gradients(got, got_inputs), gradients(want, wide)):
            torch.testing.assert_close(a.double(), b, rtol=0, atol=2e-5)

    def test_matches_plain_operations(self):
        for shape in ({}, {"queries": 1, "keys": 1}, {"queries": 5, "keys": 60}, {"queries": 110, "keys": 110},
                      {"width": 59, "value_width": 11}):
            for qk_norm in (True, False):
                with self.subTest(shape=shape, qk_norm=qk_norm):
                    inputs = draw(**shape)
                    self.compare(inputs, torch.ops.tra.attention(*inputs, qk_norm=qk_norm), qk_norm=qk_norm)

    def test_views_are_not_copied_and_match(self):
        x = torch.randn(2, 40, 3, 16, generator=torch.Generator().manual_seed(5))  # [B, T, H, d]
        q, k, v, log_gate = draw(queries=40, keys=40)
        q, k, v = (t.detach().transpose(1, 2).contiguous().transpose(1, 2).requires_grad_() for t in (q, k, v))
        self.assertFalse(q.is_contiguous())
        out = torch.ops.tra.attention(q, k, v, log_gate)
        self.compare([q, k, v, log_gate], out)
        # The output has the layout of q, so that joining the heads is free.
        self.assertTrue(out.transpose(1, 2).is_contiguous())
        # Channels that are not adjacent are the one layout that needs a copy; it works too.
        odd = x.permute(0, 2, 1, 3).transpose(2, 3).contiguous().transpose(2, 3)
        self.assertNotEqual(odd.stride(-1), 1)
        torch.testing.assert_close(torch.ops.tra.attention(odd, k, v, log_gate),
                                   torch.ops.tra.attention(odd.contiguous(), k, v, log_gate), rtol=0, atol=0)

    def test_dropout_drops_what_the_mask_says(self):
        for dropout_on in ("logits", "weights"):
            inputs = draw(queries=50, keys=50)
            dropped = torch.ops.tra.dropout_mask(2, 3, 50, 50, 0.2, 11)
            self.assertTrue(0.15 < dropped.float().mean() < 0.25)
            out = torch.ops.tra.attention(*inputs, dropout_p=0.2, dropout_on=dropout_on, seed=11)
            self.compare(inputs, out, dropped=dropped, p=0.2, dropout_on=dropout_on)
            composed = torch.ops.tra.attention_composed(*inputs, dropout_p=0.2, dropout_on=dropout_on, seed=11)
            self.compare(inputs, composed, dropped=dropped, p=0.2, dropout_on=dropout_on)
        same = torch.ops.tra.attention(*inputs, dropout_p=0.2, dropout_on="none")
        torch.testing.assert_close(same, torch.ops.tra.attention(*inputs), rtol=0, atol=0)

    def test_composed_matches_and_differentiates_in_float64(self):
        inputs = draw(batch=1, heads=2, queries=6, keys=8, width=4, dtype=torch.float64, seed=4)
        torch.testing.assert_close(torch.ops.tra.attention(*inputs), plain(*inputs)[0], rtol=0, atol=1e-12)
        self.assertTrue(torch.autograd.gradcheck(lambda *x: torch.ops.tra.attention(*x), inputs))

    def test_autocast_does_not_lower_the_scores(self):
        half = [x.detach().to(torch.bfloat16) for x in draw(queries=120, keys=120)]
        want = torch.ops.tra.attention(*half)
        with torch.autocast("cpu", dtype=torch.bfloat16):
            self.assertTrue(torch.equal(torch.ops.tra.attention(*half), want))

    def test_nan_values_reach_only_rows_that_keep_them(self):
        q, k, v, log_gate = (x.detach() for x in draw())
        v[:, :, 20] = math.nan
        fast = torch.ops.tra.attention(q, k, v, log_gate).isnan()
        composed = torch.ops.tra.attention_composed(q.double(), k.double(), v.double(), log_gate.double()).isnan()
        self.assertTrue(torch.equal(fast, composed))
        self.assertFalse(fast[:, :, :20].any())
        self.assertTrue(fast.any())

    def test_gates_of_zero_and_one(self):
        q, k, v, log_gate = (x.detach() for x in draw(queries=300, keys=300))
        for value in (0.0, -math.inf):
            gate = torch.full_like(log_gate, value)
            torch.testing.assert_close(torch.ops.tra.attention(q, k, v, gate),
                                       torch.ops.tra.attention_composed(q, k, v, gate), rtol=0, atol=1e-5)

    def test_output_without_gradients_is_no_view(self):
        q, k, v = (torch.randn(2, 9, 3, 8).transpose(1, 2) for _ in range(3))
        with torch.no_grad():
            out = torch.ops.tra.attention(q, k, v, torch.zeros(2, 3, 9))
        out.mul_(torch.ones(1, requires_grad=True))  # would fail on a view made in no_grad mode

    def test_half_precision_counts_beyond_its_own_integers(self):
        q, k, v, log_gate = (x.detach() for x in draw(queries=700, keys=700, heads=1, batch=1))
        log_gate = torch.full_like(log_gate, -0.01)
        half = [x.to(torch.bfloat16) for x in (q, k, v, log_gate)]
        out = torch.ops.tra.attention(*half)
        self.assertEqual(out.dtype, torch.bfloat16)
        want = torch.ops.tra.attention(*[x.float() for x in half])
        torch.testing.assert_close(out.float(), want, rtol=0, atol=0.01)

    def test_rows_that_keep_nothing_are_zero(self):
        k = torch.ones(1, 1, 9, 8)
        q = (-k).requires_grad_()
        v = torch.randn(1, 1, 9, 8)
        gate = torch.full((1, 1, 9), -0.1)
        for op in (torch.ops.tra.attention, torch.ops.tra.attention_composed):
            out = op(q, k, v, gate)
            self.assertEqual(out.abs().max(), 0)
            self.assertEqual(torch.autograd.grad(out.sum(), q)[0].abs().max(), 0)

    def test_softmax_rule(self):
        q, k, v, _ = draw(queries=33, keys=41)
        wide = [x.detach().double().requires_grad_() for x in (q, k, v)]
        s = wide[0] @ wide[1].transpose(-1, -2) / 4
        s = s.masked_fill(~torch.ones(33, 41, dtype=torch.bool).tril(8), -math.inf)
        want = s.softmax(-1) @ wide[2]
        want_gradients = gradients(want, wide)
        for op in (torch.ops.tra.softmax_attention, torch.ops.tra.softmax_attention_composed):
            got = op(q, k, v)
            torch.testing.assert_close(got.double(), want, rtol=0, atol=5e-6)
            for a, b in zip(gradients(got, (q, k, v)), want_gradients):
                torch.testing.assert_close(a.double(), b, rtol=0, atol=2e-5)
        torch.testing.assert_close(torch.ops.tra.softmax_attention_decode(q[:, :, -2:], k, v), want[:, :, -2:].float(),
                                   rtol=0, atol=5e-6)

    def test_decode_equals_the_last_rows(self):
        q, k, v, log_gate = (x.detach() for x in draw(queries=300, keys=300))
        whole = torch.ops.tra.attention(q, k, v, log_gate)
        cache_k = torch.full((2, 3, 512, 16), math.nan)
        cache_v = torch.full((2, 3, 512, 16), math.nan)
        cache_k[:, :, :300], cache_v[:, :, :300] = k, v
        for n in (1, 3, 20):
            got = torch.ops.tra.attention_decode(q[:, :, -n:], cache_k[:, :, :300], cache_v[:, :, :300],
                                                 log_gate[:, :, -n:])
            torch.testing.assert_close(got, whole[:, :, -n:], rtol=0, atol=5e-6)

    def test_early_stop_stays_within_its_bound(self):
        q, k, v, log_gate = (x.detach() for x in draw(queries=900, keys=900, batch=1, heads=2))
        log_gate = torch.full_like(log_gate, math.log(0.5))
        whole = torch.ops.tra.attention(q, k, v, log_gate, stop_eps=0.0)
        for eps in (1e-2, 1e-4, 2.0**-26):
            stopped = torch.ops.tra.attention(q, k, v, log_gate, stop_eps=eps)
            self.assertLessEqual((stopped - whole).abs().max().item(), 2 * eps * v.abs().max().item() + 1e-6)
        torch.testing.assert_close(torch.ops.tra.attention(q, k, v, log_gate, stop_eps=-1.0), whole, rtol=0, atol=0)

    def test_threads_do_not_change_bits(self):
        inputs = draw(queries=300, keys=300)
        before = torch.get_num_threads()
        results = []
        for threads in (1, 2, 3):
            torch.set_num_threads(threads)
            out = torch.ops.tra.attention(*inputs)
            results.append([out.detach(), *gradients(out, inputs)])
        torch.set_num_threads(before)
        for other in results[1:]:
            for a, b in zip(results[0], other):
                self.assertTrue(torch.equal(a, b))

    def test_no_second_derivative_is_an_error_not_a_zero(self):
        inputs = draw(queries=5, keys=5)
        out = torch.ops.tra.attention(*inputs)
        with self.assertRaisesRegex(RuntimeError, "attention_composed"):
            torch.autograd.grad(out.sum(), inputs, create_graph=True)

    def test_bad_input_is_refused_with_shapes(self):
        q, k, v, log_gate = (x.detach() for x in draw())
        call = torch.ops.tra.attention
        for args, words in (
            ((q[0], k, v, log_gate), r"must be \[batch, head, position, channel\].*\[3, 37, 16\]"),
            ((q, k[:1], v, log_gate), r"same batch and heads.*k \[1, 3, 37, 16\]"),
            ((q, k, v[:, :, 1:], log_gate), r"same positions.*v \[2, 3, 36, 16\]"),
            ((q, k[..., 1:], v, log_gate), r"same channels.*k \[2, 3, 37, 15\]"),
            ((q, k[:, :, 1:], v[:, :, 1:], log_gate), "more queries than keys"),
            ((q, k, v, log_gate[:, :, 1:]), r"log_gate must be \[batch, head, query\].*log_gate \[2, 3, 36\]"),
            ((q, k.double(), v, log_gate), r"one dtype, got Float and Double.*\.to\(q\.dtype\)"),
            ((q.long(), k.long(), v.long(), log_gate.long()), "floating point"),
            ((q, k, v, -log_gate), r"at most 0.*logsigmoid"),
        ):
            with self.assertRaisesRegex(ValueError, words):
                call(*args)
        wide = torch.zeros(1, 1, 2, 300)
        with self.assertRaisesRegex(ValueError, "use more heads"):
            call(wide, wide, wide, torch.zeros(1, 1, 2))
        for options, words in (({"dropout_p": 1.0}, "dropout_p"), ({"dropout_on": "values"}, "'logits', 'weights'"),
                               ({"stop_eps": 2.0}, "stop_eps")):
            with self.assertRaisesRegex(ValueError, words):
                call(q, k, v, log_gate, **options)


class ModuleTest(unittest.TestCase):
    def setUp(self):
        torch.manual_seed(0)
        self.module = tra.ThresholdRelativeAttention(24, 3)
        self.x = torch.randn(2, 30, 24)

    def expected(self, x):
        m = self.module

        def heads(y):
            return y.reshape(x.shape[0], x.shape[1], 3, 8).permute(0, 2, 1, 3)

        log_gate = torch.log(torch.sigmoid(x @ m.gate.weight.T + m.gate.bias)).permute(0, 2, 1)
        y, _ = plain(*(heads(x @ w.T) for w in (m.query.weight, m.key.weight, m.value.weight)), log_gate)
        return y.permute(0, 2, 1, 3).reshape(x.shape) @ m.out.weight.T + m.out.bias

    def test_parameters_are_those_of_the_design(self):
        shapes = {name: tuple(p.shape) for name, p in self.module.named_parameters()}
        self.assertEqual(shapes, {
            "query.weight": (24, 24), "key.weight": (24, 24), "value.weight": (24, 24),
            "gate.weight": (3, 24), "gate.bias": (3,), "out.weight": (24, 24), "out.bias": (24,),
        })

    def test_matches_plain_operations(self):
        self.module.eval()
        got, want = self.module(self.x), self.expected(self.x)
        torch.testing.assert_close(got, want, rtol=0, atol=2e-5)
        parameters = list(self.module.parameters())
        for a, b in zip(gradients(got, parameters), gradients(want, parameters)):
            torch.testing.assert_close(a, b, rtol=0, atol=1e-4 * max(1.0, b.abs().max().item()))

    def test_dropout_only_in_training_and_repeatable(self):
        self.module.dropout = 0.3
        self.module.train()
        torch.manual_seed(3)
        first = self.module(self.x)
        second = self.module(self.x)
        torch.manual_seed(3)
        again = self.module(self.x)
        self.assertTrue(torch.equal(first, again))
        self.assertFalse(torch.equal(first, second))
        self.module.eval()
        self.assertTrue(torch.equal(self.module(self.x), self.module(self.x)))

    def test_steps_with_a_cache_equal_the_whole(self):
        self.module.eval()
        with torch.no_grad():
            whole = self.module(self.x)
            cache = self.module.new_cache(2, 30)
            parts = [self.module(self.x[:, :17], cache)]
            parts += [self.module(self.x[:, t : t + 1], cache) for t in range(17, 30)]
        torch.testing.assert_close(torch.cat(parts, 1), whole, rtol=0, atol=1e-5)
        with torch.no_grad(), self.assertRaisesRegex(ValueError, "30 positions, 31 needed"):
            self.module(self.x[:, :1], cache)
        with self.assertRaisesRegex(RuntimeError, "no_grad"):
            self.module(self.x[:, :1], self.module.new_cache(2, 30))

    def test_a_cache_given_another_batch_refuses_it_and_goes_on(self):
        self.module.eval()
        with torch.no_grad():
            whole = self.module(self.x)
            cache = self.module.new_cache(2, 30)
            self.module(self.x[:, :17], cache)
            for other in (self.x[:1], torch.cat([self.x, self.x])):
                with self.assertRaisesRegex(ValueError, "one cache for one batch"):
                    self.module(other[:, 17:18], cache)
            self.assertEqual(cache.length, 17)
            torch.testing.assert_close(self.module(self.x[:, 17:], cache), whole[:, 17:], rtol=0, atol=1e-5)

    def test_a_cache_works_under_autocast(self):
        cache = self.module.new_cache(2, 30)
        with torch.no_grad(), torch.autocast("cpu", dtype=torch.bfloat16):
            self.assertEqual(self.module(self.x, cache).shape, self.x.shape)

    def test_bad_arguments(self):
        for arguments, words in (((10, 3), "multiple"), ((8, 2, 1.5), "dropout"),):
            with self.assertRaisesRegex(ValueError, words):
                tra.ThresholdRelativeAttention(*arguments)
        with self.assertRaisesRegex(ValueError, "dropout_on"):
            tra.ThresholdRelativeAttention(8, 2, dropout_on="sometimes")


class LibraryTest(unittest.TestCase):
    def test_a_missing_library_says_how_to_build_it(self):
        environment = dict(os.environ, TRA_OPS_LIBRARY="/nonexistent/libtra_ops.so")
        done = subprocess.run([sys.executable, "-c", "import tra"], env=environment, capture_output=True, text=True)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("make build", done.stderr)


if __name__ == "__main__":
    unittest.main()
