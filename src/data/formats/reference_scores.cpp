#include <monomorph/data/formats/reference_scores.hpp>

#include <monomorph/core/atomic_file.hpp>
#include <monomorph/core/error.hpp>
#include <monomorph/core/file_error.hpp>
#include <monomorph/core/xxh64.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <string_view>

namespace monomorph::data {
namespace {

constexpr std::string_view magic = "monorefs";
constexpr std::uint64_t version = 1;

/// The header's numbers in the order of the file, behind the magic; all are little-endian and unsigned.
struct Header {
  std::uint64_t version, n_samples, sequences_per_sample, tokens_hash;
  std::uint64_t hash;  ///< XXH64 of the scores, then of the header before this number
};
constexpr std::size_t header_bytes = magic.size() + sizeof(Header);  // 48: scores lie where doubles may

std::uint64_t hash_of(const Header& header, std::span<const std::byte> scores) {
  Xxh64 hash;
  hash.update(scores);
  hash.update(std::as_bytes(std::span(magic)));
  hash.update(std::as_bytes(std::span(&header, 1)).first(sizeof(Header) - sizeof(header.hash)));
  return hash.digest();
}

[[noreturn]] void throw_damaged(const std::string& path, std::string_view why) {
  throw Error("PREF-07", fmt::format("{} is damaged or has no scores of a reference: {}; make it again with the "
                                     "recipe's command reference",
                                     in_quotes(path), why));
}

Header read_header(std::span<const std::byte> bytes, const std::string& path) {
  if (bytes.size() < header_bytes)
    throw_damaged(path, fmt::format("it has {} bytes, less than the header's {}", bytes.size(), header_bytes));
  if (std::memcmp(bytes.data(), magic.data(), magic.size()) != 0) throw_damaged(path, "it begins otherwise");
  Header header;
  std::memcpy(&header, bytes.data() + magic.size(), sizeof(header));
  if (header.version != version)
    throw_damaged(path, fmt::format("it is of version {}, and {} is known", header.version, version));
  return header;
}

Header header_of(const TokenDataset& set, std::int64_t sequences_per_sample) {
  return {.version = version,
          .n_samples = static_cast<std::uint64_t>(set.n_samples()),
          .sequences_per_sample = static_cast<std::uint64_t>(sequences_per_sample),
          .tokens_hash = set.tokens_hash(),
          .hash = 0};
}

MappedFile opened(const TokenDataset& set) {
  const std::string path = reference_scores_path(set.file().path());
  std::error_code unreadable;  // whoever opens the file is told why
  if (std::filesystem::symlink_status(path, unreadable).type() == std::filesystem::file_type::not_found)
    throw UsageError(
        "PREF-06", fmt::format("{} lacks the scores of the reference, {}: how probable its sequences are to the model "
                               "that training starts from; make them with the recipe's command reference",
                               in_quotes(set.file().path()), in_quotes(path)));
  return MappedFile(path);
}

}  // namespace

std::uint64_t sequences_format(std::int64_t sequences_per_sample) {
  const std::string text = fmt::format("monomorph: {} sequences in a sample", sequences_per_sample);
  return xxh64(std::as_bytes(std::span(text)));
}

std::string reference_scores_path(const std::string& packed_file) {
  std::filesystem::path path(packed_file);
  if (path.extension() == ".pbin") return path.replace_extension(".reference").string();
  return packed_file + ".reference";
}

void check_sequences(const TokenDataset& set, std::int64_t sequences_per_sample) {
  if (set.loss_mask() && set.loss_mask()->header().format == sequences_format(sequences_per_sample)) return;
  throw UsageError(
      "PREF-05", fmt::format("{} must be a set of samples of {} sequences each, and was not made as one; make it with "
                             "monomorph-data preferences, --sequence-length {}",
                             in_quotes(set.file().path()), sequences_per_sample, set.sequence_length()));
}

void write_reference_scores(const TokenDataset& set, std::int64_t sequences_per_sample,
                            std::span<const double> scores) {
  Header header = header_of(set, sequences_per_sample);
  header.hash = hash_of(header, std::as_bytes(scores));
  AtomicFile file(reference_scores_path(set.file().path()));
  file.write(magic);
  file.write(std::as_bytes(std::span(&header, 1)));
  file.write(std::as_bytes(scores));
  file.commit();
}

ReferenceScores ReferenceScores::beside(const TokenDataset& set, std::int64_t sequences_per_sample) {
  return {set, sequences_per_sample};
}

ReferenceScores::ReferenceScores(const TokenDataset& set, std::int64_t sequences_per_sample)
    : file_(opened(set)), sequences_per_sample_(sequences_per_sample) {
  const Header header = read_header(file_.bytes(), file_.path()), wanted = header_of(set, sequences_per_sample);
  const auto scores = file_.bytes().subspan(header_bytes);
  if (header.n_samples != wanted.n_samples || header.sequences_per_sample != wanted.sequences_per_sample ||
      header.tokens_hash != wanted.tokens_hash)
    throw UsageError(
        "PREF-08", fmt::format("the scores {} are not of the samples of {}; make them again with the recipe's command "
                               "reference",
                               in_quotes(file_.path()), in_quotes(set.file().path())));
  const std::uint64_t n = header.n_samples * header.sequences_per_sample;
  if (scores.size() != n * sizeof(double))
    throw_damaged(file_.path(), fmt::format("{} bytes follow the header, and {} scores take {}", scores.size(), n,
                                            n * sizeof(double)));
  if (hash_of(header, scores) != header.hash) throw_damaged(file_.path(), "its hash is not that of what it holds");
}

std::span<const double> ReferenceScores::of(std::int64_t sample) const {
  const auto K = static_cast<std::size_t>(sequences_per_sample_);
  const auto* const first = reinterpret_cast<const double*>(file_.bytes().data() + header_bytes);
  return {first + static_cast<std::size_t>(sample) * K, K};
}

}  // namespace monomorph::data
