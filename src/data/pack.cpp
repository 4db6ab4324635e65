#include "data/packed_file_writer.hpp"

#include <monomorph/core/atomic_file.hpp>
#include <monomorph/core/error.hpp>
#include <monomorph/core/file_error.hpp>
#include <monomorph/data/json_lines.hpp>
#include <monomorph/data/pack.hpp>
#include <monomorph/data/packed_file.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>

namespace monomorph::data {
namespace {

[[noreturn]] void throw_empty(const std::string& path) {
  throw UsageError("[DATA-04] " + in_quotes(path) + " is empty; give a file with at least one document");
}

std::int32_t find_end_of_document(const Tokenizer& tokenizer, const std::string& token) {
  if (const auto id = tokenizer.find(token)) return *id;
  std::string special_tokens;
  for (const AddedToken& added : tokenizer.definition().added_tokens)
    special_tokens.append(" ").append(in_quotes(added.content));
  throw UsageError(
      fmt::format("[TOK-06] the tokenizer has no token {} to end documents with; name one with --eod "
                  "(its added tokens:{})",
                  in_quotes(token), special_tokens.empty() ? " none" : special_tokens));
}

/// Puts token ids into a packed file and the end of document after each document.
class TokenWriter {
 public:
  TokenWriter(const std::string& path, const Tokenizer& tokenizer, std::int32_t end_of_document)
      : bytes_per_token_(bytes_per_token_for(tokenizer.vocab_size())),
        file_(path, bytes_per_token_),
        end_of_document_(end_of_document) {}

  /// More tokens of the current document.
  void add(std::span<const std::int32_t> ids) {
    if (ids.empty()) return;
    bytes_.clear();
    for (const std::int32_t id : ids) {
      for (std::uint32_t i = 0; i < bytes_per_token_; ++i) bytes_.push_back(static_cast<std::byte>(id >> (8 * i)));
    }
    file_.write(bytes_);
    last_ = ids.back();
  }

  void end_document() {
    if (!last_) ++n_empty_documents_;
    if (last_ != end_of_document_) add(std::span(&end_of_document_, 1));
    file_.end_document();
    last_.reset();
  }

  PackSummary commit() {
    file_.commit();
    return {file_.n_documents(), n_empty_documents_, static_cast<std::int64_t>(file_.n_bytes() / bytes_per_token_),
            bytes_per_token_};
  }

 private:
  std::uint32_t bytes_per_token_;
  PackedFileWriter file_;
  std::int32_t end_of_document_;
  std::int64_t n_empty_documents_ = 0;
  std::vector<std::byte> bytes_;
  std::optional<std::int32_t> last_;  ///< of the current document
};

void pack_json_lines(const std::string& input, Encoder& encoder, const TextField& field, TokenWriter& writer) {
  LineReader lines(input);
  std::vector<std::int32_t> ids;
  bool empty = true;
  while (const auto line = lines.next()) {
    ids.clear();
    encoder.encode(field.of(*line, input), ids);
    writer.add(ids);
    writer.end_document();
    empty = false;
  }
  if (empty) throw_empty(input);
}

void pack_text(const std::string& input, Encoder& encoder, TokenWriter& writer) {
  constexpr std::size_t piece_bytes = std::size_t{1} << 20;
  InputFile file(input);
  Utf8Stream characters;
  std::string bytes, text;  // text: read, but not yet encoded
  std::vector<std::int32_t> ids;
  bool empty = true;
  // What cannot be decided yet (a run that goes on) doubles the piece, so that it is not looked at again and again.
  while (bytes.clear(), file.read_more(bytes, std::max(piece_bytes, text.size()))) {
    empty = false;
    text += characters.push(bytes);
    ids.clear();
    text.erase(0, encoder.encode_decided(text, ids));
    writer.add(ids);
  }
  if (empty) throw_empty(input);
  ids.clear();
  encoder.encode(text + characters.finish(), ids);
  writer.add(ids);
  writer.end_document();
}

}  // namespace

std::int64_t index_json_lines(const std::string& input, const std::string& output) {
  LineReader lines(input);
  AtomicFile file(output);
  SpanIndexWriter index([&file](std::span<const std::byte> bytes) { file.write(bytes); });
  while (const auto line = lines.next()) {
    check_json_line(*line, input);
    index.add({line->offset, line->text.size()});
  }
  if (index.size() == 0) throw_empty(input);
  index.finish();
  file.commit();
  return index.size();
}

PackSummary pack(const std::string& input, const Tokenizer& tokenizer, const std::string& output,
                 const PackSettings& settings) {
  const std::string extension = std::filesystem::path(input).extension().string();
  const bool is_text = extension == ".txt";
  if (!is_text && extension != ".jsonl" && extension != ".json" && extension != ".ndjson") {
    throw UsageError(
        fmt::format("[DATA-10] {} ends in neither .jsonl, .json, .ndjson (a record with text on each line) nor "
                    ".txt (one document); rename it after what it is",
                    in_quotes(input)));
  }
  const TextField field(settings.field);
  const std::int32_t end_of_document = find_end_of_document(tokenizer, settings.end_of_document);
  Encoder encoder(tokenizer);
  TokenWriter writer(output, tokenizer, end_of_document);
  if (is_text) {
    pack_text(input, encoder, writer);
  } else {
    pack_json_lines(input, encoder, field, writer);
  }
  return writer.commit();
}

}  // namespace monomorph::data
