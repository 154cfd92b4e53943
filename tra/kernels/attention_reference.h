// Computes what the kernels compute, in plain float64 loops: the definition, and what every test compares against.
#ifndef TRA_KERNELS_ATTENTION_REFERENCE_H_
#define TRA_KERNELS_ATTENTION_REFERENCE_H_

#include <cstdint>

#include "tra/kernels/attention.h"
#include "tra/kernels/attention_rows.h"

namespace tra {

// Instantiated for T = float and double. Visits every key: stop_eps is ignored and first_key is 0.
//
// `keep`, [batch, head, query, key], overrides the threshold where it is not null: a score that rounds to the other
// side of 0 shifts every count behind it, so tests compare results under one mask, and compare the masks separately. It
// is not for flat batches.
template <typename T>
void AttentionForwardReference(const ForwardArgs<T>& args, const AttentionOptions& options,
                               const uint8_t* keep = nullptr);

// Recomputes everything from q, k, v, rule_input and d_out; out, log2_sum and first_key are not read.
template <typename T>
void AttentionBackwardReference(const BackwardArgs<T>& args, const AttentionOptions& options,
                                const uint8_t* keep = nullptr);

// Computes what AttentionRows does. Visits every key: no key is skipped, stopped_at and unseen are 0.
template <typename T>
void AttentionRowsReference(const AttentionRowsArgs<T>& args, const AttentionOptions& options,
                            const uint8_t* keep = nullptr);

}  // namespace tra

#endif  // TRA_KERNELS_ATTENTION_REFERENCE_H_
