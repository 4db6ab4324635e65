#include "data/formats/packed_file_writer.hpp"
#include "data/formats/packed_set.hpp"
#include "data/formats/token_formats.hpp"
#include "data/formats/token_recoder.hpp"

#include <monomorph/core/error.hpp>
#include <monomorph/core/file_error.hpp>
#include <monomorph/core/mapped_file.hpp>
#include <monomorph/data/formats/convert.hpp>
#include <monomorph/data/formats/loss_mask.hpp>
#include <monomorph/data/work/work_counter.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <limits>
#include <utility>

namespace monomorph::data {
namespace {

constexpr std::array<std::pair<TokenFormat, std::string_view>, 4> format_names{{{TokenFormat::packed, "pbin"},
                                                                                {TokenFormat::nanogpt, "nanogpt"},
                                                                                {TokenFormat::llm_c, "llm.c"},
                                                                                {TokenFormat::megatron, "megatron"}}};

bool has_extension(const std::string& path, std::string_view extension) {
  return std::filesystem::path(path).extension() == extension;
}

TokenFormat recognise(const std::string& path) {
  if (has_extension(path, ".pbin")) return TokenFormat::packed;
  const MappedFile file(path);
  const auto header = LlmcHeader::read(file.bytes());
  if (header && header->bytes_per_token()) return TokenFormat::llm_c;
  if (std::filesystem::exists(megatron_index_path(path))) return TokenFormat::megatron;
  throw UsageError(
      "DATA-50",
      "nothing in " + in_quotes(path) +
          " says what it is: no .pbin, no header of llm.c, no .idx of Megatron beside it; say it with --from "
          "(nanogpt for bare tokens of 2 bytes)");
}

TokenFormat target_format(const std::string& output, std::optional<TokenFormat> given) {
  if (given) return *given;
  if (has_extension(output, ".pbin")) return TokenFormat::packed;
  throw UsageError("DATA-50",
                   "the name " + in_quotes(output) +
                       " does not say which format to write; end it in .pbin, or give --to nanogpt, llm.c or megatron");
}

TokenSource open_tokens(const std::string& input, TokenFormat format, DocumentMarks marks) {
  switch (format) {
    case TokenFormat::packed: {
      const std::uint32_t width = PackedFile(input).bytes_per_token();
      refuse_loss_mask(input);
      return {std::make_unique<PackedSet>(input), {width, false}};
    }
    case TokenFormat::megatron:
      return open_megatron(input);
    default:
      return open_flat_tokens(input, format, marks);
  }
}

std::unique_ptr<DocumentSink> create_tokens(const std::string& output, TokenFormat format, std::uint32_t width) {
  switch (format) {
    case TokenFormat::packed:
      return std::make_unique<PackedFileWriter>(output, width);
    case TokenFormat::megatron:
      return create_megatron(output, width);
    default:
      return create_flat_tokens(output, format, width);
  }
}

/// The width to write: the one asked for, or the nearest to the input's that the format has.
std::uint32_t target_width(TokenFormat format, std::optional<std::uint32_t> given, TokenType from) {
  const bool allowed[] = {format != TokenFormat::nanogpt && format != TokenFormat::llm_c, true,
                          format != TokenFormat::nanogpt};
  constexpr std::uint32_t widths[] = {1, 2, 4};
  std::uint32_t chosen = 0;
  for (int i = 0; i < 3; ++i) {
    if (allowed[i] && (given ? widths[i] == *given : widths[i] <= from.n_bytes || chosen == 0)) chosen = widths[i];
  }
  if (chosen == 0) {
    throw UsageError("DATA-48", fmt::format("{} has no tokens of {} bytes; its widths are {}", name_of(format), *given,
                                            format == TokenFormat::nanogpt ? "2"
                                            : format == TokenFormat::llm_c ? "2 and 4"
                                                                           : "1, 2 and 4"));
  }
  return chosen;
}

std::int64_t largest_id(TokenFormat format, std::uint32_t width) {
  // Megatron's numbers of 4 bytes have a sign.
  if (format == TokenFormat::megatron && width == 4) return std::numeric_limits<std::int32_t>::max();
  return (std::int64_t{1} << (8 * width)) - 1;
}

void check_settings(const std::string& output, const ConvertSettings& settings, TokenFormat from, TokenFormat to) {
  if (settings.begin_of_document && settings.end_of_document) {
    throw UsageError("DATA-10",
                     "a document is told by the token that begins it or by the one that ends it; give --bos-id "
                     "or --eod-id, not both");
  }
  const bool has_marks = settings.begin_of_document || settings.end_of_document;
  if (has_marks && (from == TokenFormat::packed || from == TokenFormat::megatron)) {
    throw UsageError("DATA-10",
                     fmt::format("{} says itself where documents are; leave --bos-id and --eod-id out", name_of(from)));
  }
  if (to == TokenFormat::megatron && !has_extension(output, ".bin")) {
    throw UsageError("DATA-10", "Megatron's files are NAME.bin and NAME.idx; end --output in .bin");
  }
}

}  // namespace

std::string_view name_of(TokenFormat format) {
  return std::find_if(format_names.begin(), format_names.end(),
                      [&](const auto& known) { return known.first == format; })
      ->second;
}

TokenFormat token_format(std::string_view name) {
  for (const auto& [format, known] : format_names) {
    if (known == name) return format;
  }
  throw UsageError("DATA-50",
                   "there is no format " + in_quotes(name) + "; there are pbin, nanogpt, llm.c and megatron");
}

ConvertSummary convert(const std::string& input, const std::string& output, const ConvertSettings& settings,
                       const ProgressCallback& progress) {
  const TokenFormat to = target_format(output, settings.to);
  const TokenFormat from = settings.from ? *settings.from : recognise(input);
  check_settings(output, settings, from, to);
  const TokenSource source = open_tokens(input, from, {settings.end_of_document, settings.begin_of_document});
  const std::uint32_t width = target_width(to, settings.bytes_per_token, source.type);
  const auto sink = create_tokens(output, to, width);

  TokenRecoder recoder(source.type, width, largest_id(to, width));
  WorkCounter counter(progress, source.documents->n_bytes());
  source.documents->for_each([&](const Document& document) {
    source.documents->read([&](std::span<const std::byte> piece) {
      counter.add(piece.size());
      if (recoder.recode(piece, *sink)) return;
      throw Error("DATA-47",
                  fmt::format("{}: document {} has the token id {}, which does not fit {} bytes of {}; choose "
                              "a wider --token-bytes or another format",
                              in_quotes(input), document.number, recoder.refused_id(), width, name_of(to)));
    });
    sink->end_document();
  });
  sink->commit();
  return {from, to, sink->n_documents(), sink->n_bytes() / width, width};
}

}  // namespace monomorph::data
