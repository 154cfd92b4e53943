"""Packed sequences: the *_varlen operators against the same sequences one by one."""

import unittest

import torch
from torch.nn import functional as F

import tra

LENGTHS = (3, 0, 1, 40, 130)
OFFSETS = torch.tensor([0, 3, 3, 4, 44, 174], dtype=torch.int32)
HEADS, WIDTH = 3, 16


def draw():
    g = torch.Generator().manual_seed(1)
    rand = lambda *shape: torch.randn(*shape, generator=g)
    tokens = sum(LENGTHS)
    qkv = [rand(tokens, HEADS, WIDTH) for _ in range(3)]
    return qkv, {
        "attention": F.logsigmoid(2 + rand(tokens, HEADS)),
        "softmax_attention": None,
        "forgetting_attention": F.logsigmoid(2 + rand(tokens, HEADS)),
        "distance_attention": rand(HEADS, 11),
        "contextual_attention": rand(tokens, HEADS, 7),
    }


class VarlenTest(unittest.TestCase):
    def test_every_rule_equals_its_sequences_one_by_one(self):
        qkv, rules = draw()
        for name, rule_input in rules.items():
            with self.subTest(rule=name):
                leaves = [x.clone().requires_grad_() for x in qkv + ([] if rule_input is None else [rule_input])]
                packed = getattr(torch.ops.tra, name + "_varlen")(*leaves, OFFSETS)
                self.assertEqual(packed.shape, (sum(LENGTHS), HEADS, WIDTH))
                packed.square().sum().backward()
                ones = [x.detach().clone().requires_grad_() for x in leaves]
                as_batch = lambda x: x.transpose(0, 1).unsqueeze(0)
                at, total = 0, 0
                for length in LENGTHS:
                    part = lambda x: x if x.shape[0] == HEADS else as_batch(x[at : at + length])
                    y = getattr(torch.ops.tra, name)(*(part(x) for x in ones))
                    self.assertTrue(torch.equal(as_batch(packed[at : at + length]), y))
                    total = total + y.square().sum()
                    at += length
                total.backward()
                for a, b in zip(leaves, ones):
                    torch.testing.assert_close(a.grad, b.grad, rtol=1e-5, atol=1e-5)

    def test_dropout_follows_the_ids_of_the_sequences(self):
        (q, k, v), rules = draw()
        gate = rules["attention"]
        whole = tra.attention_varlen(q, k, v, gate, OFFSETS, dropout_p=0.3, seed=5)
        last = slice(44, 174)
        one = torch.tensor([0, 130], dtype=torch.int32)
        alone = lambda **ids: tra.attention_varlen(q[last], k[last], v[last], gate[last], one, dropout_p=0.3, seed=5, **ids)
        self.assertTrue(torch.equal(alone(sequence_ids=torch.tensor([4])), whole[last]))
        self.assertFalse(torch.equal(alone(), whole[last]))

    def test_bad_offsets_are_value_errors(self):
        (q, k, v), rules = draw()
        gate = rules["attention"]
        for offsets, said in (
            ([1, 174], "must start with 0, got 1"),
            ([0, 9, 5, 174], "has 9 at 1 and 5 at 2"),
            ([0, 175], "the number of tokens, 174, got 175"),
        ):
            with self.assertRaisesRegex(ValueError, said):
                tra.attention_varlen(q, k, v, gate, torch.tensor(offsets, dtype=torch.int32))
        with self.assertRaisesRegex(ValueError, "int32"):
            tra.attention_varlen(q, k, v, gate, torch.tensor([0, 174]))
        with self.assertRaisesRegex(ValueError, "token, head, channel"):
            tra.attention_varlen(q[None], k[None], v[None], gate[None], OFFSETS)


if __name__ == "__main__":
    unittest.main()
