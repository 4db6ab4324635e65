#include "data/tokenizer/sentence_piece/protocol_buffer.hpp"
#include "data/tokenizer/sentence_piece/sentence_piece_encoder.hpp"
#include "data/tokenizer/sentence_piece/sentence_piece_file.hpp"

#include <monomorph/core/error.hpp>
#include <monomorph/core/file_error.hpp>
#include <monomorph/core/text_file.hpp>
#include <monomorph/data/text/utf8.hpp>
#include <monomorph/data/tokenizer/sentence_piece/sentence_piece_model.hpp>
#include <monomorph/data/tokenizer/stages/precompiled_character_map.hpp>

#include <fmt/format.h>
#include <sentencepiece_processor.h>

namespace monomorph::data {
namespace {

constexpr std::size_t largest_file_bytes = std::size_t{256} << 20;

[[noreturn]] void refuse(const std::string& path, std::string_view why) {
  throw UsageError("TOK-44", fmt::format("{} is no SentencePiece model: {}; take the file from where it was made again",
                                         in_quotes(path), in_quotes(why)));
}

/// The library follows the offsets in compiled character maps wherever they point, so they are checked here.
/// @return whether all that may hold one could be read   @throws [TOK-43]
bool check_character_maps(std::string_view model) {
  constexpr std::uint32_t normalizer_spec = 3, denormalizer_spec = 5, precompiled_charsmap = 2;
  MessageReader fields(model);
  while (const auto field = fields.next()) {
    if (!field->is_bytes(normalizer_spec) && !field->is_bytes(denormalizer_spec)) continue;
    MessageReader settings(field->bytes);
    while (const auto setting = settings.next()) {
      if (setting->is_bytes(precompiled_charsmap) && !setting->bytes.empty()) {
        PrecompiledCharacterMap unused(setting->bytes);
      }
    }
    if (!settings.is_whole()) return false;
  }
  return fields.is_whole();
}

/// Returns what is wrong, or "".
std::string load(sentencepiece::SentencePieceProcessor& processor, std::string_view bytes) {
  try {
    const auto status = processor.LoadFromSerializedProto(bytes);
    return status.ok() ? "" : status.ToString();
  } catch (const std::exception& failure) {  // parts of the library throw
    return failure.what();
  }
}

}  // namespace

struct SentencePieceModel::Library {
  sentencepiece::SentencePieceProcessor processor;
  std::optional<SentencePieceEncoder> encoder;  ///< none: the library itself encodes

  int checked(std::int32_t id) const {
    if (id >= 0 && id < processor.GetPieceSize()) return id;
    throw Error("TOK-04",
                fmt::format("the id {} has no token in this vocabulary of {}; is it the tokenizer that the ids "
                            "were made with?",
                            id, processor.GetPieceSize()));
  }
};

SentencePieceModel::SentencePieceModel(const std::string& path) : path_(path) {
  const std::string bytes = read_text_file(path, largest_file_bytes);
  if (!check_character_maps(bytes)) refuse(path, "its message of Protocol Buffers is broken");
  auto library = std::make_unique<Library>();
  if (const std::string failure = load(library->processor, bytes); !failure.empty()) refuse(path, failure);
  if (const SentencePieceFile file(bytes); SentencePieceEncoder::can_encode(file)) library->encoder.emplace(file);
  library_ = std::move(library);
}

SentencePieceModel::SentencePieceModel(SentencePieceModel&&) noexcept = default;
SentencePieceModel& SentencePieceModel::operator=(SentencePieceModel&&) noexcept = default;
SentencePieceModel::~SentencePieceModel() = default;

void SentencePieceModel::encode(std::string_view text, std::vector<std::int32_t>& ids) const {
  std::string mended;
  if (valid_utf8_prefix(text) != text.size()) text = mended = replace_invalid_utf8(text);
  if (library_->encoder) return library_->encoder->encode(text, ids);
  encode_with_library(text, ids);
}

void SentencePieceModel::encode_with_library(std::string_view text, std::vector<std::int32_t>& ids) const {
  std::vector<int> found;
  const auto status = library_->processor.Encode(text, &found);
  if (!status.ok()) {
    throw Error("TOK-45",
                fmt::format("the SentencePiece model {} cannot encode a text of {} bytes: {}; is the file whole?",
                            in_quotes(path_), text.size(), in_quotes(status.message())));
  }
  ids.insert(ids.end(), found.begin(), found.end());
}

std::string SentencePieceModel::decode(std::span<const std::int32_t> ids) const {
  std::vector<int> checked;
  checked.reserve(ids.size());
  for (const std::int32_t id : ids) checked.push_back(library_->checked(id));
  std::string text;
  const auto status = library_->processor.Decode(checked, &text);
  if (!status.ok()) {
    throw Error("TOK-45", fmt::format("the SentencePiece model {} cannot decode {} ids: {}; is the file whole?",
                                      in_quotes(path_), ids.size(), in_quotes(status.message())));
  }
  return text;
}

std::int32_t SentencePieceModel::vocab_size() const { return library_->processor.GetPieceSize(); }

const std::string& SentencePieceModel::piece(std::int32_t id) const {
  return library_->processor.IdToPiece(library_->checked(id));
}

SentencePieceModel::Kind SentencePieceModel::kind(std::int32_t id) const {
  const auto& processor = library_->processor;
  if (processor.IsControl(library_->checked(id))) return Kind::control;
  if (processor.IsUnknown(id)) return Kind::unknown;
  if (processor.IsByte(id)) return Kind::byte;
  return processor.IsUnused(id) ? Kind::unused : Kind::text;
}

std::optional<std::int32_t> SentencePieceModel::find(std::string_view piece) const {
  const int id = library_->processor.PieceToId(piece);  // the unknown one's if there is none
  return id >= 0 && id < vocab_size() && library_->processor.IdToPiece(id) == piece ? std::optional(id) : std::nullopt;
}

std::optional<std::int32_t> SentencePieceModel::end_id() const {
  const int id = library_->processor.eos_id();
  return id < 0 ? std::nullopt : std::optional(id);
}

std::optional<std::int32_t> SentencePieceModel::begin_id() const {
  const int id = library_->processor.bos_id();
  return id < 0 ? std::nullopt : std::optional(id);
}

}  // namespace monomorph::data
