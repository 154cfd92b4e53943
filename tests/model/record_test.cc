// Tests that a record of a pass shows what the model computed.
#include "tra/model/attention/record.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "tests/model/small.h"
#include "tra/model/attention/variants.h"
#include "tra/model/decoder.h"
#include "tra/ops/attention.h"

namespace tra {
namespace {

using testing::SmallConfig;
using testing::SmallModel;

at::Tensor Tokens() { return at::arange(2 * 40).remainder(11).view({2, 40}).to(at::kLong); }

TEST(Record, RecordingChangesNoBitAndShowsEveryAttentionOfEveryVariant) {
  const c10::NoGradGuard no_grad;
  for (const Variant& variant : Variants()) {
    SCOPED_TRACE(variant.name);
    const std::shared_ptr<Decoder> model = SmallModel(SmallConfig(variant.name));
    AttentionRecord record;
    Pass pass;
    pass.record = &record;
    EXPECT_TRUE(at::equal(model->Logits(Tokens(), pass), model->Logits(Tokens())));
    ASSERT_EQ(record.layers.size(), 2u);
    for (const std::vector<RecordedAttention>& layer : record.layers) {
      ASSERT_EQ(layer.size(), variant.name == std::string("diff") ? 2u : 1u);
      for (const RecordedAttention& each : layer) {
        const AttentionInputs& in = each.inputs;
        const at::Tensor out = Attention(in.q, in.k, in.v, in.rule_input, each.options);
        for (int64_t head = 0; head < each.Heads(); ++head) {
          const at::Tensor weight = each.Rows(1, head).weight;  // [1,1,T,T]
          const at::Tensor shown = at::matmul(weight, in.v.narrow(0, 1, 1).narrow(1, head, 1));
          const at::Tensor error = (shown - out.narrow(0, 1, 1).narrow(1, head, 1)).abs().max();
          EXPECT_LT(error.item<float>(), 1e-5f * (1 + in.v.abs().max().item<float>()));
        }
      }
    }
  }
}

TEST(Record, ASecondPassReplacesTheFirst) {
  const c10::NoGradGuard no_grad;
  const std::shared_ptr<Decoder> model = SmallModel(SmallConfig("tra"));
  AttentionRecord record;
  Pass pass;
  pass.record = &record;
  model->Hidden(Tokens(), pass);
  model->Hidden(Tokens().narrow(1, 0, 7), pass);
  EXPECT_EQ(record.layers[1][0].inputs.q.size(2), 7);
}

TEST(Record, WhatCannotBeRecordedIsRefused) {
  const std::shared_ptr<Decoder> model = SmallModel(SmallConfig("tra"));
  AttentionRecord record;
  Pass pass;
  pass.record = &record;
  model->train();
  EXPECT_THROW(model->Hidden(Tokens(), pass), c10::Error);
  const c10::NoGradGuard no_grad;
  model->eval();
  Cache cache = model->NewCache(64);
  pass.cache = &cache;
  EXPECT_THROW(model->Hidden(Tokens(), pass), c10::Error);
  pass.cache = nullptr;
  model->Hidden(Tokens(), pass);
  EXPECT_THROW(record.layers[0][0].Rows(2, 0), c10::Error);
  EXPECT_THROW(record.layers[0][0].Rows(0, 2), c10::Error);
  EXPECT_THROW(record.layers[0][0].Rows(0, 0, {0, 41}), c10::Error);
}

}  // namespace
}  // namespace tra
