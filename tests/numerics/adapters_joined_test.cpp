// Adapters of weights that lie in one tensor of a family's files, of which peft has one adapter: those of GPT-2's
// queries, keys and values (tests/fixtures/adapters/README.md).
#include "fixtures/weights/recipes/gpt2.hpp"
#include "fixtures/weights/recipes/gpt2_untied.hpp"
#include "numerics/adapters_check.hpp"
#include "support/training_program.hpp"

#include <algorithm>
#include <functional>
#include <limits>

namespace monomorph {
namespace {

using namespace testing;

using of_all = Adapted<recipes::gpt2_untied, LowRankSpec{.rank = 3, .alpha = 4, .targets = {.key = true}}>;
using of_queries_and_values =
    Adapted<recipes::gpt2, LowRankSpec{.rank = 2, .alpha = 3, .rank_stabilised = true, .targets = {.down = true}}>;

constexpr std::int64_t width = 32;

/// Calls change with A and B of each block's adapter of queries, keys and values.
void for_each_joined(AdapterFile& file, const std::function<void(AdapterFile::Matrix&, AdapterFile::Matrix&)>& change) {
  for (const char* const block : {"0", "1"}) {
    const std::string name = std::string("base_model.model.transformer.h.") + block + ".attn.c_attn.lora_";
    change(file.matrices.at(name + "A.weight"), file.matrices.at(name + "B.weight"));
  }
}
/// Numbers of which none is 0, and no two are the same.
std::vector<float> numbers(std::int64_t n) {
  std::vector<float> values(static_cast<std::size_t>(n));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = 0.001F * static_cast<float>(i + 1);
  return values;
}
/// An adapter of such a rank of all three.
void make_dense(AdapterFile::Matrix& a, AdapterFile::Matrix& b, std::int64_t rank) {
  a = {rank, width, numbers(rank * width)};
  b = {3 * width, rank, numbers(3 * width * rank)};
}
/// Makes B that of adapters of their own, one of each of the parts: q, k and v are parts 0, 1 and 2.
void keep_blocks(AdapterFile::Matrix& b, std::int64_t rank, const std::vector<std::int64_t>& parts) {
  for (std::int64_t row = 0; row < b.rows; ++row)
    for (std::int64_t col = 0; col < b.cols; ++col) {
      const auto own = static_cast<std::size_t>(col / rank);
      if (parts[own] != row / width) b.values[static_cast<std::size_t>(row * b.cols + col)] = 0;
    }
}

/// Imports a file that has been changed.
template <Recipe R> std::string refusal(const AdapterFile& file, const std::string& model) {
  const TemporaryFolder folder;
  file.write_to(folder / "adapters");
  return error_of(
      [&] { train::import_weights(training_program<R>(), fixture(model), folder / "imported", folder / "adapters"); });
}
template <Recipe R> void check_comes_back(const AdapterFile& file, const std::string& model) {
  const TemporaryFolder folder;
  file.write_to(folder / "given");
  const train::RecipeProgram recipe = training_program<R>();
  const auto imported = train::import_weights(recipe, fixture(model), folder / "imported", folder / "given");
  CHECK(contains(train::export_adapters(recipe, imported.checkpoint, folder / "exported", DType::fp32), "c_attn"));
  CHECK(tensors_of(folder / "exported") == tensors_of(folder / "given"));
  const auto config = nlohmann::json::parse(read_bytes(folder / "exported/adapter_config.json"));
  for (const char* const key : {"r", "lora_alpha", "rank_pattern", "alpha_pattern"}) {
    CAPTURE(key);
    CHECK(config.at(key) == file.config.at(key));
  }
}

}  // namespace

TEST_CASE("what peft adapts of a GPT-2 if it isn't told travels, one A for queries, keys and values") {
  check_travels_adapted<of_all, recipes::gpt2_untied>("gpt2_untied");
}
TEST_CASE("adapters of a GPT-2's queries and values travel as one of a rank of its own") {
  check_travels_adapted<of_queries_and_values, recipes::gpt2>("gpt2_joined", "gpt2");
}

TEST_CASE("where all adapters are of one module, the rank and the alpha are those of the file") {
  AdapterFile file("gpt2_untied");
  file.config["r"] = 9;
  file.config["lora_alpha"] = 12;
  for_each_joined(file, [](auto& a, auto& b) {
    make_dense(a, b, 9);
    keep_blocks(b, 3, {0, 1, 2});
  });
  check_comes_back<of_all>(file, "gpt2_untied");
}

TEST_CASE("an adapter of queries and values with one A has it again when it is exported") {
  AdapterFile file("gpt2_joined");
  file.config["rank_pattern"] = file.config["alpha_pattern"] = nlohmann::json::object();
  for_each_joined(file, [](auto& a, auto& b) {
    make_dense(a, b, 2);
    std::fill_n(b.values.begin() + width * 2, width * 2, 0.0F);  // those of keys
  });
  check_comes_back<of_queries_and_values>(file, "gpt2");
}

TEST_CASE("one adapter that changes more than the recipe's, or mixes what they learn, is refused") {
  const auto check = [](const std::string& id, const std::string& part, bool is_shared, std::int64_t rank,
                        const auto& change) {
    AdapterFile file("gpt2_joined");
    if (is_shared) file.config["rank_pattern"] = file.config["alpha_pattern"] = nlohmann::json::object();
    for_each_joined(file, [&](auto& a, auto& b) {
      make_dense(a, b, rank);
      change(b);
    });
    const std::string refused = refusal<of_queries_and_values>(file, "gpt2");
    CAPTURE(refused);
    CHECK(refused.starts_with("[" + id + "]"));
    CHECK(contains(refused, part));
  };
  const std::string beside = "beside those of layers.0.attention.q.lora_B, layers.0.attention.v.lora_B";
  check("ADAPTER-03", beside, true, 2, [](auto&) {});
  check("ADAPTER-03", beside, false, 4, [](auto&) {});
  check("ADAPTER-03", beside, false, 4, [](auto& b) {
    keep_blocks(b, 2, {0, 2});
    b.values[3] = std::numeric_limits<float>::quiet_NaN();
  });
  check("WEIGHTS-07", "is [2, 32], and must be [4, 32]", false, 2, [](auto&) {});
  check("WEIGHTS-07", "is [4, 32], and must be [2, 32]", true, 4, [](auto&) {});
}

}  // namespace monomorph
