#pragma once
#include "data/formats/token_formats.hpp"

#include <monomorph/data/formats/document_sink.hpp>

#include <cstdint>
#include <span>
#include <vector>

namespace monomorph::data {

/// Rewrites token ids in another width.
class TokenRecoder {
 public:
  /// @param largest_id that may be written
  TokenRecoder(TokenType from, std::uint32_t to_bytes, std::int64_t largest_id)
      : from_(from), to_bytes_(to_bytes), largest_id_(largest_id) {}

  /// Appends a piece, which ends between tokens, to `sink`. Returns false and leaves the rest if an id is negative or
  /// too large.
  bool recode(std::span<const std::byte> piece, DocumentSink& sink);
  /// The id that was.
  std::int64_t refused_id() const noexcept { return refused_id_; }

 private:
  TokenType from_;
  std::uint32_t to_bytes_;
  std::int64_t largest_id_;
  std::int64_t refused_id_ = 0;
  std::vector<std::byte> recoded_;
};

}  // namespace monomorph::data
