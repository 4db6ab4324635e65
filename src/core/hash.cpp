#include <monomorph/core/hash.hpp>

#include <algorithm>
#include <bit>
#include <cstring>

namespace monomorph {
namespace {

static_assert(std::endian::native == std::endian::little, "words are read in the byte order of XXH64");

// The five constants of the xxHash specification.
constexpr std::uint64_t prime_1 = 0x9E3779B185EBCA87u;
constexpr std::uint64_t prime_2 = 0xC2B2AE3D27D4EB4Fu;
constexpr std::uint64_t prime_3 = 0x165667B19E3779F9u;
constexpr std::uint64_t prime_4 = 0x85EBCA77C2B2AE63u;
constexpr std::uint64_t prime_5 = 0x27D4EB2F165667C5u;

template <class Word> std::uint64_t load(const std::byte* bytes) {
  Word word;
  std::memcpy(&word, bytes, sizeof(word));
  return word;
}

constexpr std::uint64_t mix_word(std::uint64_t lane, std::uint64_t word) {
  return std::rotl(lane + word * prime_2, 31) * prime_1;
}

/// The last bytes, fewer than a stripe: eight, four and one at a time; then every bit is spread over the whole word.
std::uint64_t finish(std::uint64_t hash, std::span<const std::byte> rest) {
  for (; rest.size() >= 8; rest = rest.subspan(8)) {
    hash = std::rotl(hash ^ mix_word(0, load<std::uint64_t>(rest.data())), 27) * prime_1 + prime_4;
  }
  if (rest.size() >= 4) {
    hash = std::rotl(hash ^ (load<std::uint32_t>(rest.data()) * prime_1), 23) * prime_2 + prime_3;
    rest = rest.subspan(4);
  }
  for (const std::byte byte : rest) {
    hash = std::rotl(hash ^ (std::to_integer<std::uint64_t>(byte) * prime_5), 11) * prime_1;
  }
  hash = (hash ^ (hash >> 33)) * prime_2;
  hash = (hash ^ (hash >> 29)) * prime_3;
  return hash ^ (hash >> 32);
}

}  // namespace

Xxh64::Xxh64(std::uint64_t seed)
    : seed_(seed), lanes_{seed + prime_1 + prime_2, seed + prime_2, seed, seed - prime_1} {}

void Xxh64::consume_stripe(const std::byte* stripe) {
  for (std::size_t lane = 0; lane < lanes_.size(); ++lane) {
    lanes_[lane] = mix_word(lanes_[lane], load<std::uint64_t>(stripe + 8 * lane));
  }
}

void Xxh64::update(std::span<const std::byte> bytes) {
  n_bytes_ += bytes.size();
  if (n_pending_ > 0) {
    const std::size_t n_taken = std::min(bytes.size(), stripe_bytes - n_pending_);
    std::copy_n(bytes.begin(), n_taken, pending_.begin() + static_cast<std::ptrdiff_t>(n_pending_));
    n_pending_ += n_taken;
    bytes = bytes.subspan(n_taken);
    if (n_pending_ < stripe_bytes) return;
    consume_stripe(pending_.data());
    n_pending_ = 0;
  }
  for (; bytes.size() >= stripe_bytes; bytes = bytes.subspan(stripe_bytes)) consume_stripe(bytes.data());
  std::copy(bytes.begin(), bytes.end(), pending_.begin());
  n_pending_ = bytes.size();
}

std::uint64_t Xxh64::digest() const {
  std::uint64_t hash = seed_ + prime_5;
  if (n_bytes_ >= stripe_bytes) {
    hash = std::rotl(lanes_[0], 1) + std::rotl(lanes_[1], 7) + std::rotl(lanes_[2], 12) + std::rotl(lanes_[3], 18);
    for (const std::uint64_t lane : lanes_) hash = (hash ^ mix_word(0, lane)) * prime_1 + prime_4;
  }
  return finish(hash + n_bytes_, std::span(pending_).first(n_pending_));
}

std::uint64_t xxh64(std::span<const std::byte> bytes) {
  Xxh64 hash;
  hash.update(bytes);
  return hash.digest();
}

}  // namespace monomorph
