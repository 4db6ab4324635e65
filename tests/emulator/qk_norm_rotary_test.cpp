#include "emulator/gpu_case.hpp"

#include <monomorph/runtime/cuda/kernels.hpp>
#include <monomorph/runtime/cuda/qk_norm_rotary.hpp>

// One kernel for norms and rotation has the bits of those that it stands for, which have tests of their own.
namespace monomorph::emulator {
namespace {

struct Size {
  std::int64_t rows, queries, keys, half, tokens;
};
/// Heads of packs that are a power of two and that are none, of one warp, of more; of less than a pack, and of a rest.
/// More heads than a block has, and fewer.
constexpr Size sizes[] = {{10, 3, 1, 32, 5}, {7, 4, 2, 64, 7},  {12, 2, 2, 48, 4}, {3, 9, 3, 8, 3},
                          {2, 2, 1, 128, 1}, {2, 1, 1, 160, 2}, {4, 2, 1, 1, 2},   {5, 2, 2, 12, 5}};
constexpr double epsilon = 1e-5;

struct Case {
  Size size;
  DType dtype;
  NormKind kind;
  bool has_bias, documents;
  std::int64_t gap;
  std::int64_t features() const { return 2 * size.half; }
  std::int64_t q_width() const { return size.queries * features(); }
  std::int64_t k_width() const { return size.keys * features(); }
};

void for_each_case(const std::function<void(const Case&)>& f) {
  for (const DType dtype : all_dtypes)
    for (const Size& size : sizes)
      for (const NormKind kind : {NormKind::layer_norm, NormKind::rms_norm, NormKind::zero_centered_rms_norm})
        for (const std::int64_t gap : {0, 16, 5}) {
          const bool is_layer = kind == NormKind::layer_norm;
          const Case c{size, dtype, kind, is_layer == (gap == 0), is_layer != (gap == 16), gap};
          CAPTURE(name_of(dtype), size.rows, size.queries, size.keys, size.half, static_cast<int>(kind), gap,
                  c.has_bias);
          f(c);
        }
}

/// Rows of queries, keys and values; weights and biases of both norms; cosines and sines.
std::vector<Storage> inputs_of(const Case& c) {
  const Matrix none;
  const DType tables = statistics_dtype(c.dtype);
  std::vector<Storage> in{
      {random_matrix(c.size.rows, c.q_width() + 2 * c.k_width() + c.gap, 1), c.dtype},
      {random_matrix(1, c.features(), 2), c.dtype},
      {random_matrix(1, c.features(), 3), c.dtype},
      {c.has_bias ? random_matrix(1, c.features(), 4) : none, c.dtype},
      {c.has_bias ? random_matrix(1, c.features(), 5) : none, c.dtype},
  };
  for (const unsigned seed : {6u, 7u}) in.emplace_back(random_matrix(c.size.tokens, c.size.half, seed), tables);
  return in;
}

/// Normalised and rotated heads; means and inverse deviations of queries' heads and of keys'.
std::vector<Storage> before(const Case& c) {
  const DType statistics = statistics_dtype(c.dtype);
  std::vector<Storage> out{{random_matrix(c.size.rows, c.q_width() + c.k_width(), 8), c.dtype, c.gap}};
  for (const std::int64_t heads : {c.size.queries, c.size.keys, c.size.queries, c.size.keys})
    out.emplace_back(filled(1, c.size.rows * heads, 9), statistics);
  return out;
}

QkNormRotary call_of(const Case& c, const View& qkv, const std::vector<View>& in, const std::vector<View>& out,
                     const View& qk, const std::vector<std::int32_t>& starts) {
  return {.q = {qkv.columns(0, c.q_width()), in[1], in[3], out[1], out[3]},
          .k = {qkv.columns(c.q_width(), c.k_width()), in[2], in[4], out[2], out[4]},
          .epsilon = epsilon,
          .qk_M = qk,
          .cos_TH = in[5],
          .sin_TH = in[6],
          .tokens = c.size.tokens,
          .document_starts_M = c.documents ? starts.data() : nullptr};
}

void one_after_the_other(NormKind kind, const QkNormRotary& of) {
  with_norm_kind(kind, [&]<NormKind of_kind> { normalize_then_rotate<of_kind>(gpu_queue, of); });
}

}  // namespace

TEST_CASE("norms and the rotation of heads in one GPU kernel have the bits of one kernel after the other",
          "[norm][rotary]") {
  for_each_case([](const Case& c) {
    const auto starts = growing_documents(c.size.rows, c.size.tokens);
    check_same_bits(
        inputs_of(c), before(c),
        [&](const auto& in, const auto& out) {
          cuda::qk_norm_rotary(gpu_queue, c.kind, call_of(c, in[0], in, out, out[0], starts));
        },
        [&](const auto& in, const auto& out) {
          one_after_the_other(c.kind, call_of(c, in[0], in, out, out[0], starts));
        });
  });
}

TEST_CASE("heads that one GPU kernel normalises and rotates may stay where they are", "[norm][rotary]") {
  for_each_case([](const Case& c) {
    if (c.gap == 5) return;
    const auto starts = growing_documents(c.size.rows, c.size.tokens);
    const std::vector<Storage> in = inputs_of(c);
    std::vector<Storage> out = before(c);
    const auto apart =
        outputs_of([&](const auto& of,
                       const auto& to) { one_after_the_other(c.kind, call_of(c, of[0], of, to, to[0], starts)); },
                   in, out);
    out[0] = in[0];
    const auto in_place = outputs_of(
        [&](const auto& of, const auto& to) {
          cuda::qk_norm_rotary(gpu_queue, c.kind,
                               call_of(c, to[0], of, to, to[0].columns(0, c.q_width() + c.k_width()), starts));
        },
        in, out);
    for (std::int64_t row = 0; row < c.size.rows; ++row) {
      const auto columns = static_cast<std::size_t>((c.q_width() + c.k_width()) * size_of(c.dtype));
      const std::byte *a = writable(apart[0]).rows(row, 1).data, *b = writable(in_place[0]).rows(row, 1).data;
      CHECK(std::equal(a, a + columns, b));
    }
  });
}

TEST_CASE("a GPU normalises and rotates nothing of a view that is not there", "[norm][rotary]") {
  CHECK_FALSE(starts_kernel([] { cuda::qk_norm_rotary(gpu_queue, NormKind::rms_norm, {}); }));
}

}  // namespace monomorph::emulator
