// After the first step nothing is allocated: by nobody in the process, LibTorch, MKL and OpenMP included. malloc and
// its relatives are replaced by our own, which glibc allows a program to do (its manual, "Replacing malloc"); operator
// new comes down to them.
#include "numerics/schedule_recipes.hpp"
#include "support/adamw_step.hpp"
#include "support/catch.hpp"

#include <monomorph/runtime/world.hpp>

#include <atomic>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <memory>

namespace {
std::atomic<bool> counting = false;
std::atomic<long> n_allocations = 0;

void count() {
  if (counting.load(std::memory_order_relaxed)) n_allocations.fetch_add(1, std::memory_order_relaxed);
}
}  // namespace

extern "C" {
void* __libc_malloc(std::size_t bytes);
void* __libc_calloc(std::size_t n, std::size_t bytes);
void* __libc_realloc(void* memory, std::size_t bytes);
void* __libc_memalign(std::size_t alignment, std::size_t bytes);

void* malloc(std::size_t bytes) {
  count();
  return __libc_malloc(bytes);
}
void* calloc(std::size_t n, std::size_t bytes) {
  count();
  return __libc_calloc(n, bytes);
}
void* realloc(void* memory, std::size_t bytes) {
  count();
  return __libc_realloc(memory, bytes);
}
void* memalign(std::size_t alignment, std::size_t bytes) {
  count();
  return __libc_memalign(alignment, bytes);
}
void* aligned_alloc(std::size_t alignment, std::size_t bytes) { return memalign(alignment, bytes); }
int posix_memalign(void** memory, std::size_t alignment, std::size_t bytes) {
  *memory = memalign(alignment, bytes);
  return *memory == nullptr ? ENOMEM : 0;
}
}

namespace monomorph::testing {
namespace {

template <class R> struct Tiled : R {
  static constexpr ModelSpec model = [] {
    ModelSpec model = R::model;
    model.attention_kernel = AttentionKernel::tiled;
    model.dropout.attention = 0;
    return model;
  }();
};
template <class R> struct Recomputed : R { using checkpointing = checkpointing::EveryBlock; };

void take_step(train::TrainingStep& step, std::uint64_t number, std::int64_t T) {
  step.accumulate(sequences.from(0, T), number, {});
  step.accumulate(sequences.from(2, T), number, {1, 2});
  const double norm = std::sqrt(step.gradient_size(train::GradientNorm::two).sum.value());
  step.update(adamw_step(static_cast<std::int64_t>(number), 1 / norm));
  step.evaluate(sequences.from(1, T));
}

template <Recipe R> long allocations_after_first_step() {
  const std::unique_ptr<Communicator> communicator = one_rank();
  train::Step<R> step(*communicator, 2, 3);
  take_step(step, 1, R::model.context_length);
  n_allocations = 0;
  counting = true;
  take_step(step, 2, R::model.context_length);
  take_step(step, 3, R::model.context_length);
  counting = false;
  return n_allocations;
}

}  // namespace

TEST_CASE("the count sees an allocation by new and one by malloc") {
  n_allocations = 0;
  counting = true;
  { const std::unique_ptr<int> one(new int(1)); }
  std::free(std::malloc(100));
  counting = false;
  CHECK(n_allocations == 2);
}

TEST_CASE("after the first step nothing is allocated") {
  CHECK(allocations_after_first_step<Tiled<gpt2_like>>() == 0);
  CHECK(allocations_after_first_step<Tiled<llama_like>>() == 0);
  CHECK(allocations_after_first_step<InBf16<Tiled<gpt2_like>>>() == 0);
  CHECK(allocations_after_first_step<InBf16<Tiled<llama_like>>>() == 0);
  CHECK(allocations_after_first_step<Recomputed<llama_like>>() == 0);
  CHECK(allocations_after_first_step<InDocuments<Tiled<gpt2_like>>>() == 0);
}

TEST_CASE("after the first step nothing is allocated, with attention dropout") {
  CHECK(allocations_after_first_step<gpt2_like>() == 0);
  CHECK(allocations_after_first_step<Recomputed<InBf16<gpt2_like>>>() == 0);
}

}  // namespace monomorph::testing
