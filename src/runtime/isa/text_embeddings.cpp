#include <monomorph/runtime/kernels/text_embeddings.hpp>
#include "runtime/isa/rows.hpp"

namespace monomorph::cpu::MONOMORPH_ISA {
namespace {

/// Which tokens of a sample a text has.
struct TokensOfText {
  std::int64_t first = 0, last = -1, count = 0;
};
TokensOfText tokens_of(const std::int32_t* text_of_T, std::int64_t tokens, std::int64_t text) {
  TokensOfText found;
  for (std::int64_t t = 0; t < tokens; ++t) {
    if (text_of_T[t] != text) continue;
    if (found.count++ == 0) found.first = t;
    found.last = t;
  }
  return found;
}

}  // namespace

void pool_texts(View x, const std::int32_t* text_of, const TextPooling& pooling, View y, View present) {
  const std::int64_t columns = x.shape.cols;
  in_compute_type(present.dtype, [&]<class S>() {
    parallel_for(y.shape.rows, [&](std::int64_t row) {
      Buffer<S> sum, in_buffer;
      const std::int64_t first_token = row / pooling.texts * pooling.tokens;
      const TokensOfText text = tokens_of(text_of + first_token, pooling.tokens, row % pooling.texts);
      present.as<S>()[row * present.stride] = text.count > 0 ? S{1} : S{0};
      const bool mean = pooling.kind == Pooling::mean;
      const S weight = mean && text.count > 0 ? S{1} / static_cast<S>(text.count) : S{1};
      for (std::int64_t column = 0; column < columns; column += chunk) {
        const std::int64_t n = least(chunk, columns - column);
        for (std::int64_t i = 0; i < n; ++i) sum.elements[i] = 0;
        for (std::int64_t t = text.first; t <= text.last; ++t) {
          const bool taken = mean                             ? text_of[first_token + t] == row % pooling.texts
                             : pooling.kind == Pooling::first ? t == text.first
                                                              : t == text.last;
          if (!taken) continue;
          const S* in = read(x, (first_token + t) * x.stride + column, n, in_buffer.elements);
          MONOMORPH_ELEMENTWISE
          for (std::int64_t i = 0; i < n; ++i) sum.elements[i] += in[i];
        }
        S* out = place(y, row * y.stride + column, in_buffer.elements);
        MONOMORPH_ELEMENTWISE
        for (std::int64_t i = 0; i < n; ++i) out[i] = sum.elements[i] * weight;
        write(out, y, row * y.stride + column, n);
      }
    });
  });
}

void pool_texts_backward(View dy, const std::int32_t* text_of, const TextPooling& pooling, View dx) {
  const std::int64_t columns = dx.shape.cols, rows = dx.shape.rows, samples = rows / pooling.tokens;
  const DType compute = dx.dtype == DType::fp64 ? DType::fp64 : DType::fp32;
  in_compute_type(compute, [&]<class S>() {
    parallel_for(samples * pooling.texts, [&](std::int64_t row) {
      Buffer<S> in_buffer, out_buffer;
      const std::int64_t first_token = row / pooling.texts * pooling.tokens, k = row % pooling.texts;
      const TokensOfText text = tokens_of(text_of + first_token, pooling.tokens, k);
      const bool mean = pooling.kind == Pooling::mean;
      const S weight = mean && text.count > 0 ? S{1} / static_cast<S>(text.count) : S{1};
      for (std::int64_t t = 0; t < pooling.tokens; ++t) {
        const std::int32_t of = text_of[first_token + t];
        const bool in_no_text = k == 0 && (of < 0 || of >= pooling.texts);  // the first text's task clears these
        if (of != k && !in_no_text) continue;
        const bool taken = !in_no_text && (mean || t == (pooling.kind == Pooling::first ? text.first : text.last));
        for (std::int64_t column = 0; column < columns; column += chunk) {
          const std::int64_t n = least(chunk, columns - column), to = (first_token + t) * dx.stride + column;
          S* out = place(dx, to, out_buffer.elements);
          if (taken) {
            const S* in = read(dy, row * dy.stride + column, n, in_buffer.elements);
            MONOMORPH_ELEMENTWISE
            for (std::int64_t i = 0; i < n; ++i) out[i] = in[i] * weight;
          } else {
            for (std::int64_t i = 0; i < n; ++i) out[i] = 0;
          }
          write(out, dx, to, n);
        }
      }
    });
  });
}

}  // namespace monomorph::cpu::MONOMORPH_ISA
