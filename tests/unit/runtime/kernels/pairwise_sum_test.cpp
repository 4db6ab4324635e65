#include <monomorph/runtime/kernels/pairwise_sum.hpp>
#include <vector>
#include "kernel_case.hpp"
#include "runtime/cuda/sums/pairwise.hpp"
#include "support/catch.hpp"

namespace pairwise_sum_test {

using namespace monomorph;
using namespace monomorph::testing;

namespace {

/// ((0 + 1) + (2 + 3)) + … of n terms, by its definition: the greatest power of two of them, and the rest.
template <class S> S by_definition(const std::vector<S>& terms, std::size_t first, std::size_t n) {
  if (n == 1) return terms[first];
  std::size_t half = 1;
  while (half * 2 < n) half *= 2;
  return by_definition(terms, first, half) + by_definition(terms, first + half, n - half);
}

constexpr std::int64_t n = 64 * 37;

}  // namespace

TEST_CASE("the terms are joined in pairs, in fp32", "[pairwise_sum]") {
  for (const std::size_t n_parts : {1u, 2u, 3u, 4u, 5u, 6u, 7u, 8u, 13u})
    for (const DType dtype : {DType::fp32, DType::bf16}) {
      std::vector<Storage> parts;
      for (unsigned i = 0; i < n_parts; ++i) parts.emplace_back(random_matrix(1, n, i + 1), dtype);
      std::vector<View> views;
      for (Storage& part : parts) views.push_back(part.view());
      for_each_isa([&](const char* isa) {
        CAPTURE(n_parts, isa);
        for (const bool accumulate : {false, true}) {
          Storage sum(random_matrix(1, n, 99), DType::fp32);
          const Values before = sum.values();
          cpu::pairwise_sum(cpu::Queue{}, views, sum.view(), accumulate);
          const Values after = sum.values();
          bool equal = true;
          for (std::int64_t i = 0; i < n; ++i) {
            std::vector<float> terms;
            for (const Storage& part : parts) terms.push_back(static_cast<float>(part.values()[i]));
            const float total = by_definition(terms, 0, terms.size());
            equal = equal && after[i] == (accumulate ? static_cast<float>(before[i]) + total : total);
            if (i > 200) break;  // values() copies
          }
          CHECK(equal);
        }
      });
    }
}

TEST_CASE("aligned groups may be summed before, elsewhere", "[pairwise_sum]") {
  std::vector<Storage> parts;
  std::vector<View> views;
  for (unsigned i = 0; i < 8; ++i) parts.emplace_back(random_matrix(1, n, i + 1), DType::fp32);
  for (Storage& part : parts) views.push_back(part.view());
  Storage all(random_matrix(1, n, 99), DType::fp32), low = all, high = all, joined = all;
  cpu::pairwise_sum(cpu::Queue{}, views, all.view(), false);
  cpu::pairwise_sum(cpu::Queue{}, std::span(views).first(4), low.view(), false);
  cpu::pairwise_sum(cpu::Queue{}, std::span(views).last(4), high.view(), false);
  const View halves[] = {low.view(), high.view()};
  cpu::pairwise_sum(cpu::Queue{}, halves, joined.view(), false);
  CHECK(joined.values() == all.values());
  cpu::pairwise_sum(cpu::Queue{}, halves, low.view(), false);  // into one of its parts
  CHECK(low.values() == all.values());
}

TEST_CASE("the order in which a GPU joins the terms is that of the CPU", "[pairwise_sum]") {
  std::vector<float> terms;
  for (const double x : random_matrix(1, 2048, 5).values) terms.push_back(static_cast<float>(x));
  for (std::size_t count = 1; count <= terms.size(); count += count < 40 ? 1 : 251) {
    CAPTURE(count);
    CHECK(cuda::pairwise_total<float, cuda::pairwise_levels>(static_cast<int>(count), [&](int i) {
            return terms[i];
          }) == by_definition(terms, 0, count));
  }
  CHECK(cuda::pairwise_total<float, cuda::pairwise_levels>(cuda::most_terms, [&](int i) { return terms[i]; }) ==
        by_definition(terms, 0, terms.size()));
}

}  // namespace pairwise_sum_test
