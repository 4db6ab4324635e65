#include <monomorph/train/step/check_batch.hpp>

#include <monomorph/core/error.hpp>
#include <monomorph/core/ignored_target.hpp>

#include <fmt/format.h>

namespace monomorph::train {
namespace {

/// Whether all lie in first..limit - 1. There is no early exit, so that compilers vectorise it.
bool all_within(const std::int32_t* ids, std::int64_t n, std::int32_t first, std::int64_t limit) {
  bool within = true;
  for (std::int64_t i = 0; i < n; ++i) within &= first <= ids[i] && ids[i] < limit;
  return within;
}

/// Calls fail(i) for the first id that does not.
void check_all(const std::int32_t* ids, std::int64_t n, std::int32_t first, std::int64_t limit, auto&& fail) {
  if (all_within(ids, n, first, limit)) return;
  std::int64_t i = 0;
  while (first <= ids[i] && ids[i] < limit) ++i;
  fail(i);
}

void check_inputs(const std::int32_t* inputs, const BatchLimits& limits) {
  check_all(inputs, limits.rows * limits.tokens, 0, limits.vocab_size, [&](std::int64_t i) {
    throw Error("KERNEL-01",
                fmt::format("token id {} (row {} of the batch) is outside the vocabulary of {}; the data were "
                            "packed with another tokenizer: pack them again, or change the model's "
                            "vocabulary size",
                            inputs[i], i / limits.tokens, limits.vocab_size));
  });
}

void check_targets(const std::int32_t* targets, const BatchLimits& limits) {
  static_assert(ignored_target == -1);  // just below the targets that there are
  const std::int64_t limit = limits.texts > 0 ? limits.texts : limits.vocab_size;
  check_all(targets, limits.rows * limits.tokens, ignored_target, limit, [&](std::int64_t i) {
    const std::int64_t row = i / limits.tokens;
    if (limits.texts > 0)
      throw Error("KERNEL-07",
                  fmt::format("row {} of the batch has a token of text {}, and the objective compares {} texts "
                              "of a sample, counted from 0; mend what fills MicroBatch::targets",
                              row, targets[i], limits.texts));
    throw Error("KERNEL-02",
                fmt::format("target id {} (row {} of the batch) is outside the vocabulary of {}; the data were "
                            "packed with another tokenizer: pack them again, or change the model's "
                            "vocabulary size",
                            targets[i], row, limits.vocab_size));
  });
}

void check_row(const std::int32_t* starts, std::int64_t row, std::int64_t tokens) {
  for (std::int64_t t = 0; t < tokens; ++t) {
    const std::int64_t before = t > 0 ? starts[t - 1] : 0;  // the same document, or one that begins here
    if (starts[t] != t && (t == 0 || starts[t] != before))
      throw Error(
          "KERNEL-03",
          fmt::format("document_starts of row {} of the batch has {} for token {}, whose document begins at {} or "
                      "at the token itself; mend what fills MicroBatch::document_starts",
                      row, starts[t], t, before));
  }
}

}  // namespace

void check_batch(const MicroBatch& batch, const BatchLimits& limits) {
  check_inputs(batch.inputs, limits);
  check_targets(batch.targets, limits);
  if (limits.wants_document_starts && batch.document_starts == nullptr)
    throw Error("KERNEL-04",
                "attention within documents needs to be told where documents begin; fill MicroBatch::document_starts");
  if (limits.sequences > 0 && batch.reference == nullptr)
    throw Error("KERNEL-09",
                "an objective over sequences needs to be told how probable they are to another model; fill "
                "MicroBatch::reference");
  for (std::int64_t row = 0; batch.document_starts != nullptr && row < limits.rows; ++row)
    check_row(batch.document_starts + row * limits.tokens, row, limits.tokens);
}

void check_token(std::int32_t id, std::int64_t vocab_size) {
  check_inputs(
      &id,
      {.rows = 1, .tokens = 1, .vocab_size = vocab_size, .texts = 0, .sequences = 0, .wants_document_starts = false});
}

}  // namespace monomorph::train
