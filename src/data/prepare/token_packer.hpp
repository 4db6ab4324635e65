#pragma once
#include "data/prepare/pack_journal.hpp"
#include "data/records/json_line_parser.hpp"
#include "data/records/line_block.hpp"
#include "data/records/line_failure.hpp"

#include <monomorph/data/tokenizer/tokenizer.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace monomorph::data {

/// What a piece of the input became. Line numbers are those within the piece.
struct PackedPiece {
  JournalEntry entry;
  std::vector<std::byte> tokens;  ///< as they lie in the file
  std::vector<LineFailure> failures;

  void clear();
  /// To be called when the piece is complete.
  void seal();
};

/// Turns documents into tokens of a packed file. One per thread; the tokenizer must outlive it.
class TokenPacker {
 public:
  TokenPacker(const Tokenizer& tokenizer, std::int32_t end_of_document, std::uint32_t bytes_per_token,
              std::size_t most_cache_bytes = Encoder::usual_cache_bytes)
      : tokenizer_(tokenizer),
        encoder_(tokenizer, most_cache_bytes),
        end_of_document_(end_of_document),
        bytes_per_token_(bytes_per_token) {}

  /// Makes a document of the text at `field` of each line. Stops at the first line that has none if so asked, and else
  /// after many of them, so that the next call goes on.
  void pack_lines(LineBlock& block, const FieldPointer& field, bool stop_at_failure, PackedPiece& piece);

  /// Appends the tokens of as much of `text`, valid UTF-8, as is the same whatever follows; returns its bytes.
  std::size_t pack_decided(std::string_view text, TextPiece piece, std::vector<std::byte>& tokens);
  /// Appends the tokens of a text or of what is left of it, with little memory beside them where it can be cut.
  void pack_text(std::string_view text, TextPiece piece, std::vector<std::byte>& tokens);
  /// What the tokenizer puts before every text.
  void begin_document(std::vector<std::byte>& tokens) const { append(tokenizer_.ids_before_text(), tokens); }
  /// What it puts behind, and the end of document unless the document, whose tokens lie from `begin` on, ends in it.
  void end_document(std::size_t begin, std::vector<std::byte>& tokens) const;

 private:
  void append(std::span<const std::int32_t> ids, std::vector<std::byte>& tokens) const;
  std::optional<LineProblem> pack_line(std::span<char> line, const FieldPointer& field, PackedPiece& piece);
  void pack_document(std::string_view text, PackedPiece& piece);

  const Tokenizer& tokenizer_;
  Encoder encoder_;
  JsonLineParser parser_;
  std::int32_t end_of_document_;
  std::uint32_t bytes_per_token_;
  std::vector<std::int32_t> ids_;
};

}  // namespace monomorph::data
