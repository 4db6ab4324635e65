#pragma once
#include "../gpu/recipes.hpp"

#include <monomorph/device/cuda.hpp>
#include <monomorph/plan/planned_recipe.hpp>
#include <monomorph/run.hpp>

#include <map>
#include <string_view>

/// The models of bench/scaling/published.csv, by their names there. Sizes are the published ones; those of Modalities'
/// runs follow from the FLOPs per token that its rates and MFU give (12 L D^2 parameters and 12 L D T of attention).
namespace bench::published {

/// What the programs of these runs have in common: compute and reductions in bf16, AdamW in fp32.
struct Published {
  using sharding = monomorph::sharding::FullShard;
  using precision = monomorph::precision::Bf16MixedReducingBf16;
  using checkpointing = monomorph::checkpointing::KeepAll;
  using optimizer = monomorph::optim::AdamW;
  using device = monomorph::device::Cuda;
};

/// GPT-3's shape (Brown et al. 2020), with GPT-2's vocabulary unless said otherwise.
consteval monomorph::DecoderSpec gpt(std::int64_t layers, std::int64_t heads, std::int64_t width, std::int64_t tokens) {
  return {.vocab_size = 50'304, .n_layers = layers, .n_heads = heads, .d_model = width, .context_length = tokens};
}
/// Llama's (Touvron et al. 2023).
consteval monomorph::DecoderSpec llama(std::int64_t layers, std::int64_t heads, std::int64_t kv_heads,
                                       std::int64_t width, std::int64_t mlp, std::int64_t vocabulary,
                                       std::int64_t tokens, bool tied = false) {
  return {.vocab_size = vocabulary,
          .n_layers = layers,
          .n_heads = heads,
          .d_model = width,
          .context_length = tokens,
          .n_kv_heads = kv_heads,
          .d_ff = mlp,
          .norm = {.kind = monomorph::NormKind::rms_norm, .bias = false},
          .activation = monomorph::Activation::swiglu,
          .position = monomorph::Position::rotary,
          .bias = monomorph::no_biases,
          .tied_head = tied};
}

/// Torchtitan and llm-foundry reduce in fp32.
struct ReducingFp32 : Published {
  using precision = monomorph::precision::Bf16Mixed;
};
/// Megatron-Bridge in fp8 does, too.
struct Fp8ReducingFp32 : Published {
  using precision = monomorph::precision::Fp8Mixed;
};
/// LLM.Q keeps nothing in fp32.
struct AllBf16 : Published {
  struct precision : monomorph::precision::Bf16Pure {
    static constexpr monomorph::DType gradient_dtype = monomorph::DType::bf16, reduce_dtype = monomorph::DType::bf16;
  };
};

/// In fp8 by a program that scales each tensor by its own greatest magnitude ("current scaling"): what is written, read
/// and kept is in bf16, and products read tensors that kernels of their own have rounded (current_scaling.hpp).
constexpr monomorph::plan::PlannedRecipe with_current_scaling(monomorph::plan::PlannedRecipe in_bf16) {
  in_bf16.product_dtype = monomorph::DType::e4m3;
  return in_bf16;
}

/// A recipe of bench/gpu.
template <class R> struct OnGpu : R { using device = monomorph::device::Cuda; };

inline constexpr auto modalities_2_7b = gpt(32, 32, 2560, 4096);
inline constexpr auto modalities_2_7b_8192 = gpt(32, 32, 2560, 8192);
inline constexpr auto modalities_6_7b = gpt(32, 32, 4096, 4096);
inline constexpr auto modalities_28b = gpt(52, 52, 6656, 8192);
inline constexpr auto gpt2_124m = gpt(12, 12, 768, 1024);
inline constexpr auto gpt2_1_5b = gpt(48, 25, 1600, 1024);
inline constexpr auto mpt_125m = gpt(12, 12, 768, 2048);
inline constexpr auto mpt_350m = gpt(24, 16, 1024, 2048);
inline constexpr auto mpt_760m = gpt(24, 12, 1536, 2048);
inline constexpr auto mpt_1_3b = gpt(24, 16, 2048, 2048);
inline constexpr auto mpt_3b = gpt(32, 20, 2560, 2048);
inline constexpr auto mpt_7b = gpt(32, 32, 4096, 2048);
inline constexpr auto mpt_13b = gpt(40, 40, 5120, 2048);
inline constexpr auto mpt_30b = gpt(48, 56, 7168, 2048);
inline constexpr auto mpt_70b = gpt(80, 64, 8192, 2048);
inline constexpr auto llama2_7b = llama(32, 32, 32, 4096, 11'008, 32'000, 4096);
inline constexpr auto llama2_13b = llama(40, 40, 40, 5120, 13'824, 32'000, 4096);
inline constexpr auto llama2_34b = llama(48, 64, 8, 8192, 22'016, 32'000, 4096);
inline constexpr auto llama2_70b = llama(80, 64, 8, 8192, 28'672, 32'000, 4096);
inline constexpr auto llama3_8b = monomorph::models::llama3_8b;
inline constexpr auto qwen2_5_0_5b = llama(24, 14, 2, 896, 4'864, 151'936, 1024, true);
inline constexpr auto qwen2_5_1_5b = llama(28, 12, 2, 1536, 8'960, 151'936, 1024, true);
inline constexpr auto qwen2_5_3b = llama(36, 16, 2, 2048, 11'008, 151'936, 1024, true);
inline constexpr auto qwen2_5_7b = llama(28, 28, 4, 3584, 18'944, 152'064, 1024);

/// A model with sequences of so many tokens.
template <const monomorph::DecoderSpec& spec, std::int64_t tokens>
inline constexpr monomorph::DecoderSpec lengthened = [] {
  monomorph::DecoderSpec longer = spec;
  longer.context_length = tokens;
  return longer;
}();

template <const monomorph::DecoderSpec& spec, class Program> struct Of : Program {
  static constexpr monomorph::DecoderSpec model = spec;
};
template <const monomorph::DecoderSpec& spec, class Program = Published>
constexpr monomorph::plan::PlannedRecipe planned() {
  return monomorph::plan::planned_recipe<Of<spec, Program>>();
}

template <class R> constexpr monomorph::plan::PlannedRecipe planned_on_gpu() {
  return monomorph::plan::planned_recipe<OnGpu<R>>();
}

inline const std::map<std::string_view, monomorph::plan::PlannedRecipe>& planned_recipes() {
  static const std::map<std::string_view, monomorph::plan::PlannedRecipe> recipes{
      {"modalities_2_7b", planned<modalities_2_7b>()},
      {"modalities_2_7b_8192", planned<modalities_2_7b_8192>()},
      {"modalities_6_7b", planned<modalities_6_7b>()},
      {"modalities_28b", planned<modalities_28b>()},
      {"gpt2_124m", planned<gpt2_124m>()},
      {"gpt2_1_5b", planned<gpt2_1_5b>()},
      {"mpt_125m", planned<mpt_125m, ReducingFp32>()},
      {"mpt_350m", planned<mpt_350m, ReducingFp32>()},
      {"mpt_760m", planned<mpt_760m, ReducingFp32>()},
      {"mpt_1_3b", planned<mpt_1_3b, ReducingFp32>()},
      {"mpt_1_3b_8192", planned<lengthened<mpt_1_3b, 8'192>, ReducingFp32>()},
      {"mpt_3b", planned<mpt_3b, ReducingFp32>()},
      {"mpt_7b", planned<mpt_7b, ReducingFp32>()},
      {"mpt_7b_8192", planned<lengthened<mpt_7b, 8'192>, ReducingFp32>()},
      {"mpt_13b", planned<mpt_13b, ReducingFp32>()},
      {"mpt_30b", planned<mpt_30b, ReducingFp32>()},
      {"mpt_70b", planned<mpt_70b, ReducingFp32>()},
      {"mpt_125m_16384", planned<lengthened<mpt_125m, 16'384>, ReducingFp32>()},
      {"mpt_125m_32768", planned<lengthened<mpt_125m, 32'768>, ReducingFp32>()},
      {"mpt_125m_65536", planned<lengthened<mpt_125m, 65'536>, ReducingFp32>()},
      {"mpt_350m_16384", planned<lengthened<mpt_350m, 16'384>, ReducingFp32>()},
      {"mpt_350m_32768", planned<lengthened<mpt_350m, 32'768>, ReducingFp32>()},
      {"mpt_350m_65536", planned<lengthened<mpt_350m, 65'536>, ReducingFp32>()},
      {"mpt_760m_16384", planned<lengthened<mpt_760m, 16'384>, ReducingFp32>()},
      {"mpt_760m_32768", planned<lengthened<mpt_760m, 32'768>, ReducingFp32>()},
      {"mpt_760m_65536", planned<lengthened<mpt_760m, 65'536>, ReducingFp32>()},
      {"mpt_1_3b_16384", planned<lengthened<mpt_1_3b, 16'384>, ReducingFp32>()},
      {"mpt_1_3b_32768", planned<lengthened<mpt_1_3b, 32'768>, ReducingFp32>()},
      {"mpt_1_3b_65536", planned<lengthened<mpt_1_3b, 65'536>, ReducingFp32>()},
      {"mpt_3b_16384", planned<lengthened<mpt_3b, 16'384>, ReducingFp32>()},
      {"mpt_3b_32768", planned<lengthened<mpt_3b, 32'768>, ReducingFp32>()},
      {"mpt_3b_65536", planned<lengthened<mpt_3b, 65'536>, ReducingFp32>()},
      {"mpt_7b_16384", planned<lengthened<mpt_7b, 16'384>, ReducingFp32>()},
      {"mpt_7b_32768", planned<lengthened<mpt_7b, 32'768>, ReducingFp32>()},
      {"mpt_7b_65536", planned<lengthened<mpt_7b, 65'536>, ReducingFp32>()},
      {"mpt_13b_16384", planned<lengthened<mpt_13b, 16'384>, ReducingFp32>()},
      {"mpt_13b_32768", planned<lengthened<mpt_13b, 32'768>, ReducingFp32>()},
      {"llama2_7b", planned<llama2_7b>()},
      {"llama2_13b", planned<llama2_13b>()},
      {"llama2_13b_reducing_fp32", planned<llama2_13b, ReducingFp32>()},
      {"llama2_70b_reducing_fp32", planned<llama2_70b, ReducingFp32>()},
      {"llama2_34b", planned<llama2_34b>()},
      {"llama2_70b", planned<llama2_70b>()},
      {"llama3_8b", planned<llama3_8b, ReducingFp32>()},
      {"llama3_8b_fp8", planned<llama3_8b, Fp8ReducingFp32>()},
      {"llama3_8b_fp8_current", with_current_scaling(planned<llama3_8b, ReducingFp32>())},
      {"llama3_8b_32768_fp8_current", with_current_scaling(planned<lengthened<llama3_8b, 32'768>, ReducingFp32>())},
      {"qwen2_5_0_5b", planned<qwen2_5_0_5b, AllBf16>()},
      {"qwen2_5_1_5b", planned<qwen2_5_1_5b, AllBf16>()},
      {"qwen2_5_3b", planned<qwen2_5_3b, AllBf16>()},
      {"qwen2_5_7b", planned<qwen2_5_7b, AllBf16>()},
      {"qwen2_5_0_5b_fp8_current", with_current_scaling(planned<qwen2_5_0_5b, AllBf16>())},
      {"qwen2_5_1_5b_fp8_current", with_current_scaling(planned<qwen2_5_1_5b, AllBf16>())},
      {"qwen2_5_3b_fp8_current", with_current_scaling(planned<qwen2_5_3b, AllBf16>())},
      {"qwen2_5_7b_fp8_current", with_current_scaling(planned<qwen2_5_7b, AllBf16>())},
      {"monomorph_124m", planned_on_gpu<bench::gpt2_124m>()},
      {"monomorph_124m_narrow", planned_on_gpu<bench::gpt2_124m_narrow>()},
      {"monomorph_llama_1b", planned_on_gpu<bench::llama_1b>()},
      {"monomorph_llama_8b", planned_on_gpu<bench::llama_8b>()},
      {"monomorph_qwen_1_5b", planned_on_gpu<bench::qwen_1_5b>()},
      {"monomorph_qwen_1_5b_fp8", planned_on_gpu<bench::qwen_1_5b_fp8>()},
      {"monomorph_qwen_7b", planned_on_gpu<bench::qwen_7b>()},
      {"monomorph_qwen_7b_fp8", planned_on_gpu<bench::qwen_7b_fp8>()}};
  return recipes;
}

}  // namespace bench::published
