"""What LibTorch may ask of any operator: to be traced, to be differentiated forwards, to read views that lie."""

import unittest

import torch
from torch.autograd import forward_ad
from torch.fx.experimental.proxy_tensor import make_fx
from torch.nn import functional as F

import tra  # noqa: F401  (loads the operators)

B, H, T, D = 2, 3, 17, 8


def rand(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def calls():
    """Returns a call of each operator: its name, its inputs and its other arguments."""
    q, k, v = rand(B, H, T, D), rand(B, H, T, D, seed=1), rand(B, H, T, D, seed=2)
    gate, x, gain = F.logsigmoid(rand(B, H, T)), rand(B, T, 2 * D), rand(2 * D, seed=1)
    flat = [y.transpose(1, 2).reshape(B * T, H, D) for y in (q, k, v)]
    starts = torch.tensor([0, T, 2 * T], dtype=torch.int32)
    return [
        ("attention", [q, k, v, gate], {}),
        ("attention", [q, k, v, gate], {"dropout_p": 0.3, "seed": 5}),
        ("attention_decode", [q[:, :, -1:], k, v, gate[..., -1:]], {}),
        ("attention_varlen", [*flat, gate.transpose(1, 2).reshape(B * T, H), starts], {}),
        ("softmax_attention", [q, k, v], {}),
        ("forgetting_attention", [q, k, v, gate], {}),
        ("distance_attention", [q, k, v, rand(H, 5)], {}),
        ("contextual_attention", [q, k, v, rand(B, H, T, 4)], {}),
        ("rms_norm", [x, gain], {}),
        ("add_rms_norm", [x, rand(B, T, 2 * D, seed=3), gain], {}),
        ("swiglu", [x], {}),
        ("swiglu", [x], {"dropout_p": 0.3, "seed": 5}),
        ("dropout", [x], {"p": 0.3, "seed": 5}),
        ("rope", [q], {}),
        ("linear_cross_entropy", [rand(T, D), rand(11, D), torch.arange(T) % 11], {}),
    ]


def run(name, inputs, options):
    out = getattr(torch.ops.tra, name)(*inputs, **options)
    return [y for y in (out if isinstance(out, tuple) else (out,)) if isinstance(y, torch.Tensor)]


class OperatorTest(unittest.TestCase):
    def assert_same(self, got, want):
        for a, b in zip(got, want):
            self.assertTrue(torch.equal(a, b))

    def test_a_trace_calls_the_operator_and_computes_on_new_inputs(self):
        for name, inputs, options in calls():
            with self.subTest(name, **options):
                traced = make_fx(lambda *given: run(name, given, options))(*inputs)
                self.assertIn(f"tra.{name}", str(traced.graph))
                floats = [x for x in inputs if x.is_floating_point()]
                others = [x * 0.5 if x.is_floating_point() else x for x in inputs]
                self.assertTrue(floats)
                self.assert_same(traced(*others), run(name, others, options))

    def test_a_trace_of_a_mask_is_not_of_the_memory_that_it_allocates(self):
        traced = make_fx(lambda: torch.ops.tra.dropout_mask(1, 1, 4, 4, 0.5, 3))()
        self.assertTrue(torch.equal(traced(), torch.ops.tra.dropout_mask(1, 1, 4, 4, 0.5, 3)))

    def test_a_trace_with_gradients_is_refused(self):
        for name, inputs, options in calls():
            with self.subTest(name, **options):
                inputs = [x.clone().requires_grad_() if x.is_floating_point() else x for x in inputs]
                with self.assertRaisesRegex(RuntimeError, "cannot be traced with its gradients"):
                    make_fx(lambda *given: run(name, given, options))(*inputs)
                with torch.no_grad():
                    self.assert_same(make_fx(lambda *given: run(name, given, options))(*inputs)(*inputs),
                                     run(name, inputs, options))

    def test_forward_mode_is_refused_by_the_kernels(self):
        for name, inputs, options in calls():
            for at, x in enumerate(inputs):
                if not x.is_floating_point():
                    continue
                with self.subTest(name, at=at, **options), forward_ad.dual_level():
                    given = list(inputs)
                    given[at] = forward_ad.make_dual(x, torch.ones_like(x))
                    with self.assertRaisesRegex(RuntimeError, "has no forward-mode derivative"):
                        run(name, given, options)

    def test_forward_mode_works_where_operations_are_composed(self):
        q, k, v, gate = (x.double() for x in calls()[0][1])
        tangent = rand(B, H, T, D, seed=7).double()
        with forward_ad.dual_level():
            out = torch.ops.tra.attention(forward_ad.make_dual(q, tangent), k, v, gate)
            got = forward_ad.unpack_dual(out).tangent
        step = 1e-6
        ahead, behind = (torch.ops.tra.attention(q + sign * step * tangent, k, v, gate) for sign in (1, -1))
        torch.testing.assert_close(got, (ahead - behind) / (2 * step), rtol=1e-5, atol=1e-6)

    def test_negative_views_are_read_as_what_they_stand_for(self):
        for name, inputs, options in calls():
            for at, x in enumerate(inputs):
                if not x.is_floating_point():
                    continue
                with self.subTest(name, at=at, **options):
                    given = list(inputs)
                    given[at] = torch._neg_view(-x)
                    self.assertTrue(given[at].is_neg())
                    self.assert_same(run(name, given, options), run(name, inputs, options))

    def test_gradients_of_and_through_negative_views(self):
        for name, inputs, options in calls():
            if name == "attention_decode":  # has no gradient
                continue
            with self.subTest(name, **options):
                leaves = [x.clone().requires_grad_() for x in inputs if x.is_floating_point()]
                others = [x for x in inputs if not x.is_floating_point()]
                out = run(name, [*leaves, *others], options)[-1]
                want = torch.autograd.grad(out, leaves, torch.ones_like(out), retain_graph=True)
                if out.dim() > 0:
                    self.assert_same(torch.autograd.grad(out, leaves, torch._neg_view(-torch.ones_like(out))), want)
                out = run(name, [*(torch._neg_view(-x) for x in leaves), *others], options)[-1]
                self.assert_same(torch.autograd.grad(out, leaves, torch.ones_like(out)), want)


if __name__ == "__main__":
    unittest.main()
