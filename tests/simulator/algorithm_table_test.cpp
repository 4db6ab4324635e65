// The table of product algorithms: what it is read from, and which algorithm computes a product.
#include "runtime/cuda/products/algorithm_table.hpp"

#include <monomorph/core/xxh64.hpp>

#include <fmt/format.h>

#include <span>

#include "gpu/mirror.hpp"
#include "simulator/simulator.hpp"
#include "support/error_of.hpp"

namespace monomorph::testing {
namespace {

using cuda::Algorithm;
using cuda::AlgorithmPlace;
using cuda::AlgorithmTable;
using cuda::Operand;
using cuda::Product;
using simulator::Simulator;

constexpr AlgorithmPlace here{90, 130'000};  // of the simulated GPU
constexpr Algorithm second{0x6d6f6e6f, 1}, unknown{7, 1};

/// A product of another number of features for each test, as plans are kept.
Product product(std::int64_t m) {
  const Operand a{nullptr, DType::bf16, 16, true}, b{nullptr, DType::bf16, 16, false},
      d{nullptr, DType::bf16, m, false};
  return {.m = m, .n = 8, .k = 16, .a = a, .b = b, .c = d, .d = d};
}

/// The algorithm of the one product of m features that a table is asked for.
std::vector<std::int64_t> counts_by_algorithm(std::int64_t m, const std::string& table) {
  cuda::set_algorithm_table({table, "a test"});
  const Mirror x({random_matrix(8, 16, 1)}, DType::bf16), w({random_matrix(m, 16, 2)}, DType::bf16),
      y({random_matrix(8, m, 3)}, DType::bf16);
  const auto before = Simulator::the().counts().products_by;
  on_both([&](auto q) { linear(q, x.on(q), w.on(q), View{}, y.on(q)); });
  const auto after = Simulator::the().counts().products_by;
  cuda::set_algorithm_table({});
  y.check_equal(1e-2);
  std::vector<std::int64_t> counts;
  for (std::size_t i = 0; i < after.size(); ++i) counts.push_back(after[i] - before[i]);
  return counts;
}

std::string error_of_table(const std::string& text) {
  return error_of([&] { AlgorithmTable(text, "a file"); });
}

}  // namespace

TEST_CASE("an entry of the table says how a product is computed, and without one cuBLASLt does") {
  const std::string entry = AlgorithmTable::line(here, product(40), second);
  CHECK(counts_by_algorithm(40, "# measured\n" + entry + "\n") == std::vector<std::int64_t>{0, 1, 0});
  CHECK(counts_by_algorithm(48, entry) == std::vector<std::int64_t>{1, 0, 0});  // of another product
  CHECK(counts_by_algorithm(56, "") == std::vector<std::int64_t>{1, 0, 0});
}

TEST_CASE("entries for another GPU, of another version or that cuBLASLt does not take are left out") {
  CHECK(counts_by_algorithm(64, AlgorithmTable::line({80, 130'000}, product(64), second)) ==
        std::vector<std::int64_t>{1, 0, 0});
  CHECK(counts_by_algorithm(72, AlgorithmTable::line({90, 130'001}, product(72), second)) ==
        std::vector<std::int64_t>{1, 0, 0});
  CHECK(counts_by_algorithm(80, AlgorithmTable::line(here, product(80), unknown)) ==
        std::vector<std::int64_t>{1, 0, 0});
}

TEST_CASE("all but the addresses of a product tells it from others") {
  const AlgorithmTable table(AlgorithmTable::line(here, product(40), second), "a test");
  REQUIRE(table.find(here, product(40)) != nullptr);
  CHECK(*table.find(here, product(40)) == second);
  const auto finds = [&](auto change) {
    Product p = product(40);
    change(p);
    return table.find(here, p) != nullptr;
  };
  std::byte bias{};
  CHECK_FALSE(finds([](Product& p) { p.n = 9; }));
  CHECK_FALSE(finds([](Product& p) { p.k = 9; }));
  CHECK_FALSE(finds([](Product& p) { p.a.transposed = false; }));
  CHECK_FALSE(finds([](Product& p) { p.b.stride = 24; }));
  CHECK_FALSE(finds([](Product& p) { p.d.dtype = DType::fp32; }));
  CHECK_FALSE(finds([](Product& p) { p.adds_c = true; }));
  CHECK_FALSE(finds([](Product& p) { p.epilogue = cuda::Epilogue::gelu; }));
  CHECK_FALSE(finds([&](Product& p) { p.bias = &bias; }));
  CHECK_FALSE(finds([](Product& p) { p.sums_shortly = true; }));
  CHECK_FALSE(finds([](Product& p) { p.b.data = reinterpret_cast<const std::byte*>(std::uintptr_t{8}); }));
  CHECK(finds([](Product& p) { p.b.data = reinterpret_cast<const std::byte*>(std::uintptr_t{4096}); }));
}

TEST_CASE("a table's hash is that of its entries, in whatever order, and the one that is built in can be read") {
  const std::string one = AlgorithmTable::line(here, product(40), second),
                    other = AlgorithmTable::line(here, product(48), second);
  const auto hash_of_table = [](const std::string& text) { return AlgorithmTable(text, "a test").hash(); };
  CHECK(hash_of_table(one + "\n" + other) == hash_of_table("# a note\n\n" + other + "\n" + one + "\n"));
  CHECK(hash_of_table(one) != hash_of_table(other));
  CHECK(hash_of_table("") == 0);
  CHECK_NOTHROW(cuda::algorithm_table());
}

TEST_CASE("what is no table of algorithms is refused by its line") {
  const std::string good = AlgorithmTable::line(here, product(40), second);
  const auto with_checksum = [](const std::string& text) {  // as by a program that writes other lines
    return fmt::format("{} {:016x}", text, xxh64(std::as_bytes(std::span(text))));
  };
  CHECK(error_of_table(good + "\n" + good).starts_with("[GPU-07] a file must be a table of cuBLASLt's algorithms"));
  CHECK(contains(error_of_table(good + "\n" + good), "line 2 has a product that an earlier one has, too"));
  CHECK(contains(error_of_table("#\n" + good + "0"), "line 2 does not end with its checksum"));
  CHECK(contains(error_of_table(good.substr(1)), "line 1 does not end with its checksum"));
  std::string edited = good;
  edited[edited.size() - 20] ^= 1;
  CHECK(contains(error_of_table(edited), "line 1 does not end with its checksum"));
  for (const char* text : {"x", " ", "sm90", "\t", "0000000000000000", " 0000000000000000"})
    CHECK(error_of_table(text).starts_with("[GPU-07]"));
  const std::string digits(128, '0');
  CHECK_NOTHROW(AlgorithmTable(with_checksum("sm90 130000 m1 " + digits), "a file"));
  for (const std::string& text :
       {std::string("sm90 130000 m1"), "sm90 130000 m1 " + digits.substr(1), "sm 130000 m1 " + digits,
        "sm-9 130000 m1 " + digits, "sm90 -1 m1 " + digits, "sm90 99999999999999999999 m1 " + digits, "sm90 " + digits,
        "sm90 130000 m1 " + digits.substr(1) + "g", "sm90 130000 m1 " + digits.substr(2) + "-1"})
    CHECK(contains(error_of_table(with_checksum(text)), "line 1 has "));
  std::string noise(5000, '\0');
  for (std::size_t i = 0; i < noise.size(); ++i) noise[i] = static_cast<char>(i * 2654435761u >> 13);
  CHECK(error_of_table(noise).starts_with("[GPU-07]"));
  for (std::size_t n = 1; n < good.size(); ++n) CHECK(error_of_table(good.substr(0, n)).starts_with("[GPU-07]"));
}

}  // namespace monomorph::testing
