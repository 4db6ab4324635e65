#pragma once
#include "data/spill_file.hpp"

#include <monomorph/core/atomic_file.hpp>
#include <monomorph/data/pack.hpp>
#include <monomorph/data/span_index.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace monomorph::data {

/// A packed file that is being written, document by document.
class PackedFileWriter {
 public:
  PackedFileWriter(const std::string& path, const Tokenizer& tokenizer, std::int32_t end_of_document);

  /// More tokens of the current document.
  void add(std::span<const std::int32_t> ids);
  void end_document();
  PackSummary commit();

 private:
  AtomicFile file_;
  SpillFile spill_;
  SpanIndexWriter index_;
  std::int32_t end_of_document_;
  PackSummary summary_;
  std::vector<std::byte> bytes_;
  std::optional<std::int32_t> last_;  ///< of the current document
  std::int64_t n_document_tokens_ = 0;
};

}  // namespace monomorph::data
