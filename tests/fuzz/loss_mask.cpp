// .mask: an accepted file says of each token of the set beside it whether it counts, and says how many do. Of most
// inputs the hashes are wrong, so that they are read as they are, with the right hash of what they hold, as a mask of
// the tokens beside them, and as one that has counted them, too.
#include <monomorph/core/ignored_target.hpp>
#include <monomorph/core/xxh64.hpp>
#include <monomorph/data/formats/loss_mask.hpp>
#include <monomorph/data/formats/token_dataset.hpp>

#include <array>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

#include "memory_folder.hpp"

using namespace monomorph;

namespace {

constexpr std::int64_t n_tokens = 13, sequence_length = 4;
constexpr std::size_t count_at = 24, tokens_hash_at = 40, hash_at = 64, header_bytes = 72;

/// A packed file of so many tokens of a byte, whose documents are a pickled list of (0, 13).
constexpr auto packed_set =
    std::to_array<std::uint8_t>({13, 0, 0,  0,  0,  0,  0,    0, 1,   0,   0,   0, 1,   2,  3,    4,   5,   6,  7,
                                 8,  9, 10, 11, 12, 13, 0x80, 2, ']', '(', 'K', 0, 'K', 13, 0x86, 'a', 'e', '.'});

using Bytes = std::vector<std::uint8_t>;

void put_word(Bytes& bytes, std::size_t at, std::uint64_t word) { std::memcpy(bytes.data() + at, &word, sizeof word); }

void put_right_hash(Bytes& bytes) {
  const auto all = std::as_bytes(std::span(bytes));
  Xxh64 hash;
  hash.update(all.subspan(header_bytes));
  hash.update(all.first(hash_at));
  put_word(bytes, hash_at, hash.digest());
}

bool is_set(const Bytes& bytes, std::int64_t token) {
  const std::size_t at = header_bytes + static_cast<std::size_t>(token) / 8;
  return at < bytes.size() && (bytes[at] >> token % 8 & 1) != 0;
}

std::uint64_t n_set(const Bytes& bytes) {
  std::uint64_t n = 0;
  for (std::int64_t token = 0; token < n_tokens; ++token) n += is_set(bytes, token) ? 1 : 0;
  return n;
}

void read_samples(const std::string& path) {
  const data::TokenDataset set(path, sequence_length, 256, data::LastTarget::reused);
  std::array<std::int32_t, sequence_length> inputs{}, targets{};
  for (std::int64_t i = 0; i < set.n_samples(); ++i) {
    set.read(i, inputs.data(), targets.data());
    for (std::int64_t t = 0; t < sequence_length; ++t) {
      const std::int64_t token = set.first_token(i) + t + 1;
      const bool counts = set.loss_mask()->counts(token);
      fuzz::require(targets.at(t) == (counts ? token + 1 : ignored_target), "targets are those that the mask counts");
    }
  }
  const std::int64_t counted = set.n_counted();
  fuzz::require(0 <= counted && counted < n_tokens, "as many tokens count as there can be");
}

std::string_view as_text(std::span<const std::uint8_t> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

void read(const fuzz::MemoryFolder& folder, const Bytes& bytes) {
  folder.put("chats.mask", as_text(bytes));
  const std::string path = folder.path() + "/chats.pbin";
  fuzz::refusing([&] {
    const auto mask = data::LossMask::beside(data::PackedFile(path));
    fuzz::require(mask.has_value(), "a mask that is there is found");
    for (std::int64_t token = 0; token < n_tokens; ++token)
      fuzz::require(mask->counts(token) == is_set(bytes, token), "a token counts as its bit says");
    fuzz::require(mask->header().n_counted == n_set(bytes), "a mask knows how many tokens count");
    fuzz::refusing([&] { mask->check_tokenizer({}, "tokenizer.json"); });
  });
  fuzz::refusing([&] { read_samples(path); });
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const fuzz::MemoryFolder folder;
  folder.put("chats.pbin", as_text(packed_set));
  static const std::uint64_t tokens_hash = xxh64(std::as_bytes(std::span(packed_set).subspan(12, n_tokens)));
  Bytes bytes(data, data + size);
  read(folder, bytes);
  if (size < header_bytes) return 0;
  put_right_hash(bytes);
  read(folder, bytes);
  put_word(bytes, tokens_hash_at, tokens_hash);
  put_right_hash(bytes);
  read(folder, bytes);
  put_word(bytes, count_at, n_set(bytes));
  put_right_hash(bytes);
  read(folder, bytes);
  return 0;
}
