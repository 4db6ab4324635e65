#include "tensor_pieces.hpp"

#include "runtime/kernels/elements.hpp"
#include "train/weights/weights_source.hpp"

#include <monomorph/core/error.hpp>
#include <monomorph/core/interruption.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <stdexcept>

namespace monomorph::train {
namespace {

/// Calls `act` with a value of the type that has the dtype's elements.
template <class Act> void with_element_type(runtime::FileDType dtype, Act act) {
  switch (dtype) {
    case runtime::FileDType::f64:
      return act(double{});
    case runtime::FileDType::f32:
      return act(float{});
    case runtime::FileDType::f16:
      return act(Half{});
    case runtime::FileDType::bf16:
      return act(BFloat16{});
    case runtime::FileDType::i64:
      return act(std::int64_t{});
    case runtime::FileDType::i32:
      return act(std::int32_t{});
    case runtime::FileDType::i16:
      return act(std::int16_t{});
    case runtime::FileDType::i8:
      return act(std::int8_t{});
    case runtime::FileDType::u8:
    case runtime::FileDType::boolean:  // a byte, which a foreign file may give any value
      return act(std::uint8_t{});
  }
}

template <class Element> double number_of(Element element) {
  if constexpr (std::is_arithmetic_v<Element>)
    return static_cast<double>(element);
  else
    return static_cast<double>(monomorph::widen(element));
}

/// The float that, rounded again to a narrower format, gives what rounding once would: where a float cannot hold the
/// number, the neighbour whose last bit is set, so that no tie appears that there was not.
float rounded_to_odd(double number) {
  const auto nearest = static_cast<float>(number);
  const bool is_exact = static_cast<double>(nearest) == number || std::isnan(number);
  if (is_exact || (std::bit_cast<std::uint32_t>(nearest) & 1u) != 0) return nearest;
  constexpr float infinity = std::numeric_limits<float>::infinity();
  return std::nextafter(nearest, static_cast<double>(nearest) < number ? infinity : -infinity);
}

double rounded(double number, double) { return number; }
float rounded(double number, float) { return static_cast<float>(number); }
Half rounded(double number, Half) { return narrow_to_half(rounded_to_odd(number)); }
BFloat16 rounded(double number, BFloat16) { return narrow_to_bf16(rounded_to_odd(number)); }

}  // namespace

void for_each_piece(std::int64_t n_elements, const std::function<void(std::int64_t first, std::int64_t n)>& visit) {
  const auto visit_piece = [&](std::int64_t first, std::int64_t n) {
    if (interrupting_signal() != 0) throw Error("CHECKPOINT-35", "interrupted; nothing was written");
    visit(first, n);
  };
  in_bounded_pieces(n_elements, visit_piece, elements_of_piece);
}

void read_piece(runtime::CheckpointReader& checkpoint, const std::string& name, std::int64_t first, std::int64_t n,
                std::vector<std::byte>& bytes) {
  bytes.resize(static_cast<std::size_t>(n) * runtime::bytes_per_element(checkpoint.find(name)->dtype));
  checkpoint.read(name, first, bytes);
  checkpoint.release();
}

void widen(runtime::FileDType dtype, std::span<const std::byte> elements, std::vector<double>& numbers) {
  with_element_type(dtype, [&](auto element) {
    numbers.resize(elements.size() / sizeof element);
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      std::memcpy(&element, elements.data() + i * sizeof element, sizeof element);
      numbers[i] = number_of(element);
    }
  });
}

void narrow(std::span<const double> numbers, runtime::FileDType dtype, std::vector<std::byte>& elements) {
  with_element_type(dtype, [&](auto kind) {
    if constexpr (requires { rounded(0.0, kind); }) {
      elements.resize(numbers.size() * sizeof kind);
      for (std::size_t i = 0; i < numbers.size(); ++i) {
        const auto element = rounded(numbers[i], kind);
        std::memcpy(elements.data() + i * sizeof element, &element, sizeof element);
      }
    } else {
      throw std::logic_error("numbers are rounded to floating-point dtypes alone");
    }
  });
}

bool is_floating_point(runtime::FileDType dtype) {
  return dtype == runtime::FileDType::f64 || dtype == runtime::FileDType::f32 || dtype == runtime::FileDType::f16 ||
         dtype == runtime::FileDType::bf16;
}

}  // namespace monomorph::train
