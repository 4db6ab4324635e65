#include "runtime/cuda/products/algorithm_table.hpp"

#include "core/as_usage_error.hpp"

#include <monomorph/core/error.hpp>
#include <monomorph/core/text_file.hpp>
#include <monomorph/core/xxh64.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <iterator>
#include <optional>
#include <span>

namespace monomorph::cuda {

/// Made by CMake of algorithms.txt.
extern const std::string_view built_in_algorithms;

namespace {

constexpr std::size_t algorithm_digits = 128, checksum_digits = 16;
constexpr const char* variable = "MONOMORPH_PRODUCT_TABLE";
constexpr std::size_t most_bytes = std::size_t{16} << 20;  ///< a table has a few hundred lines

[[noreturn]] void refuse(const std::string& source, const std::string& why) {
  throw UsageError("GPU-07",
                   fmt::format("{} must be a table of cuBLASLt's algorithms, as tools/gpu/tune writes it, and {}; "
                               "write it again, or unset {}",
                               source, why, variable));
}

std::uint64_t hash_of(std::string_view text) { return xxh64(std::as_bytes(std::span(text))); }

std::optional<std::uint64_t> hexadecimal(std::string_view digits) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
  if (error != std::errc() || end != digits.data() + digits.size() || digits.front() == '-') return std::nullopt;
  return value;
}

template <class Integer> std::optional<Integer> decimal(std::string_view digits) {
  Integer value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (digits.empty() || error != std::errc() || end != digits.data() + digits.size() || value <= 0) return std::nullopt;
  return value;
}

/// Takes a text's end from its last space on.
std::optional<std::string_view> take_last(std::string_view& text, std::size_t length) {
  if (text.size() <= length + 1 || text[text.size() - length - 1] != ' ') return std::nullopt;
  const std::string_view last = text.substr(text.size() - length);
  text.remove_suffix(length + 1);
  return last;
}

std::optional<AlgorithmPlace> place_of(std::string_view key) {
  const std::size_t first = key.find(' '), second = key.find(' ', first == key.npos ? key.npos : first + 1);
  if (!key.starts_with("sm") || second == key.npos) return std::nullopt;
  const auto sm = decimal<int>(key.substr(2, first - 2));
  const auto version = decimal<std::size_t>(key.substr(first + 1, second - first - 1));
  if (!sm || !version) return std::nullopt;
  return AlgorithmPlace{*sm, *version};
}

std::string key_of(const AlgorithmPlace& place, const Product& product) {
  return fmt::format("sm{} {} {}", place.sm, place.cublas_lt, text_of(product));
}

std::string text_of(char name, const Operand& x) {
  return fmt::format("{}={}:{}:{}:{}", name, name_of(x.dtype), x.transposed ? 'T' : 'N', x.stride, x.alignment());
}

std::string_view name_of_epilogue(Epilogue epilogue) {
  switch (epilogue) {
    case Epilogue::none:
      return "none";
    case Epilogue::gelu:
      return "gelu";
    case Epilogue::gelu_gradient:
      return "gelu_gradient";
  }
  __builtin_unreachable();
}

AlgorithmTable table_of_process() {
  if (const char* const path = std::getenv(variable)) {
    AlgorithmTable named(as_usage_error(variable, [&] { return read_text_file(path, most_bytes); }), path);
    named.is_asked_for = true;
    return named;
  }
  return {built_in_algorithms, "src/runtime/cuda/products/algorithms.txt"};
}

AlgorithmTable& table() {
  static AlgorithmTable of_process = table_of_process();
  return of_process;
}

}  // namespace

std::string text_of(const Product& p) {
  std::string text = fmt::format("m{} n{} k{} {} {} {} {}", p.m, p.n, p.k, text_of('a', p.a), text_of('b', p.b),
                                 text_of('c', p.c), text_of('d', p.d));
  text += fmt::format(" adds={:d} bias={} epilogue={}", p.adds_c, p.bias == nullptr ? "none" : name_of(p.bias_dtype),
                      name_of_epilogue(p.epilogue));
  if (p.epilogue != Epilogue::none) text += ' ' + text_of('x', p.aux);
  if (p.sums_shortly) text += " sums=short";
  if (p.batch.products > 1) text += fmt::format(" batch={}:{}", p.batch.products, p.batch.distance);
  return text;
}

AlgorithmTable::AlgorithmTable(std::string_view text, const std::string& source) {
  int number = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view whole = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    ++number;
    if (whole.empty() || whole.front() == '#') continue;
    const auto refuse_line = [&](const char* why) { refuse(source, fmt::format("line {} {}", number, why)); };
    std::string_view key = whole;
    const auto checksum = take_last(key, checksum_digits);
    if (!checksum || hexadecimal(*checksum) != hash_of(key)) refuse_line("does not end with its checksum");
    const auto digits = take_last(key, algorithm_digits);
    const auto place = place_of(key);
    if (!digits || !place) refuse_line("has not GPU, version, product and algorithm");
    Algorithm algorithm;
    for (std::size_t i = 0; i < algorithm.size(); ++i) {
      const auto word = hexadecimal(digits->substr(16 * i, 16));
      if (!word) refuse_line("has an algorithm that is not 128 hexadecimal digits");
      algorithm[i] = *word;
    }
    if (!entries_.emplace(key, algorithm).second) refuse_line("has a product that an earlier one has, too");
    places_[{place->sm, place->cublas_lt}]++;
  }
}

const Algorithm* AlgorithmTable::find(const AlgorithmPlace& place, const Product& product) const {
  if (!has_place(place)) return nullptr;
  const auto found = entries_.find(key_of(place, product));
  return found == entries_.end() ? nullptr : &found->second;
}

std::uint64_t AlgorithmTable::hash() const {
  if (entries_.empty()) return 0;
  Xxh64 hash;
  for (const auto& [key, algorithm] : entries_) {
    hash.update(std::as_bytes(std::span(key)));
    hash.update(std::as_bytes(std::span(algorithm)));
  }
  return hash.digest();
}

std::string AlgorithmTable::line(const AlgorithmPlace& place, const Product& product, const Algorithm& algorithm) {
  std::string line = key_of(place, product) + ' ';
  for (const std::uint64_t word : algorithm) line += fmt::format("{:016x}", word);
  return line + fmt::format(" {:016x}", hash_of(line));
}

const AlgorithmTable& algorithm_table() { return table(); }
void set_algorithm_table(AlgorithmTable other) { table() = std::move(other); }

}  // namespace monomorph::cuda
