#include "data/formats/tokens_hash.hpp"

#include <monomorph/core/error.hpp>
#include <monomorph/core/file_error.hpp>
#include <monomorph/core/ignored_target.hpp>
#include <monomorph/core/xxh64.hpp>
#include <monomorph/data/formats/loss_mask.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <vector>

namespace monomorph::data {
namespace {

constexpr std::string_view magic = "monomask";
constexpr std::uint64_t mask_version = 1;  // four bytes, then four zero bytes, which are reserved

/// The header's numbers in the order of the file.
std::array<std::uint64_t, 8> numbers_of(const LossMaskHeader& header) {
  return {mask_version,       header.n_tokens,   header.n_counted, header.sequence_length,
          header.tokens_hash, header.vocabulary, header.format,    header.hash};
}
static_assert(magic.size() + 8 * sizeof(std::uint64_t) == loss_mask_header_bytes);

template <class... Arguments>
[[noreturn]] void throw_damaged_mask(const std::string& path, fmt::format_string<Arguments...> text,
                                     Arguments&&... arguments) {
  throw Error("CHAT-10",
              fmt::format("{} is damaged or no loss mask: {}; make it again with monomorph-data chat or pairs",
                          in_quotes(path), fmt::format(text, std::forward<Arguments>(arguments)...)));
}

/// How many of the first `n` bits are 1; no bytes follow them.
std::uint64_t ones_of(std::span<const std::byte> bits, std::uint64_t n) {
  const auto ones_in = [](std::byte byte) { return std::popcount(std::to_integer<unsigned>(byte)); };
  std::uint64_t ones = 0;
  for (const std::byte byte : bits) ones += ones_in(byte);
  return n % 8 == 0 ? ones : ones - ones_in(bits.back() >> (n % 8));
}

/// Unlike with is_there(), what can't be looked at counts as there: whoever opens it is told why.
bool may_be_there(const std::string& path) {
  std::error_code unreadable;
  return std::filesystem::symlink_status(path, unreadable).type() != std::filesystem::file_type::not_found;
}

LossMaskHeader read_header(std::span<const std::byte> bytes, const std::string& path) {
  if (bytes.size() < loss_mask_header_bytes) {
    throw_damaged_mask(path, "it has {} bytes, less than the header's {}", bytes.size(), loss_mask_header_bytes);
  }
  if (std::memcmp(bytes.data(), magic.data(), magic.size()) != 0) throw_damaged_mask(path, "it begins otherwise");
  std::array<std::uint64_t, 8> numbers;
  std::memcpy(numbers.data(), bytes.data() + magic.size(), sizeof(numbers));
  if (numbers[0] != mask_version)
    throw_damaged_mask(path, "it is of version {}, and {} is known", numbers[0], mask_version);
  return {.n_tokens = numbers[1],
          .n_counted = numbers[2],
          .sequence_length = numbers[3],
          .tokens_hash = numbers[4],
          .vocabulary = numbers[5],
          .format = numbers[6],
          .hash = numbers[7]};
}

}  // namespace

std::array<std::byte, loss_mask_header_bytes> to_bytes(const LossMaskHeader& header) {
  std::array<std::byte, loss_mask_header_bytes> bytes;
  const auto numbers = numbers_of(header);
  std::memcpy(bytes.data(), magic.data(), magic.size());
  std::memcpy(bytes.data() + magic.size(), numbers.data(), sizeof(numbers));
  return bytes;
}

std::uint64_t hash_of(const LossMaskHeader& header, Xxh64 bits_hash) {
  const auto bytes = to_bytes(header);
  bits_hash.update(std::span(bytes).first(bytes.size() - sizeof(header.hash)));
  return bits_hash.digest();
}

std::uint64_t fingerprint(const TokenizerDefinition& definition) {
  std::vector<std::string> tokens = definition.vocabulary;
  for (const AddedToken& added : definition.added_tokens) {
    const auto id = static_cast<std::size_t>(added.id);
    if (id >= tokens.size()) tokens.resize(id + 1);
    tokens[id] = added.content;
  }
  Xxh64 hash;
  for (const std::string& token : tokens) {
    // The zero at the end of a token separates it from the next one.
    hash.update(std::as_bytes(std::span(token.c_str(), token.size() + 1)));
  }
  return hash.digest();
}

std::uint64_t texts_format(std::int64_t texts_per_sample) {
  const std::string text = fmt::format("monomorph: {} texts in a sample", texts_per_sample);
  return xxh64(std::as_bytes(std::span(text)));
}

std::string loss_mask_path(const std::string& packed_file) {
  std::filesystem::path path(packed_file);
  if (path.extension() == ".pbin") return path.replace_extension(".mask").string();
  return packed_file + ".mask";
}

void refuse_loss_mask(const std::string& packed_file) {
  const std::string path = loss_mask_path(packed_file);
  if (!may_be_there(path)) return;
  throw UsageError("CHAT-14",
                   fmt::format("{} has the loss mask {}, which this would lose; do it to the JSON Lines file "
                               "and make the set again, or delete the mask to have every token count",
                               in_quotes(packed_file), in_quotes(path)));
}

std::optional<LossMask> LossMask::beside(const PackedFile& file) {
  const std::string path = loss_mask_path(file.path());
  if (!may_be_there(path)) return std::nullopt;
  return LossMask(path, file);
}

LossMask::LossMask(const std::string& path, const PackedFile& file)
    : file_(path), header_(read_header(file_.bytes(), path)) {
  const auto other_tokens = [&](const std::string& why) {
    throw UsageError("CHAT-11", fmt::format("the loss mask {} was not made with {}: {}; make the set again, or delete "
                                            "the mask to train on every token",
                                            in_quotes(path), in_quotes(file.path()), why));
  };
  if (header_.n_tokens != static_cast<std::uint64_t>(file.n_tokens())) {
    other_tokens(fmt::format("it is for {} tokens, and there are {}", header_.n_tokens, file.n_tokens()));
  }
  bits_ = file_.bytes().subspan(loss_mask_header_bytes);
  if (const std::uint64_t n_bytes = (header_.n_tokens + 7) / 8; bits_.size() != n_bytes) {
    throw_damaged_mask(path, "{} bytes follow the header, and {} tokens take {}", bits_.size(), header_.n_tokens,
                       n_bytes);
  }
  Xxh64 bits_hash;
  bits_hash.update(bits_);
  if (hash_of(header_, bits_hash) != header_.hash) throw_damaged_mask(path, "its hash is not that of what it holds");
  if (const std::uint64_t ones = ones_of(bits_, header_.n_tokens); ones != header_.n_counted)
    throw_damaged_mask(path, "it says that {} tokens count, and {} do", header_.n_counted, ones);
  if (TokensHash::of(file.data()) != header_.tokens_hash) other_tokens("the tokens are not those that it was made for");
}

bool LossMask::counts(std::int64_t token) const {
  const auto at = static_cast<std::uint64_t>(token);
  return (bits_[at / 8] >> (at % 8) & std::byte{1}) != std::byte{0};
}

void LossMask::apply(std::int64_t first_token, std::span<std::int32_t> targets) const {
  for (std::size_t i = 0; i < targets.size(); ++i) {
    if (!counts(first_token + static_cast<std::int64_t>(i))) targets[i] = ignored_target;
  }
}

void LossMask::check_tokenizer(const TokenizerDefinition& definition, const std::string& from) const {
  if (fingerprint(definition) == header_.vocabulary) return;
  throw UsageError(
      "CHAT-15",
      fmt::format("the samples of {} were made with another tokeniser than {}: their vocabularies differ; give "
                  "the one that they were made with, or make the set again",
                  in_quotes(path()), in_quotes(from)));
}

void LossMask::check_samples(std::int64_t sequence_length, LastTarget last_target) const {
  if (last_target != LastTarget::reused) {
    throw UsageError(
        "CHAT-12",
        fmt::format("the samples of {} follow each other, and the run leaves a token out between samples; have "
                    "it reuse the last target",
                    in_quotes(path())));
  }
  if (header_.sequence_length == static_cast<std::uint64_t>(sequence_length)) return;
  throw UsageError(
      "CHAT-12", fmt::format("the samples of {} have {} tokens, and the sequence length is {}; make the set again with "
                             "--sequence-length {}",
                             in_quotes(path()), header_.sequence_length, sequence_length, sequence_length));
}

}  // namespace monomorph::data
