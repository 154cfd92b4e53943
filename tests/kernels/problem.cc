#include "tests/kernels/problem.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "tra/kernels/attention_reference.h"

namespace tra::testing {
namespace {

// Holds a [batch, heads, rows, width] tensor in either memory layout.
template <typename T>
class Tensor {
 public:
  Tensor(size_t batch, size_t heads, size_t rows, size_t width, Layout layout)
      : batch_(batch),
        heads_(heads),
        rows_(rows),
        width_(width),
        layout_(layout),
        data_(batch * heads * rows * width, std::numeric_limits<T>::quiet_NaN()) {}
  Tensor(size_t batch, size_t heads, size_t rows, size_t width, Layout layout, const std::vector<double>& from)
      : Tensor(batch, heads, rows, width, layout) {
    ForEach([&](T* at, size_t i) { *at = static_cast<T>(from[i]); });
  }

  template <typename U>
  Rows<U> View() {
    const auto [b, h, r] = Strides();
    return {data_.data(), b, h, r};
  }
  std::vector<double> Values() {
    std::vector<double> values(data_.size());
    ForEach([&](T* at, size_t i) { values[i] = static_cast<double>(*at); });
    return values;
  }

 private:
  struct Steps {
    ptrdiff_t batch, head, row;
  };
  Steps Strides() const {
    const auto w = static_cast<ptrdiff_t>(width_), r = static_cast<ptrdiff_t>(rows_),
               h = static_cast<ptrdiff_t>(heads_);
    if (layout_ == Layout::kHeadFirst) return {h * r * w, r * w, w};
    return {r * h * w, w, h * w};
  }
  template <typename Body>
  void ForEach(const Body& body) {
    const Rows<T> view = View<T>();
    size_t i = 0;
    for (size_t b = 0; b < batch_; ++b) {
      for (size_t h = 0; h < heads_; ++h) {
        for (size_t r = 0; r < rows_; ++r) {
          for (size_t c = 0; c < width_; ++c) body(view(b, h, r) + c, i++);
        }
      }
    }
  }

  size_t batch_, heads_, rows_, width_;
  Layout layout_;
  std::vector<T> data_;
};

template <typename T>
struct Tensors {
  explicit Tensors(const Problem& p)
      : q(Make(p, p.shape.queries, p.shape.width, p.q)),
        k(Make(p, p.shape.keys, p.shape.width, p.k)),
        v(Make(p, p.shape.keys, p.shape.value_width, p.v)),
        input(MakeInput(p, p.input)),
        d_out(Make(p, p.shape.queries, p.shape.value_width, p.d_out)),
        out(Empty(p, p.shape.queries, p.shape.value_width)),
        d_q(Empty(p, p.shape.queries, p.shape.width)),
        d_k(Empty(p, p.shape.keys, p.shape.width)),
        d_v(Empty(p, p.shape.keys, p.shape.value_width)),
        d_input(MakeInput(p, {})),
        log2_sum(p.Heads() * p.shape.queries, std::numeric_limits<T>::quiet_NaN()),
        first_key(p.Heads() * p.shape.queries, -1) {}

  static Tensor<T> Make(const Problem& p, size_t rows, size_t width, const std::vector<double>& from) {
    return Tensor<T>(p.shape.batch, p.shape.heads, rows, width, p.layout, from);
  }
  static Tensor<T> MakeInput(const Problem& p, const std::vector<double>& from) {
    const auto [batch, heads, rows, width] = p.InputShape();
    return from.empty() ? Tensor<T>(batch, heads, rows, width, p.layout)
                        : Tensor<T>(batch, heads, rows, width, p.layout, from);
  }
  static Tensor<T> Empty(const Problem& p, size_t rows, size_t width) {
    return Tensor<T>(p.shape.batch, p.shape.heads, rows, width, p.layout);
  }

  ForwardArgs<T> Forward(const Problem& p) {
    ForwardArgs<T> args;
    args.shape = p.shape;
    args.q = q.template View<const T>();
    args.k = k.template View<const T>();
    args.v = v.template View<const T>();
    args.rule_input = input.template View<const T>();
    args.out = out.template View<T>();
    args.log2_sum = log2_sum.data();
    args.first_key = first_key.data();
    return args;
  }
  BackwardArgs<T> Backward(const Problem& p) {
    BackwardArgs<T> args;
    args.shape = p.shape;
    args.q = q.template View<const T>();
    args.k = k.template View<const T>();
    args.v = v.template View<const T>();
    args.rule_input = input.template View<const T>();
    args.out = out.template View<const T>();
    args.d_out = d_out.template View<const T>();
    args.log2_sum = log2_sum.data();
    args.first_key = first_key.data();
    args.d_q = d_q.template View<T>();
    args.d_k = d_k.template View<T>();
    args.d_v = d_v.template View<T>();
    args.d_rule_input = d_input.template View<T>();
    return args;
  }
  Result Collect(bool backward) {
    Result result;
    result.out = out.Values();
    result.first_key = first_key;
    if (backward) {
      result.d_q = d_q.Values();
      result.d_k = d_k.Values();
      result.d_v = d_v.Values();
      result.d_input = d_input.Values();
    }
    return result;
  }

  Tensor<T> q, k, v, input, d_out, out, d_q, d_k, d_v, d_input;
  std::vector<T> log2_sum;
  std::vector<int32_t> first_key;
};

}  // namespace

Problem::Problem(const AttentionShape& shape, const AttentionOptions& options, uint32_t seed)
    : shape(shape), options(options) {
  const RuleInfo& rule = InfoOf(options.rule);
  if (this->shape.table == 0 && rule.max_table > 0) this->shape.table = rule.max_table == kAnyTable ? 37 : 13;
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  const auto fill = [&](std::vector<double>& to, size_t n) {
    to.resize(n);
    for (double& each : to) each = normal(random);
  };
  fill(q, Heads() * shape.queries * shape.width);
  fill(k, Heads() * shape.keys * shape.width);
  fill(v, Heads() * shape.keys * shape.value_width);
  const auto [input_batch, input_heads, input_rows, input_width] = InputShape();
  fill(input, input_batch * input_heads * input_rows * input_width);
  fill(d_out, Heads() * shape.queries * shape.value_width);
  if (rule.max_table > 0) return;
  for (double& each : input) each = static_cast<float>(-std::log1p(std::exp(-(2 + each))));
}

std::array<size_t, 4> Problem::InputShape() const {
  const RuleInfo& rule = InfoOf(options.rule);
  if (rule.rows == InputRows::kDistances) return {1, shape.heads, shape.table, 1};
  const size_t rows = rule.rows == InputRows::kKeys ? shape.keys : shape.queries;
  return {shape.batch, shape.heads, rows, rule.max_table > 0 ? shape.table : 1};
}

Result Problem::Forward(size_t workers) const {
  Tensors<float> tensors(*this);
  ThreadPool pool(workers);
  AttentionForward(tensors.Forward(*this), options, pool);
  return tensors.Collect(false);
}

Result Problem::Both(size_t workers) const {
  Tensors<float> tensors(*this);
  ThreadPool pool(workers);
  AttentionForward(tensors.Forward(*this), options, pool);
  AttentionBackward(tensors.Backward(*this), options, pool);
  return tensors.Collect(true);
}

Result Problem::Decode(size_t workers) const {
  Tensors<float> tensors(*this);
  ThreadPool pool(workers);
  ForwardArgs<float> args = tensors.Forward(*this);
  args.log2_sum = nullptr;
  args.first_key = nullptr;
  AttentionDecode(args, options, pool);
  return tensors.Collect(false);
}

Result Problem::Reference(const std::vector<uint8_t>& keep, bool backward) const {
  Tensors<double> tensors(*this);
  const uint8_t* mask = keep.empty() ? nullptr : keep.data();
  AttentionForwardReference(tensors.Forward(*this), options, mask);
  if (backward) AttentionBackwardReference(tensors.Backward(*this), options, mask);
  return tensors.Collect(backward);
}

namespace {

// Calls compute with the arguments for a part of a problem, whose results are filled with NaN and with 255 first.
template <typename T, class Compute>
RowsResult ComputeRows(const Problem& problem, const Rectangle& part, const Compute& compute) {
  Tensors<T> tensors(problem);
  const ForwardArgs<T> inputs = tensors.Forward(problem);
  const size_t rows = problem.Heads() * part.queries, cells = rows * part.keys;
  const auto nans = [](size_t n) { return std::vector<T>(n, std::numeric_limits<T>::quiet_NaN()); };
  std::vector<T> score = nans(cells), position = nans(cells), term = nans(cells), logit = nans(cells);
  std::vector<T> weight = nans(cells), unseen = nans(rows);
  RowsResult result;
  result.state.assign(cells, 255);
  result.stopped_at.assign(rows, -1);
  AttentionRowsArgs<T> args;
  args.shape = problem.shape;
  args.q = inputs.q;
  args.k = inputs.k;
  args.rule_input = inputs.rule_input;
  args.first_query = part.first_query;
  args.queries = part.queries;
  args.first_key = part.first_key;
  args.keys = part.keys;
  args.state = result.state.data();
  args.score = score.data();
  args.position = position.data();
  args.term = term.data();
  args.logit = logit.data();
  args.weight = weight.data();
  args.stopped_at = result.stopped_at.data();
  args.unseen = unseen.data();
  compute(args);
  const auto doubles = [](const std::vector<T>& from) { return std::vector<double>(from.begin(), from.end()); };
  result.score = doubles(score);
  result.position = doubles(position);
  result.term = doubles(term);
  result.logit = doubles(logit);
  result.weight = doubles(weight);
  result.unseen = doubles(unseen);
  return result;
}

}  // namespace

RowsResult Problem::Rows(const Rectangle& part, size_t workers) const {
  return ComputeRows<float>(*this, part, [&](const AttentionRowsArgs<float>& args) {
    ThreadPool pool(workers);
    AttentionRows(args, options, pool);
  });
}

RowsResult Problem::RowsReference(const Rectangle& part, const std::vector<uint8_t>& keep) const {
  return ComputeRows<double>(*this, part, [&](const AttentionRowsArgs<double>& args) {
    AttentionRowsReference(args, options, keep.empty() ? nullptr : keep.data());
  });
}

std::vector<uint8_t> Problem::KernelMask() const {
  Problem probe = *this;
  probe.options.dropout_on = DropoutOn::kNone;
  probe.options.stop_eps = kStopNever;
  probe.SetLogGate(0);  // no decay: every kept key has weight
  constexpr size_t kColumns = 128;
  probe.shape.value_width = kColumns;
  std::vector<uint8_t> mask(Heads() * shape.queries * shape.keys);
  for (size_t first = 0; first < shape.keys; first += kColumns) {
    probe.v.assign(Heads() * shape.keys * kColumns, 0);
    probe.d_out.assign(Heads() * shape.queries * kColumns, 0);
    for (size_t head = 0; head < Heads(); ++head) {
      for (size_t c = 0; c < kColumns && first + c < shape.keys; ++c) {
        probe.v[(head * shape.keys + first + c) * kColumns + c] = 1;
      }
    }
    const Result result = probe.Forward();
    for (size_t row = 0; row < Heads() * shape.queries; ++row) {
      for (size_t c = 0; c < kColumns && first + c < shape.keys; ++c) {
        mask[row * shape.keys + first + c] = result.out[row * kColumns + c] > 0;
      }
    }
  }
  return mask;
}

double Problem::Score(size_t head, size_t i, size_t j) const {
  const double* a = q.data() + (head * shape.queries + i) * shape.width;
  const double* b = k.data() + (head * shape.keys + j) * shape.width;
  double dot = 0, aa = 0, bb = 0;
  for (size_t c = 0; c < shape.width; ++c) {
    dot += a[c] * b[c];
    aa += a[c] * a[c];
    bb += b[c] * b[c];
  }
  const auto width = static_cast<double>(shape.width);
  if (options.qk_norm) dot /= std::sqrt(aa / width + options.norm_eps) * std::sqrt(bb / width + options.norm_eps);
  return dot / std::sqrt(width);
}

double MaxError(const std::vector<double>& a, const std::vector<double>& b) {
  EXPECT_EQ(a.size(), b.size());
  double worst = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    if (std::isnan(a[i]) && std::isnan(b[i])) continue;
    const double error = std::abs(a[i] - b[i]);
    if (!(error <= worst)) worst = error;
    if (std::isnan(worst)) return worst;
  }
  return worst;
}

double MaxAbs(const std::vector<double>& a) { return MaxError(a, std::vector<double>(a.size(), 0.0)); }

bool BitEqual(const std::vector<double>& a, const std::vector<double>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0;
}

size_t CheckMask(const Problem& p, const std::vector<uint8_t>& mask) {
  // S is a chain of `width` fp32 multiply-adds of a normalised pair: if |S| is below this it may round to either side
  // of 0.
  const double tiny = 4e-7 * std::sqrt(static_cast<double>(p.shape.width));
  const size_t past = p.shape.keys - p.shape.queries;
  size_t flips = 0;
  for (size_t head = 0; head < p.Heads(); ++head) {
    for (size_t i = 0; i < p.shape.queries; ++i) {
      for (size_t j = 0; j < p.shape.keys; ++j) {
        const double s = p.Score(head, i, j);
        const bool keep = j <= past + i && (!InfoOf(p.options.rule).drops_keys || s > 0);
        if (keep == (mask[(head * p.shape.queries + i) * p.shape.keys + j] != 0)) continue;
        EXPECT_LE(j, past + i) << "a key of the future was kept";
        EXPECT_LT(std::abs(s), tiny) << "head " << head << " query " << i << " key " << j;
        ++flips;
      }
    }
  }
  return flips;
}

void ExpectMatchesReference(const Problem& problem, bool backward) {
  std::vector<uint8_t> mask;
  if (InfoOf(problem.options.rule).drops_keys) {
    mask = problem.KernelMask();
    CheckMask(problem, mask);
  }
  const Result want = problem.Reference(mask, backward);
  const Result got = backward ? problem.Both() : problem.Forward();
  // Outputs are averages of N(0,1) values; the worst error in all tests is 2.6e-6. Contextual positions are sums of
  // gates, and the slope of z, here N(0,2), magnifies their rounding, to 6.7e-6.
  EXPECT_LT(MaxError(got.out, want.out), problem.options.rule == ScoreRule::kContextual ? 1.5e-5 : 5e-6);
  if (!backward) return;
  // Gradients are sums of up to 1025 terms; relative to the largest of their tensor (or to 1), the worst error is
  // 6.7e-6.
  const auto near = [](const char* name, const std::vector<double>& a, const std::vector<double>& b, double of = 1e-5) {
    EXPECT_LT(MaxError(a, b), of * std::max(1.0, MaxAbs(b))) << name;
  };
  near("d_q", got.d_q, want.d_q);
  near("d_k", got.d_k, want.d_k);
  near("d_v", got.d_v, want.d_v);
  if (InfoOf(problem.options.rule).rows != InputRows::kNone) {
    // These are differences of d_out . v that may cancel to nothing; the worst error is 1.3e-5.
    near("d_input", got.d_input, want.d_input, 3e-5);
  }
}

}  // namespace tra::testing
