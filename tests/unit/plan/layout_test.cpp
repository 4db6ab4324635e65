#include <algorithm>
#include <vector>
#include "support.hpp"
#include "support/catch.hpp"

using namespace monomorph;

TEST_CASE("slices begin at multiples of 64 elements and do not overlap") {
  Layout layout;
  const auto a = layout.take({1, 1}), b = layout.take({3, 64}), none = layout.take({0, 5}), c = layout.take({13, 5});
  CHECK((a.offset == 0 && b.offset == 64 && none.offset == 256 && c.offset == 256));
  CHECK_FALSE(none.present());
  CHECK(layout.elements == 384);
  CHECK(layout.unpadded == 1 + 192 + 65);
}

namespace {
struct TiedWithoutBiases : ByHand {
  static constexpr DecoderSpec model{.vocab_size = 11,
                                     .n_layers = 3,
                                     .n_heads = 3,
                                     .d_model = 33,
                                     .context_length = 5,
                                     .norm = {.kind = NormKind::rms_norm, .bias = false},
                                     .position = Position::none,
                                     .bias = no_biases};
};

std::vector<TensorInfo> in_order(const ParameterLayout& layout) {
  std::vector<TensorInfo> tensors(layout.begin(), layout.end());
  std::sort(tensors.begin(), tensors.end(),
            [](const TensorInfo& a, const TensorInfo& b) { return a.slice.offset < b.slice.offset; });
  return tensors;
}
}  // namespace

TEMPLATE_TEST_CASE("canonical tensors lie apart within their unit", "", ByHand, EveryOption, TiedWithoutBiases) {
  for (int unit = 0; unit < plan::n_units<TestType>; ++unit) {
    const ParameterLayout layout = plan::unit_layout<TestType>(unit);
    REQUIRE(layout.size() > 0);
    CHECK(layout.elements % 64 == 0);
    std::int64_t end = 0;
    for (const TensorInfo& tensor : in_order(layout)) {
      INFO("unit " << unit << " " << tensor.name);
      CHECK(tensor.slice.offset >= end);
      CHECK(tensor.slice.present());
      end = tensor.slice.offset + tensor.slice.shape.elements();
    }
    CHECK(end <= layout.elements);
  }
}

TEMPLATE_TEST_CASE("names of a unit's tensors are unique", "", ByHand, EveryOption, TiedWithoutBiases) {
  for (int unit = 0; unit < plan::n_units<TestType>; ++unit) {
    std::vector<std::string_view> names;
    for (const TensorInfo& tensor : plan::unit_layout<TestType>(unit)) names.push_back(tensor.name);
    std::sort(names.begin(), names.end());
    CHECK(std::adjacent_find(names.begin(), names.end()) == names.end());
  }
}

TEST_CASE("queries, keys and values are rows of one matrix") {
  const typename DecoderBlock<EveryOption>::Params params;
  CHECK(params.attention.part.qkv_QKVxD.shape == Shape{100, 30});
  CHECK(params.attention.part.qkv_QKVxD.offset % 64 == 0);
  const auto offset_of = [&](std::string_view name) {
    return std::find_if(params.begin(), params.end(), [&](auto& t) { return t.name == name; })->slice.offset;
  };
  CHECK(offset_of("attention.k.weight") == params.attention.part.qkv_QKVxD.offset + 60 * 30);
  CHECK(offset_of("attention.v.weight") == params.attention.part.qkv_QKVxD.offset + 80 * 30);
  CHECK(offset_of("attention.v.bias") == params.attention.part.qkv_bias.offset + 80);
  CHECK(offset_of("mlp.up.weight") == params.mlp.part.up_GxD.offset + 50 * 30);
}
