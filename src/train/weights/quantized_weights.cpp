#include "train/weights/quantized_weights.hpp"

#include "train/weights/load_weights.hpp"
#include "train/weights/stream_elements.hpp"

#include <monomorph/core/error.hpp>
#include <monomorph/core/file_error.hpp>
#include <monomorph/runtime/kernels/elementwise.hpp>

#include <fmt/format.h>

#include <initializer_list>

namespace monomorph::train {

namespace {

/// @throws UsageError [WEIGHTS-13]
void check_finite(const WeightsSource& source, const std::string& name, std::initializer_list<View> views) {
  NonFiniteNumbers numbers;
  for (const View& view : views) count_non_finite(name, view, numbers);
  if (numbers.empty()) return;
  throw UsageError("WEIGHTS-13",
                   fmt::format("{} of the numbers of {} in {} are NaN or infinite in {}, which NF4 has no "
                               "codes for; give other weights, or take finetuning out of Nf4Base",
                               numbers[name], name, in_quotes(source.where()), name_of(views.begin()->dtype)));
}

}  // namespace

Nf4Buffer quantized(WeightsSource& source, const std::string& name, DType dtype) {
  const std::int64_t elements = source.find(name)->elements();
  Nf4Buffer buffer(elements);
  const Nf4Matrix& matrix = buffer.matrix();
  if (source.read_nf4(name, matrix)) {
    check_finite(source, name, {matrix.nested_absmax, matrix.offset});
    return buffer;
  }
  std::vector<std::byte> bytes;
  const View values = sized(bytes, dtype, {1, elements});
  source.read(name, 0, values);
  check_finite(source, name, {values});
  quantize_nf4(cpu::Queue{}, values, matrix);
  return buffer;
}

View DequantizedWeights::of(WeightsSource& source, const std::string& name) {
  const View numbers = sized(bytes_, compute_, *source.find(name));
  if (name_ == name) return numbers;
  name_.clear();  // until they are there
  source.dequantize_nf4(name, numbers);
  name_ = name;
  return numbers;
}

void DequantizedWeights::read(WeightsSource& source, const std::string& name, std::int64_t first, View to) {
  const View numbers = of(source, name);
  cpu::copy(cpu::Queue{}, numbers.reshaped({1, numbers.elements()}).columns(first, to.elements()),
            to.reshaped({1, to.elements()}));
}

}  // namespace monomorph::train
