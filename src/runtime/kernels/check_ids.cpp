#include "runtime/kernels/check_ids.hpp"

#include <fmt/format.h>
#include <monomorph/core/error.hpp>
#include <monomorph/core/ignored_target.hpp>

namespace monomorph::detail {

void check_token_ids(const std::int32_t* ids, std::int64_t rows, std::int64_t table_rows) {
  for (std::int64_t row = 0; row < rows; ++row) {
    if (ids[row] < 0 || ids[row] >= table_rows) {
      throw Error("KERNEL-01",
                  fmt::format("token id {} (row {} of the batch) is outside the embedding table of {} rows; "
                              "the data were packed with another tokenizer: pack them again, or change the model's "
                              "vocabulary size",
                              ids[row], row, table_rows));
    }
  }
}

std::int64_t count_targets(const std::int32_t* targets, std::int64_t rows, std::int64_t vocab_size) {
  std::int64_t n = 0;
  for (std::int64_t row = 0; row < rows; ++row) {
    const std::int32_t target = targets[row];
    if (target == ignored_target) continue;
    if (target < 0 || target >= vocab_size) {
      throw Error("KERNEL-02",
                  fmt::format("target id {} (row {} of the batch) is outside the vocabulary of {}; the data "
                              "were packed with another tokenizer: pack them again, or change the model's vocabulary "
                              "size",
                              target, row, vocab_size));
    }
    ++n;
  }
  return n;
}

}  // namespace monomorph::detail
