#include <concepts>
#include <monomorph/runtime/kernels/cross_entropy.hpp>
#include <monomorph/runtime/kernels/elementwise.hpp>
#include <monomorph/runtime/machine/kernel_span.hpp>
#include <monomorph/runtime/machine/parallel.hpp>
#include <vector>
#include "runtime/cpu/row_total.hpp"
#include "runtime/machine/isa.hpp"

namespace monomorph::cpu {
MONOMORPH_PER_ISA(void cross_entropies(const TokenLogits& tokens, const LossTerms& terms))
namespace {
void select_cross_entropies(const TokenLogits& tokens, const LossTerms& terms) {
  MONOMORPH_SELECT(cross_entropies)(tokens, terms);
}
}  // namespace
}  // namespace monomorph::cpu

namespace monomorph::cpu {
namespace {

std::int64_t count_tokens(const TokenLogits& logits) {
  return count_targets(logits.targets_C, logits.logits_CV.shape.rows);
}

void add_to_sum(const TokenLogits& logits, std::int64_t n) {
  if (logits.sum != nullptr) logits.sum->add({.loss = row_total(logits.loss_C), .tokens = n});
}

/// A token's logits as a function reads and overwrites them: in their place, or, if they are narrower or must stay, in
/// a thread's own.
template <class S> View in_arithmetic(const View& row, bool stays) {
  constexpr DType dtype = std::same_as<S, double> ? DType::fp64 : DType::fp32;
  if (row.dtype == dtype && !stays) return row;
  thread_local std::vector<S> widened;
  widened.resize(static_cast<std::size_t>(row.shape.cols));
  const View copied{reinterpret_cast<std::byte*>(widened.data()), dtype, row.shape};
  copy(Queue{}, row, copied);
  return copied;
}

template <class S, class F> void each_row(const TokenLogits& tokens, F token_loss) {
  const View &logits = tokens.logits_CV, &dlogits = tokens.dlogits_CV;
  const bool stays = dlogits.present() && dlogits.data != logits.data;
  parallel_for(logits.shape.rows, [&](std::int64_t i) {
    const View row = in_arithmetic<S>(logits.rows(i, 1), stays);
    const std::int32_t target = tokens.targets_C[i];
    const bool counted = target != ignored_target;
    tokens.loss_C.as<S>()[i] = counted ? static_cast<S>(token_loss(row.as<S>(), tokens.vocab_size, target)) : S{0};
    const std::int64_t n = counted ? tokens.vocab_size : 0;
    const View from = row.columns(0, n), to = dlogits.rows(i, 1);
    const double weight = tokens.weight_C.present() ? static_cast<double>(tokens.weight_C.as<S>()[i]) : 1;
    scale(Queue{}, from, *tokens.scale * weight, to.columns(0, n));
    zero(Queue{}, to.columns(n, to.shape.cols - n));
  });
}

}  // namespace

void cross_entropy(Queue, const TokenLogits& logits, const LossTerms& terms) {
  const KernelSpan span(Work::loss, "cross_entropy");
  const std::int64_t n = count_tokens(logits);
  cpu::select_cross_entropies(logits, terms);
  add_to_sum(logits, n);
}

void detail::token_losses(const TokenLogits& logits, const TokenFunction& function) {
  const KernelSpan span(Work::loss, "each_token");
  const std::int64_t n = count_tokens(logits);
  if (logits.logits_CV.dtype == DType::fp64)
    each_row<double>(logits, [&](auto... of_token) { return function.fp64(function.context, of_token...); });
  else
    each_row<float>(logits, [&](auto... of_token) { return function.fp32(function.context, of_token...); });
  add_to_sum(logits, n);
}

}  // namespace monomorph::cpu
