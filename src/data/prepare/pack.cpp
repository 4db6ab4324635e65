#include "data/prepare/pack_output.hpp"
#include "data/prepare/token_packer.hpp"
#include "data/records/block_pipeline.hpp"
#include "data/records/decompressor.hpp"
#include "data/records/line_origin.hpp"
#include "data/records/skip_report.hpp"
#include "data/records/text_input.hpp"
#include "data/work/most_workers.hpp"

#include <monomorph/core/error.hpp>
#include <monomorph/core/file_error.hpp>
#include <monomorph/core/xxh64.hpp>
#include <monomorph/data/formats/document_source.hpp>
#include <monomorph/data/formats/packed_file.hpp>
#include <monomorph/data/prepare/pack.hpp>
#include <monomorph/data/records/input_list.hpp>
#include <monomorph/data/text/utf8.hpp>
#include <monomorph/data/work/interruption.hpp>

#include <fmt/format.h>

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <optional>

namespace monomorph::data {
namespace {

/// The width of tokens: that which Modalities derives from the model's vocabulary, unless another is asked for.
std::uint32_t token_width(const Tokenizer& tokenizer, std::uint32_t asked) {
  const auto& vocabulary = tokenizer.definition().vocabulary;
  const auto n_tokens =
      std::count_if(vocabulary.begin(), vocabulary.end(), [](const std::string& token) { return !token.empty(); });
  const std::uint32_t width = asked != 0 ? asked : bytes_per_token_for(n_tokens);
  const std::uint32_t needed = bytes_per_token_for(tokenizer.vocab_size());
  if (width < needed) {
    throw UsageError("DATA-26",
                     fmt::format("ids up to {} do not fit {}; give --token-bytes {}", tokenizer.vocab_size() - 1,
                                 asked != 0
                                     ? fmt::format("{} bytes per token", asked)
                                     : fmt::format("the {} bytes per token of a vocabulary of {}", width, n_tokens),
                                 needed));
  }
  return width;
}

/// Whether the input is one text, not JSON Lines.
bool is_text(const std::string& input) {
  const std::string name(uncompressed_name(input));
  if (std::filesystem::path(name).extension() == ".txt") return true;
  if (is_json_lines_name(name) || is_parquet_name(input)) return false;
  throw UsageError(
      "DATA-40",
      fmt::format("{} ends in neither .txt (one document) nor {}, with or without .gz or .zst behind it, nor "
                  ".parquet; rename it after what it is",
                  in_quotes(input), json_lines_names));
}

/// The same of several, which must be of one kind.
bool all_text(const std::vector<std::string>& inputs) {
  const auto text = std::ranges::find_if(inputs, is_text), lines = std::ranges::find_if_not(inputs, is_text);
  if (text != inputs.end() && lines != inputs.end())
    throw UsageError("DATA-75", fmt::format("{} is one document, and each line of {} is one; pack the two kinds apart "
                                            "and merge the results",
                                            in_quotes(*text), in_quotes(*lines)));
  return text != inputs.end();
}

/// Of all texts; 0 if nobody knows it of one of them.
std::uint64_t text_bytes_of(const std::vector<std::string>& inputs) {
  std::uint64_t bytes = 0;
  bool all_known = true;
  for (const std::string& input : inputs) {
    struct stat status {};
    const bool is_there = ::stat(input.c_str(), &status) == 0;  // so that a wrong name is told at once
    if (!is_there) throw_file_error("open", input, errno);
    all_known = all_known && S_ISREG(status.st_mode) && compression_of(input) == Compression::none;
    bytes += static_cast<std::uint64_t>(status.st_size);
  }
  return all_known ? bytes : 0;
}

/// What must not have changed for a run to be resumed.
PackIdentity identity_of(const std::vector<std::string>& inputs, std::uint32_t bytes_per_token,
                         const PackSettings& settings) {
  const std::string& input = inputs.front();
  constexpr std::size_t head_bytes = std::size_t{64} << 10;
  struct stat status {};
  if (::stat(input.c_str(), &status) != 0) throw_file_error("open", input, errno);
  const bool is_file = S_ISREG(status.st_mode);
  if (inputs.size() > 1 && settings.unfinished == Unfinished::resume)
    throw UsageError("DATA-25", fmt::format("{} are several files, and only work on one can be resumed; leave out "
                                            "--resume, or pack each and merge them",
                                            in_quotes(name_of_inputs(inputs))));
  if (!is_file && settings.unfinished == Unfinished::resume) {
    throw UsageError("DATA-25",
                     in_quotes(input) + " is no file, so nothing could go on in its middle; leave out --resume");
  }
  std::string head;
  if (is_file) {  // a pipe can be read only once, so its beginning is not looked at
    InputFile file(input);
    bool more = true;
    while (more && head.size() < head_bytes) more = file.read_more(head, head_bytes - head.size());
  }
  return {{"the format", "1"},
          {"the size of the input", std::to_string(status.st_size)},
          {"the time of the input", fmt::format("{}.{:09}", status.st_mtim.tv_sec, status.st_mtim.tv_nsec)},
          {"the hash of the input's beginning",
           fmt::format("{:016x}", xxh64(std::as_bytes(std::span(head.data(), head.size()))))},
          {"the tokenizer", settings.tokenizer_fingerprint},
          {"--eod", settings.end_of_document},
          {"--field", settings.field},
          {"the number of bytes per token", std::to_string(bytes_per_token)}};
}

/// What each encoder may remember of words: together they take little memory whatever their number.
std::size_t cache_bytes_of(std::size_t n_encoders) {
  return std::min(Encoder::usual_cache_bytes, (std::size_t{64} << 20) / n_encoders);
}

/// One run of pack().
class Packing {
 public:
  Packing(const std::vector<std::string>& inputs, const Tokenizer& tokenizer, const std::string& output,
          const PackSettings& settings)
      : inputs_(inputs),
        input_(name_of_inputs(inputs)),
        origin_(inputs_),
        tokenizer_(tokenizer),
        settings_(settings),
        field_(settings.field),
        end_of_document_(find_end_of_document(tokenizer, settings.end_of_document)),
        bytes_per_token_(token_width(tokenizer, settings.bytes_per_token)),
        report_path_(settings.report.empty() ? default_report_path(output) : settings.report),
        output_(output, identity_of(inputs, bytes_per_token_, settings), bytes_per_token_, settings.unfinished),
        resumed_bytes_(output_.totals().input_end) {}

  void pack_json_lines();
  void pack_texts();
  PackSummary commit();
  /// What is said at an interruption after which the run can be resumed.
  std::string interrupted_message() const;

 private:
  void pack_text(const std::string& input, std::uint64_t total_bytes);
  void take(PackedPiece& piece);
  void end_text(TokenPacker& packer, const std::string& raw, PackedPiece& piece);
  std::size_t pack_piece(TokenPacker& packer, std::string_view raw, PackedPiece& piece) const;
  /// Of the plain text that is being packed: whether its next piece is its first one, and what it has become so far.
  TextPiece text_piece() const {
    return output_.totals().input_end == text_begin_ ? TextPiece::first : TextPiece::later;
  }
  std::uint64_t text_token_bytes() const { return output_.totals().n_token_bytes - text_token_begin_; }
  void report(std::uint64_t total_bytes) const {
    if (settings_.progress) settings_.progress(output_.totals().input_end, total_bytes);
  }

  std::vector<std::string> inputs_;
  std::string input_;  ///< for messages
  LineOrigin origin_;
  const Tokenizer& tokenizer_;
  const PackSettings& settings_;
  FieldPointer field_;
  std::int32_t end_of_document_;
  std::uint32_t bytes_per_token_;
  std::string report_path_;
  PackOutput output_;
  std::uint64_t resumed_bytes_;
  std::uint64_t text_begin_ = 0, text_token_begin_ = 0;  ///< of the text, where input and output had got to before it
};

void Packing::pack_json_lines() {
  const Columns columns = columns_of({field_});
  auto reader = inputs_.size() == 1 ? LineBlockReader(inputs_.front(), resumed_bytes_, longest_line_bytes, columns)
                                    : LineBlockReader(inputs_, columns);
  std::vector<TokenPacker> packers;
  std::vector<BlockPipeline<PackedPiece>::Work> workers;
  const std::size_t n_packers = n_workers(settings_.n_threads);
  packers.reserve(n_packers);
  for (std::size_t i = 0; i < n_packers; ++i) {
    packers.emplace_back(tokenizer_, end_of_document_, bytes_per_token_, cache_bytes_of(n_packers));
    workers.emplace_back([this, &packer = packers.back()](LineBlock& block, PackedPiece& piece) {
      packer.pack_lines(block, field_, settings_.on_error == OnError::stop, piece);
    });
  }
  report(reader.file_bytes());
  const auto consume = [&](const LineBlock& block, PackedPiece& piece) {
    origin_.begin(block, static_cast<std::int64_t>(output_.totals().n_lines));
    take(piece);
    report(reader.file_bytes());
  };
  // Each byte of a line is in memory as it was read, as text and, at the worst, as one token.
  BlockPipeline<PackedPiece>(reader, std::move(workers), consume, 2 + bytes_per_token_).run();
}

void Packing::take(PackedPiece& piece) {
  for (const LineFailure& failure : piece.failures) {
    const std::int64_t line_number = static_cast<std::int64_t>(output_.totals().n_lines) + failure.line_in_block + 1;
    if (settings_.on_error == OnError::stop) origin_.throw_failure(failure, line_number);
    piece.entry.report += origin_.report_line(failure, line_number);
  }
  output_.add(piece.entry, piece.tokens);
}

/// Packs the decided part of `raw`, which is cut between characters, and returns its length.
std::size_t Packing::pack_piece(TokenPacker& packer, std::string_view raw, PackedPiece& piece) const {
  const TextPiece which = text_piece();
  if (valid_utf8_prefix(raw) == raw.size()) return packer.pack_decided(raw, which, piece.tokens);
  std::size_t n_left = packer.pack_decided(replace_invalid_utf8(raw), which, piece.tokens);
  std::size_t n_raw = 0;
  while (n_left > 0) {
    const Utf8Character character = first_character(raw.substr(n_raw));
    n_left -= character.valid ? character.n_bytes : replacement_character.size();
    n_raw += character.n_bytes;
  }
  return n_raw;
}

/// One may be resumed; several begin anew.
void Packing::pack_texts() {
  const std::uint64_t total_bytes = text_bytes_of(inputs_);
  report(total_bytes);
  for (const std::string& input : inputs_) {
    if (inputs_.size() > 1) {
      text_begin_ = output_.totals().input_end;
      text_token_begin_ = output_.totals().n_token_bytes;
    }
    pack_text(input, total_bytes);
  }
}

void Packing::pack_text(const std::string& input, std::uint64_t total_bytes) {
  constexpr std::size_t usual_piece_bytes = std::size_t{1} << 20;
  TextInput file(input);
  if (resumed_bytes_ > 0) file.skip_to(resumed_bytes_);
  const bool was_complete = inputs_.size() == 1 && output_.totals().n_documents > 0;
  TokenPacker packer(tokenizer_, end_of_document_, bytes_per_token_);
  std::string raw;  // read, but not yet encoded
  PackedPiece piece;
  // What cannot be decided yet (a run that goes on) doubles the piece, so that it is not looked at again and again.
  while (file.read_more(raw, std::max(usual_piece_bytes, raw.size()))) {
    piece.clear();
    if (text_token_bytes() == 0) packer.begin_document(piece.tokens);
    const std::size_t n_done = pack_piece(packer, std::string_view(raw).substr(0, complete_utf8_prefix(raw)), piece);
    raw.erase(0, n_done);
    piece.entry.input_end = output_.totals().input_end + n_done;
    piece.seal();
    output_.add(piece.entry, piece.tokens);
    report(total_bytes);
  }
  if (was_complete || (raw.empty() && text_piece() == TextPiece::first)) return;
  end_text(packer, raw, piece);
}

/// Packs what is left of the text, and ends the document.
void Packing::end_text(TokenPacker& packer, const std::string& raw, PackedPiece& piece) {
  piece.clear();
  if (text_token_bytes() == 0) packer.begin_document(piece.tokens);
  // The last token tells whether the document has its end already. It may be in the file by now.
  const std::vector<std::byte> last = text_token_bytes() == 0 ? std::vector<std::byte>{} : output_.last_token();
  piece.tokens.insert(piece.tokens.begin(), last.begin(), last.end());
  packer.pack_text(replace_invalid_utf8(raw), text_piece(), piece.tokens);
  const std::size_t n_text_bytes = text_token_bytes() + piece.tokens.size() - last.size();
  packer.end_document(0, piece.tokens);
  piece.tokens.erase(piece.tokens.begin(), piece.tokens.begin() + static_cast<std::ptrdiff_t>(last.size()));
  piece.entry.input_end = output_.totals().input_end + raw.size();
  piece.entry.n_lines = piece.entry.n_documents = 1;
  piece.entry.n_empty_documents = n_text_bytes == tokenizer_.ids_before_text().size() * bytes_per_token_ ? 1 : 0;
  append_length(piece.entry.document_lengths, text_token_bytes() + piece.tokens.size());
  piece.seal();
  output_.add(piece.entry, piece.tokens);
}

PackSummary Packing::commit() {
  const JournalEntry& totals = output_.totals();
  if (totals.n_lines == 0) throw_empty_input(input_);
  if (totals.n_documents == 0) {
    throw_all_skipped(input_, static_cast<std::int64_t>(totals.n_lines), read_report_line(totals.report));
  }
  std::optional<AtomicFile> report;
  if (settings_.on_error == OnError::skip) output_.write_report(report.emplace(report_path_));
  commit_with_report(output_, report);
  PackSummary summary;
  summary.n_documents = static_cast<std::int64_t>(totals.n_documents);
  summary.n_empty_documents = static_cast<std::int64_t>(totals.n_empty_documents);
  summary.n_skipped = static_cast<std::int64_t>(totals.n_skipped);
  summary.n_tokens = static_cast<std::int64_t>(totals.n_token_bytes / bytes_per_token_);
  summary.bytes_per_token = bytes_per_token_;
  summary.input_bytes = totals.input_end;
  summary.resumed_bytes = resumed_bytes_;
  return summary;
}

std::string Packing::interrupted_message() const {
  return output_.totals().input_end == 0
             ? "interrupted; nothing was written"
             : fmt::format("interrupted; {} holds what is done, and --resume goes on from it",
                           in_quotes(output_.partial_path()));
}

}  // namespace

std::int32_t find_end_of_document(const Tokenizer& tokenizer, const std::string& token) {
  if (const auto id = tokenizer.find(token)) return *id;
  std::string special_tokens;
  for (const AddedToken& added : tokenizer.definition().added_tokens)
    special_tokens.append(" ").append(in_quotes(added.content));
  throw UsageError("TOK-06", fmt::format("the tokenizer has no token {} to end documents with; name one with --eod "
                                         "(its added tokens:{})",
                                         in_quotes(token), special_tokens.empty() ? " none" : special_tokens));
}

std::string default_report_path(const std::string& output) { return output + ".skipped.jsonl"; }

PackSummary pack(const std::string& input, const Tokenizer& tokenizer, const std::string& output,
                 const PackSettings& settings) {
  return pack(std::vector{input}, tokenizer, output, settings);
}

PackSummary pack(const std::vector<std::string>& inputs, const Tokenizer& tokenizer, const std::string& output,
                 const PackSettings& settings) {
  const bool text = all_text(inputs);
  Packing packing(inputs, tokenizer, output, settings);
  try {
    text ? packing.pack_texts() : packing.pack_json_lines();
    return packing.commit();
  } catch (const Error&) {
    if (interrupting_signal() != 0 && settings.unfinished == Unfinished::resume)
      throw Error("DATA-11", packing.interrupted_message());
    throw;
  }
}

}  // namespace monomorph::data
