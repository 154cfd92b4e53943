#include "tra/kernels/attention_reference.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>
#include <vector>

#include "tra/kernels/attention/rules.h"
#include "tra/kernels/dropout_draws.h"
#include "tra/kernels/log2.h"

namespace tra {
namespace {

using Vector = std::vector<double>;

// Returns x / sqrt(mean(x^2) + eps), or x without QK-norm.
template <typename T>
Vector Normalise(const T* x, size_t width, const AttentionOptions& options) {
  Vector out(x, x + width);
  if (!options.qk_norm) return out;
  double squares = 0;
  for (const double each : out) squares += each * each;
  for (double& each : out) each /= std::sqrt(squares / static_cast<double>(width) + options.norm_eps);
  return out;
}

// forward: y = x / r, r = sqrt(mean(x^2) + eps)   so: dx = (dy - y * mean(y * dy)) / r
template <typename T>
Vector NormaliseBackward(const T* x, const Vector& d_y, const AttentionOptions& options) {
  if (!options.qk_norm) return d_y;
  const size_t width = d_y.size();
  double squares = 0;
  for (size_t c = 0; c < width; ++c) squares += static_cast<double>(x[c]) * x[c];
  const double r = std::sqrt(squares / static_cast<double>(width) + options.norm_eps);
  double mean = 0;
  for (size_t c = 0; c < width; ++c) mean += x[c] / r * d_y[c] / static_cast<double>(width);
  Vector d_x(width);
  for (size_t c = 0; c < width; ++c) d_x[c] = (d_y[c] - x[c] / r * mean) / r;
  return d_x;
}

double Dot(const Vector& a, const Vector& b) {
  double sum = 0;
  for (size_t c = 0; c < a.size(); ++c) sum += a[c] * b[c];
  return sum;
}

// Holds one row of the attention matrix and the steps that led to it, by key.
struct Row {
  std::vector<uint8_t> keep;
  Vector count;  // kept keys from this one, included, to the query
  std::vector<uint8_t> dropped;
  Vector weight;  // after the softmax, before weight dropout
  double log2_sum;
  Vector s;         // q.k / sqrt(width), of dropped keys too
  Vector position;  // kContextual: p, before it is limited to the table
  Vector term;      // what the rule adds to s
};

constexpr double kStrongestForget = -16384 * kLn2;  // replaces the log of a gate of 0, as in the kernels

double Sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

struct Head {
  const AttentionShape& shape;
  const AttentionOptions& options;
  size_t batch, head;
  std::vector<Vector> q, k;          // normalised
  std::vector<Vector> raw_q, raw_k;  // as given
  std::vector<Vector> input;         // the rule's input: one vector per query or key, or (kDistance) the table
  const uint8_t* keep;               // [query, key] or null

  double KeepScale() const { return 1.0 / (1.0 - static_cast<double>(options.dropout_p)); }

  Row Attend(size_t i) const {
    const size_t position = shape.keys - shape.queries + i;
    const uint64_t seed = SequenceSeed(options.seed, options.sequence_ids, batch);
    const bool threshold = options.rule == ScoreRule::kThreshold;
    const DropoutOn dropout = options.dropout_p > 0 ? options.dropout_on : DropoutOn::kNone;
    Row row{std::vector<uint8_t>(shape.keys),
            Vector(shape.keys),
            std::vector<uint8_t>(shape.keys),
            Vector(shape.keys),
            0,
            Vector(shape.keys),
            Vector(shape.keys),
            Vector(shape.keys)};
    Vector logit(shape.keys, -std::numeric_limits<double>::infinity());
    double count = 0, walked = 0;
    double largest = -std::numeric_limits<double>::infinity();
    for (size_t j = position + 1; j-- > 0;) {  // right to left
      const double s = Dot(q[i], k[j]) / std::sqrt(static_cast<double>(shape.width));
      // Normalising changes no sign, but may round an exact 0 to something else, so the rows as given decide.
      const bool passes = !(Dot(raw_q[i], raw_k[j]) <= 0) || std::isnan(s);
      const bool kept = !threshold || (keep != nullptr ? keep[i * shape.keys + j] != 0 : passes);
      row.s[j] = s;
      if (!kept) continue;
      row.keep[j] = 1;
      row.count[j] = ++count;
      switch (options.rule) {
        case ScoreRule::kSoftmax:
          break;
        case ScoreRule::kThreshold:
          row.term[j] = count * input[i][0];
          break;
        case ScoreRule::kForget:
          row.term[j] = walked;
          walked += std::max(input[j][0], kStrongestForget);
          break;
        case ScoreRule::kDistance:
          row.term[j] = input[0][std::min(position - j, shape.table - 1)];
          break;
        case ScoreRule::kContextual:
          row.position[j] = walked += Sigmoid(s);
          const Between at = Interpolate(row.position[j]);
          row.term[j] = (1 - at.weight) * input[i][at.low] + at.weight * input[i][at.high];
          break;
      }
      logit[j] = s + row.term[j];
      if (dropout != DropoutOn::kNone) row.dropped[j] = Dropped(seed, options.dropout_p, head, position, j);
      if (dropout == DropoutOn::kLogits) logit[j] = row.dropped[j] ? 0 : logit[j] * KeepScale();
      if (!(logit[j] <= largest)) largest = logit[j];
    }
    double sum = 0;
    for (size_t j = 0; j <= position; ++j) {
      if (row.keep[j]) sum += row.weight[j] = std::exp(logit[j] - largest);
    }
    for (double& weight : row.weight) weight = sum == 0 ? 0 : weight / sum;
    // The kernels count from 0 where that makes no difference to the weights.
    const double shift = threshold && dropout != DropoutOn::kLogits ? input[i][0] : 0;
    row.log2_sum =
        sum == 0 ? std::numeric_limits<double>::infinity() : (largest - shift) / std::log(2.0) + std::log2(sum);
    return row;
  }

  struct Between {
    size_t low, high;
    double weight;  // weight of `high`; `low` has 1 minus this
  };
  Between Interpolate(double position) const {
    const double last = static_cast<double>(shape.table - 1);
    const double p = position < last ? position : last;  // NaN becomes an index too; s still carries the NaN
    return {static_cast<size_t>(std::floor(p)), static_cast<size_t>(std::ceil(p)), p - std::floor(p)};
  }

  // Returns what multiplies v: the weight after weight dropout.
  double Mix(const Row& row, size_t j) const {
    if (options.dropout_on != DropoutOn::kWeights || options.dropout_p == 0) return row.weight[j];
    return row.dropped[j] ? 0 : row.weight[j] * KeepScale();
  }
};

template <typename Args>
Head MakeHead(const Args& args, const AttentionOptions& options, const uint8_t* keep, size_t b, size_t h) {
  const AttentionShape& shape = args.shape;
  const size_t index = b * shape.heads + h;
  Head head{shape, options, b,  h,  {},
            {},    {},      {}, {}, keep == nullptr ? nullptr : keep + index * shape.queries * shape.keys};
  for (size_t i = 0; i < shape.queries; ++i) {
    head.q.push_back(Normalise(args.q(b, h, i), shape.width, options));
    head.raw_q.emplace_back(args.q(b, h, i), args.q(b, h, i) + shape.width);
    if (options.rule == ScoreRule::kThreshold) head.input.push_back({*args.rule_input(b, h, i)});
    if (options.rule == ScoreRule::kContextual) {
      head.input.emplace_back(args.rule_input(b, h, i), args.rule_input(b, h, i) + shape.table);
    }
  }
  if (options.rule == ScoreRule::kDistance) {
    Vector table;
    for (size_t d = 0; d < shape.table; ++d) table.push_back(*args.rule_input(0, h, d));
    head.input.push_back(table);
  }
  for (size_t j = 0; j < shape.keys; ++j) {
    head.k.push_back(Normalise(args.k(b, h, j), shape.width, options));
    head.raw_k.emplace_back(args.k(b, h, j), args.k(b, h, j) + shape.width);
    if (options.rule == ScoreRule::kForget) head.input.push_back({*args.rule_input(b, h, j)});
  }
  return head;
}

template <typename T>
void ForwardHead(const ForwardArgs<T>& args, const Head& head, size_t b, size_t h) {
  const AttentionShape& shape = args.shape;
  for (size_t i = 0; i < shape.queries; ++i) {
    const Row row = head.Attend(i);
    Vector out(shape.value_width);
    for (size_t j = 0; j < shape.keys; ++j) {
      if (!row.keep[j]) continue;  // skipped, not multiplied by 0: v may be NaN
      for (size_t c = 0; c < shape.value_width; ++c) out[c] += head.Mix(row, j) * args.v(b, h, j)[c];
    }
    std::copy(out.begin(), out.end(), args.out(b, h, i));
    const size_t at = shape.QueryIndex(b, h, i);
    if (args.log2_sum != nullptr) args.log2_sum[at] = static_cast<T>(row.log2_sum);
    if (args.first_key != nullptr) args.first_key[at] = 0;
  }
}

template <typename T>
void StoreInput(const BackwardArgs<T>& args, const std::vector<Vector>& d_input, ScoreRule rule, size_t b, size_t h) {
  for (size_t row = 0; row < d_input.size(); ++row) {
    for (size_t c = 0; c < d_input[row].size(); ++c) {
      // The batch shares the table, so its gradients are added up.
      T& to = rule == ScoreRule::kDistance ? *args.d_rule_input(0, h, c) : args.d_rule_input(b, h, row)[c];
      to = static_cast<T>(d_input[row][c]) + (rule == ScoreRule::kDistance && b > 0 ? to : 0);
    }
  }
}

template <typename T>
void BackwardHead(const BackwardArgs<T>& args, const Head& head, size_t b, size_t h) {
  const AttentionShape& shape = args.shape;
  const AttentionOptions& options = head.options;
  const double scale = 1.0 / std::sqrt(static_cast<double>(shape.width));
  std::vector<Vector> d_k(shape.keys, Vector(shape.width));
  std::vector<Vector> d_v(shape.keys, Vector(shape.value_width));
  std::vector<Vector> d_input;
  for (const Vector& each : head.input) d_input.emplace_back(each.size());
  for (size_t i = 0; i < shape.queries; ++i) {
    const Row row = head.Attend(i);
    const T* d_out = args.d_out(b, h, i);
    // forward: out += mix * v   so: dv += mix * d_out, d_mix = d_out . v
    Vector d_weight(shape.keys);
    double inner = 0;
    for (size_t j = 0; j < shape.keys; ++j) {
      if (!row.keep[j]) continue;
      const double mix = head.Mix(row, j);
      double d_mix = 0;
      for (size_t c = 0; c < shape.value_width; ++c) {
        d_mix += static_cast<double>(d_out[c]) * args.v(b, h, j)[c];
        d_v[j][c] += mix * d_out[c];
      }
      const bool weights = options.dropout_on == DropoutOn::kWeights && options.dropout_p > 0;
      d_weight[j] = !weights ? d_mix : row.dropped[j] ? 0 : d_mix * head.KeepScale();
      inner += row.weight[j] * d_weight[j];
    }
    Vector d_q(shape.width);
    const size_t position = shape.keys - shape.queries + i;
    double d_behind = 0;  // kContextual: summed gradients of the positions of keys 0..j
    for (size_t j = 0; j < shape.keys; ++j) {
      if (!row.keep[j]) continue;
      double d_logit = row.weight[j] * (d_weight[j] - inner);
      if (options.dropout_on == DropoutOn::kLogits && options.dropout_p > 0) {
        d_logit = row.dropped[j] ? 0 : d_logit * head.KeepScale();
      }
      double d_s = d_logit;
      switch (options.rule) {
        case ScoreRule::kSoftmax:
          break;
        case ScoreRule::kThreshold:
          d_input[i][0] += d_logit * row.count[j];
          break;
        case ScoreRule::kForget:
          for (size_t l = j + 1; l <= position; ++l) d_input[l][0] += d_logit;
          break;
        case ScoreRule::kDistance:
          d_input[0][std::min(position - j, shape.table - 1)] += d_logit;
          break;
        case ScoreRule::kContextual:
          const Head::Between at = head.Interpolate(row.position[j]);
          d_input[i][at.low] += d_logit * (1 - at.weight);
          d_input[i][at.high] += d_logit * at.weight;
          // forward: p of this key and of all behind it += sigmoid(s)
          d_behind += d_logit * (head.input[i][at.high] - head.input[i][at.low]);
          d_s += d_behind * Sigmoid(row.s[j]) * (1 - Sigmoid(row.s[j]));
          break;
      }
      for (size_t c = 0; c < shape.width; ++c) {
        d_q[c] += d_s * scale * head.k[j][c];
        d_k[j][c] += d_s * scale * head.q[i][c];
      }
    }
    const Vector d_raw = NormaliseBackward(args.q(b, h, i), d_q, options);
    std::copy(d_raw.begin(), d_raw.end(), args.d_q(b, h, i));
  }
  StoreInput(args, d_input, options.rule, b, h);
  for (size_t j = 0; j < shape.keys; ++j) {
    const Vector d_raw = NormaliseBackward(args.k(b, h, j), d_k[j], options);
    std::copy(d_raw.begin(), d_raw.end(), args.d_k(b, h, j));
    std::copy(d_v[j].begin(), d_v[j].end(), args.d_v(b, h, j));
  }
}

template <typename T>
void RowsOfHead(const AttentionRowsArgs<T>& args, const Head& head, size_t b, size_t h) {
  const AttentionShape& shape = args.shape;
  const auto write = [](auto* to, size_t at, auto value) {
    if (to != nullptr) to[at] = static_cast<std::remove_pointer_t<decltype(to)>>(value);
  };
  for (size_t i = 0; i < args.queries; ++i) {
    const Row row = head.Attend(args.first_query + i);
    const size_t position = shape.keys - shape.queries + args.first_query + i;
    const size_t of_row = (b * shape.heads + h) * args.queries + i;
    write(args.stopped_at, of_row, 0);
    write(args.unseen, of_row, 0);
    for (size_t j = args.first_key; j < args.first_key + args.keys; ++j) {
      const size_t at = of_row * args.keys + j - args.first_key;
      const bool kept = row.keep[j] != 0;
      const KeyState state = j > position ? KeyState::kFuture : kept ? KeyState::kKept : KeyState::kDropped;
      double distance = static_cast<double>(position) - static_cast<double>(j);
      if (head.options.rule == ScoreRule::kThreshold) distance = row.count[j];
      if (head.options.rule == ScoreRule::kContextual) {
        distance = std::min(row.position[j], static_cast<double>(shape.table - 1));
      }
      write(args.state, at, state);
      write(args.score, at, row.s[j]);
      write(args.position, at, kept ? distance : 0);
      write(args.term, at, row.term[j]);
      write(args.logit, at, kept ? row.s[j] + row.term[j] : -std::numeric_limits<double>::infinity());
      write(args.weight, at, row.weight[j]);
    }
  }
}

template <typename Args, typename Body>
void ForEachHead(const Args& args, const AttentionOptions& options, const uint8_t* keep, const Body& body) {
  CheckProblem(args.shape, options);
  for (size_t b = 0; b < args.shape.batch; ++b) {
    Args of_sequence = args;
    of_sequence.shape.queries = args.shape.Queries(b);
    of_sequence.shape.keys = args.shape.Keys(b);
    for (size_t h = 0; h < args.shape.heads; ++h) body(of_sequence, MakeHead(of_sequence, options, keep, b, h), b, h);
  }
}

}  // namespace

template <typename T>
void AttentionForwardReference(const ForwardArgs<T>& args, const AttentionOptions& options, const uint8_t* keep) {
  ForEachHead(args, options, keep, ForwardHead<T>);
}

template <typename T>
void AttentionBackwardReference(const BackwardArgs<T>& args, const AttentionOptions& options, const uint8_t* keep) {
  ForEachHead(args, options, keep, BackwardHead<T>);
}

template <typename T>
void AttentionRowsReference(const AttentionRowsArgs<T>& args, const AttentionOptions& options, const uint8_t* keep) {
  AttentionRowsArgs<T> checked = args;
  checked.shape.value_width = 1;
  ForEachHead(checked, options, keep, RowsOfHead<T>);
}

template void AttentionRowsReference(const AttentionRowsArgs<float>&, const AttentionOptions&, const uint8_t*);
template void AttentionRowsReference(const AttentionRowsArgs<double>&, const AttentionOptions&, const uint8_t*);
template void AttentionForwardReference(const ForwardArgs<float>&, const AttentionOptions&, const uint8_t*);
template void AttentionForwardReference(const ForwardArgs<double>&, const AttentionOptions&, const uint8_t*);
template void AttentionBackwardReference(const BackwardArgs<float>&, const AttentionOptions&, const uint8_t*);
template void AttentionBackwardReference(const BackwardArgs<double>&, const AttentionOptions&, const uint8_t*);

}  // namespace tra
