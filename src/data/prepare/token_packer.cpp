#include "data/prepare/token_packer.hpp"

#include "data/formats/token_bytes.hpp"
#include "data/work/free_memory.hpp"

#include <monomorph/core/error.hpp>
#include <monomorph/core/xxh64.hpp>

#include <algorithm>
#include <cstring>
#include <mutex>

namespace monomorph::data {
namespace {

// Ids take several times the memory of the text, so a long text is encoded piece by piece.
constexpr std::size_t usual_piece_bytes = std::size_t{256} << 10;
constexpr std::size_t most_kept_bytes = std::size_t{2} << 20;

// A word of megabytes cannot be cut and takes many times its memory, so that only one at a time is encoded in the whole
// process.
std::mutex one_long_word;
constexpr std::size_t long_word_bytes = std::size_t{2} << 20;

}  // namespace

void PackedPiece::clear() {
  entry = {};
  failures.clear();
  if (tokens.capacity() > most_kept_bytes) free_memory(tokens);  // a long document is rare, so its memory is not kept
  tokens.clear();
}

void PackedPiece::seal() {
  entry.n_token_bytes = tokens.size();
  entry.token_hash = xxh64(tokens);
}

void TokenPacker::append(std::span<const std::int32_t> ids, std::vector<std::byte>& tokens) const {
  const std::size_t old_size = tokens.size();
  tokens.resize(old_size + ids.size() * bytes_per_token_);
  with_id_type(bytes_per_token_,
               [&](auto id) { copy_ids<std::int32_t, decltype(id)>(std::as_bytes(ids), tokens.data() + old_size); });
}

std::size_t TokenPacker::pack_decided(std::string_view text, TextPiece piece, std::vector<std::byte>& tokens) {
  ids_.clear();
  const std::size_t n_bytes = encoder_.encode_decided(text, ids_, piece);
  append(ids_, tokens);
  return n_bytes;
}

void TokenPacker::pack_text(std::string_view text, TextPiece piece, std::vector<std::byte>& tokens) {
  std::size_t piece_bytes = usual_piece_bytes;
  std::unique_lock long_word(one_long_word, std::defer_lock);
  while (text.size() > piece_bytes) {
    const std::size_t n_decided = pack_decided(text.substr(0, piece_bytes), piece, tokens);
    text.remove_prefix(n_decided);
    if (n_decided > 0) piece = TextPiece::later;
    piece_bytes = n_decided > 0 ? usual_piece_bytes : 2 * piece_bytes;
    if (piece_bytes > long_word_bytes && !long_word) long_word.lock();
  }
  ids_.clear();
  encoder_.encode_rest(text, ids_, piece);
  append(ids_, tokens);
  if (ids_.capacity() * sizeof ids_[0] > most_kept_bytes) free_memory(ids_);
}

void TokenPacker::pack_document(std::string_view text, PackedPiece& piece) {
  const std::size_t begin = piece.tokens.size();
  begin_document(piece.tokens);
  const std::size_t text_begin = piece.tokens.size(), n_ids_around = tokenizer_.ids_after_text().size() + 1;
  // A text of n bytes has at most n tokens, but for those that make it longer. Memory that is never touched costs
  // nothing, and a buffer that grows would be there twice.
  if (text.size() > usual_piece_bytes)
    piece.tokens.reserve(text_begin + (text.size() + n_ids_around) * bytes_per_token_);
  pack_text(text, TextPiece::first, piece.tokens);
  if (piece.tokens.size() == text_begin) ++piece.entry.n_empty_documents;
  end_document(begin, piece.tokens);
  append_length(piece.entry.document_lengths, piece.tokens.size() - begin);
  ++piece.entry.n_documents;
}

void TokenPacker::end_document(std::size_t begin, std::vector<std::byte>& tokens) const {
  append(tokenizer_.ids_after_text(), tokens);
  const bool ended = tokens.size() > begin && std::memcmp(tokens.data() + tokens.size() - bytes_per_token_,
                                                          &end_of_document_, bytes_per_token_) == 0;
  if (!ended) append(std::span(&end_of_document_, 1), tokens);
}

std::optional<LineProblem> TokenPacker::pack_line(std::span<char> line, const FieldPointer& field, PackedPiece& piece) {
  auto text = parser_.text_at(line, field);
  if (auto* problem = std::get_if<LineProblem>(&text)) return std::move(*problem);
  const std::size_t begin = piece.tokens.size();
  try {
    pack_document(std::get<std::string_view>(text), piece);
    return std::nullopt;
  } catch (const Error& error) {  // the tokenizer refuses the text
    piece.tokens.resize(begin);
    return problem_of(error);
  }
}

void TokenPacker::pack_lines(LineBlock& block, const FieldPointer& field, bool stop_at_failure, PackedPiece& piece) {
  piece.clear();
  JournalEntry& entry = piece.entry;
  if (block.is_one_too_long) {
    piece.failures.push_back(too_long_failure(block.offset, block.end_offset));
    entry.n_lines = entry.n_skipped = 1;
  }
  for_each_line(block, [&](std::string_view line, std::uint64_t offset) {
    if (auto problem = pack_line(block.writable(line), field, piece)) {
      piece.failures.push_back({static_cast<std::int64_t>(entry.n_lines), offset, line.size(), *std::move(problem)});
      ++entry.n_skipped;
      if (stop_at_failure) return false;
    }
    ++entry.n_lines;
    return piece.failures.size() < most_failures_at_once;
  });
  entry.input_end = block.done_offset();
  piece.seal();
}

}  // namespace monomorph::data
