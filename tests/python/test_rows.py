"""Compares torch.ops.tra.attention_rows with the maths in plain torch operations, and with the fused operators."""

import math
import unittest

import torch
from torch.nn import functional as F

import tra  # noqa: F401  (loads torch.ops.tra)

FUTURE, DROPPED, KEPT, SKIPPED = range(4)


def draw(queries=50, keys=61, width=16, seed=0):
    generator = torch.Generator().manual_seed(seed)
    normal = lambda *shape: torch.randn(*shape, generator=generator)
    q, k, v = normal(2, 3, queries, width), normal(2, 3, keys, width), normal(2, 3, keys, width)
    return q, k, v, F.logsigmoid(2 + normal(2, 3, queries))


class Rows(unittest.TestCase):
    def test_parts_are_those_of_the_equations(self):
        q, k, v, log_gate = draw()
        state, score, position, term, logit, weight, stopped_at, unseen = torch.ops.tra.attention_rows(q, k, log_gate)
        norm = lambda x: x.double() / torch.sqrt((x.double() ** 2).mean(-1, keepdim=True) + 1e-6)
        s = norm(q) @ norm(k).transpose(-1, -2) / math.sqrt(q.shape[-1])
        past = torch.ones(50, 61, dtype=torch.bool).tril(11)
        keep = past & (s > 0)
        self.assertTrue(torch.equal(state, torch.where(keep, KEPT, torch.where(past, DROPPED, FUTURE)).to(torch.uint8)))
        count = keep.double().flip(-1).cumsum(-1).flip(-1) * keep
        self.assertTrue(torch.equal(position.double(), count))
        self.assertLess((score - s * past).abs().max(), 1e-5)
        self.assertLess((term - count * log_gate[..., None]).abs().max(), 1e-5)
        logits = (s + count * log_gate[..., None]).masked_fill(~keep, -math.inf)
        self.assertTrue(torch.equal(logit.isinf(), ~keep))
        weights = torch.softmax(logits, -1).nan_to_num(0)  # rows that keep nothing
        self.assertLess((weight - weights).abs().max(), 1e-6)
        self.assertEqual(stopped_at.abs().max(), 0)  # too short for the walk to stop
        self.assertEqual(unseen.abs().max(), 0)

    def test_weights_times_values_are_the_fused_outputs(self):
        q, k, v, log_gate = draw()
        log_forget = F.logsigmoid(torch.randn(2, 3, 61))
        bias, z = torch.randn(3, 9), torch.randn(2, 3, 50, 8)
        ops = torch.ops.tra
        for rule, rule_input, out in (
            ("softmax", None, ops.softmax_attention(q, k, v)),
            ("threshold", log_gate, ops.attention(q, k, v, log_gate)),
            ("forget", log_forget, ops.forgetting_attention(q, k, v, log_forget)),
            ("distance", bias, ops.distance_attention(q, k, v, bias)),
            ("contextual", z, ops.contextual_attention(q, k, v, z)),
        ):
            with self.subTest(rule):
                weight = ops.attention_rows(q, k, rule_input, rule=rule)[5]
                self.assertLess((weight @ v - out).abs().max(), 1e-5)

    def test_a_part_is_that_part_of_the_whole(self):
        q, k, v, log_gate = draw()
        whole = torch.ops.tra.attention_rows(q, k, log_gate)
        part = torch.ops.tra.attention_rows(q, k, log_gate, first_query=7, last_query=31, first_key=5, last_key=40)
        for a, b in zip(whole[:6], part[:6]):
            self.assertTrue(torch.equal(a[:, :, 7:31, 5:40], b))

    def test_a_part_of_a_long_matrix_needs_no_whole_matrix(self):
        length = 65536  # all of the matrix would be 16 GiB per field
        generator = torch.Generator().manual_seed(1)
        q, k = torch.randn(1, 1, length, 8, generator=generator), torch.randn(1, 1, length, 8, generator=generator)
        log_gate = torch.full((1, 1, length), math.log(0.9))
        state, *_, weight, stopped_at, unseen = torch.ops.tra.attention_rows(
            q, k, log_gate, first_query=length - 16, first_key=length - 1024)
        self.assertEqual(tuple(weight.shape), (1, 1, 16, 1024))
        self.assertGreater(stopped_at.min(), length - 1024)
        self.assertLessEqual(unseen.max(), 2**-26 * 1.0001)
        self.assertTrue((state == SKIPPED).any())
        self.assertEqual(weight[state == SKIPPED].abs().max(), 0)
        self.assertLess((weight.sum(-1) - 1).abs().max(), 1e-5)

    def test_errors_name_the_remedy(self):
        q, k, v, log_gate = draw()
        rows = torch.ops.tra.attention_rows
        for message, call in (
            ("there is no rule 'treshold'; the rules are softmax, threshold", lambda: rows(q, k, rule="treshold")),
            ("queries 3 to 51 were asked for, there are 50", lambda: rows(q, k, log_gate, first_query=3, last_query=51)),
            (r"pass .float\(\).cpu\(\)", lambda: rows(q.double(), k.double(), log_gate.double())),
        ):
            with self.assertRaisesRegex(ValueError, message):
                call()


if __name__ == "__main__":
    unittest.main()
