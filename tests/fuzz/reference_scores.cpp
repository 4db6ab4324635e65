// Scores of a reference: an accepted file has as many as the set has sequences. Of most inputs the hashes are wrong, so
// that they are read as they are, with the right hash of what they hold, and as scores of the set beside them.
#include <monomorph/core/xxh64.hpp>
#include <monomorph/data/formats/reference_scores.hpp>
#include <monomorph/data/formats/token_dataset.hpp>

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "memory_folder.hpp"

using namespace monomorph;

namespace {

constexpr std::int64_t sequence_length = 4, sequences_per_sample = 2;
constexpr std::size_t header_bytes = 48, tokens_hash_at = 32, hash_at = 40;

/// A packed file of nine tokens of a byte, and so of two samples: its documents are a pickled list of (0, 9).
constexpr auto packed_set =
    std::to_array<std::uint8_t>({9, 0, 0, 0, 0,    0,    0,   0,   1,   0, 0,   0, 1,    2,   3,   4,  5,
                                 6, 7, 8, 9, 0x80, 0x02, ']', '(', 'K', 0, 'K', 9, 0x86, 'a', 'e', '.'});

using Bytes = std::vector<std::uint8_t>;

void put_word(Bytes& bytes, std::size_t at, std::uint64_t word) { std::memcpy(bytes.data() + at, &word, sizeof word); }

void put_right_hash(Bytes& bytes) {
  const auto all = std::as_bytes(std::span(bytes));
  Xxh64 hash;
  hash.update(all.subspan(header_bytes));
  hash.update(all.first(hash_at));
  put_word(bytes, hash_at, hash.digest());
}

void read(const fuzz::MemoryFolder& folder, const data::TokenDataset& set, const Bytes& bytes) {
  folder.put("pairs.reference", fuzz::as_text(bytes.data(), bytes.size()));
  fuzz::refusing([&] {
    const auto scores = data::ReferenceScores::beside(set, sequences_per_sample);
    for (std::int64_t i = 0; i < set.n_samples(); ++i) {
      const std::span<const double> of_sample = scores.of(i);
      fuzz::require(of_sample.size() == sequences_per_sample, "a sample has a score for each sequence");
      std::array<double, sequences_per_sample> copy{};
      std::ranges::copy(of_sample, copy.begin());
      const std::size_t at = header_bytes + static_cast<std::size_t>(i) * sizeof copy;
      fuzz::require(std::memcmp(copy.data(), bytes.data() + at, sizeof copy) == 0, "scores are those of the file");
    }
  });
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const fuzz::MemoryFolder folder;
  folder.put("pairs.pbin", fuzz::as_text(packed_set.data(), packed_set.size()));
  const data::TokenDataset set(folder.path() + "/pairs.pbin", sequence_length, 256, data::LastTarget::reused);
  Bytes bytes(data, data + size);
  read(folder, set, bytes);
  if (size < header_bytes) return 0;
  put_right_hash(bytes);
  read(folder, set, bytes);
  put_word(bytes, tokens_hash_at, set.tokens_hash());
  put_right_hash(bytes);
  read(folder, set, bytes);
  return 0;
}
