#include <monomorph/core/xxh64.hpp>

#include <xxhash.h>

#include <new>

namespace monomorph {
namespace {

XXH64_state_t* new_state() {
  XXH64_state_t* const state = XXH64_createState();
  if (state == nullptr) throw std::bad_alloc();
  return state;
}

}  // namespace

Xxh64::Xxh64(std::uint64_t seed) : state_(new_state()) { XXH64_reset(state_.get(), seed); }

Xxh64::Xxh64(const Xxh64& other) : state_(new_state()) { *this = other; }

Xxh64& Xxh64::operator=(const Xxh64& other) {
  if (this != &other) XXH64_copyState(state_.get(), other.state_.get());
  return *this;
}

void Xxh64::Free::operator()(XXH64_state_s* state) const noexcept { XXH64_freeState(state); }

void Xxh64::update(std::span<const std::byte> bytes) { XXH64_update(state_.get(), bytes.data(), bytes.size()); }

std::uint64_t Xxh64::digest() const { return XXH64_digest(state_.get()); }

std::uint64_t xxh64(std::span<const std::byte> bytes) {  // as one piece: XXH64() of Debian's library is slower
  Xxh64 hash;
  hash.update(bytes);
  return hash.digest();
}

}  // namespace monomorph
