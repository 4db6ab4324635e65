#include <monomorph/train/observe/step_observer.hpp>

#include "support/catch.hpp"
#include "support/recorded_step.hpp"
#include "support/temporary_folder.hpp"

#include <monomorph/observer/tensor_norms.hpp>

#include <nlohmann/json.hpp>

#include <array>
#include <filesystem>
#include <sstream>

namespace {

using namespace monomorph;
using namespace monomorph::train;
using namespace monomorph::testing;

RecordedStep observed_step;
HostPieces pieces(observed_step);

/// The second row of a matrix of two rows.
template <class T> ObservedTensor second_row(const char* name, T* data, DType dtype) {
  return {{.name = name, .view = View(reinterpret_cast<std::byte*>(data), dtype, {1, 2}), .shape = {2, 2}, .first = 2},
          pieces};
}

std::vector<nlohmann::json> lines_of(const std::string& path) {
  std::istringstream text(read_bytes(path));
  std::vector<nlohmann::json> lines;
  for (std::string line; std::getline(text, line);) lines.push_back(nlohmann::json::parse(line));
  return lines;
}

/// Seen by rank 1 of two, which holds a row of each tensor.
ObservedStep step_of(std::int64_t step, std::vector<ObservedTensor> parameters, std::vector<ObservedTensor> gradients) {
  return {.step = step,
          .tokens = 10,
          .loss = 2.5,
          .learning_rate = 0.1,
          .gradient_norm = 1,
          .gradient_scale = 0.5,
          .parameters = std::move(parameters),
          .gradients = std::move(gradients),
          .rank = 1,
          .ranks = 2,
          .replica = 0};
}

/// Is made of nothing, and counts what it is shown.
struct Counting {
  static bool wants(std::int64_t step) { return step > 1; }
  void observe(const auto& step, auto& records) {
    if (step.tokens > 0) records.add("count", ++count);
  }
  int count = 0;
};
static_assert(ObserverPolicy<Counting>);

}  // namespace

TEST_CASE("an observer reads what a rank holds of a tensor, whatever its dtype") {
  std::array<float, 2> fp32{3, -4};
  std::array<double, 2> fp64{3, -4};
  std::array<std::uint16_t, 2> bf16{0x4040, 0xc080}, fp16{0x4200, 0xc400};  // 3 and -4
  for (const ObservedTensor& tensor :
       {second_row("w", fp32.data(), DType::fp32), second_row("w", fp64.data(), DType::fp64),
        second_row("w", bf16.data(), DType::bf16), second_row("w", fp16.data(), DType::fp16)}) {
    CAPTURE(name_of(tensor.dtype()));
    CHECK(tensor.name() == "w");
    CHECK(tensor.shape() == Shape{2, 2});
    CHECK(tensor.region() == Region::whole({2, 2}));
    CHECK(tensor.first() == 2);
    REQUIRE(tensor.size() == 2);
    CHECK(tensor[0] == 3);
    CHECK(tensor[1] == -4);
    CHECK(tensor.norm() == 5);
  }
  static_assert(std::is_same_v<decltype(second_row("w", fp32.data(), DType::fp32).as<float>()[0]), const float&>);
}

TEST_CASE("TensorNorms writes the norms of the steps that it wants, of gradients those of the mean loss") {
  const TemporaryFolder folder;
  auto hparams = PolicyHparams::of<observer::TensorNorms::Hparams>();
  hparams.as<observer::TensorNorms::Hparams>().every.value = 5;
  StepObserverOf<observer::TensorNorms> norms(hparams);
  CHECK_FALSE(norms.wants(1));
  CHECK_FALSE(norms.wants(6));
  CHECK(norms.wants(10));
  std::array<float, 2> weight{3, -4}, gradient{6, 8};
  ObserverRecords records(folder.path(), 1, 0);
  norms.observe(step_of(10, {second_row("w", weight.data(), DType::fp32)},
                        {second_row("w", gradient.data(), DType::fp32)}),
                records);
  records.write(10);
  const auto lines = lines_of(folder / "observer/rank-1.jsonl");
  REQUIRE(lines.size() == 1);
  CHECK(lines[0] == nlohmann::json{{"step", 10}, {"parameter.w", 5.0}, {"gradient.w", 5.0}});
}

TEST_CASE("records of steps that are repeated are dropped, and a step without any has no line") {
  const TemporaryFolder folder;
  const std::string path = folder / "observer/rank-0.jsonl";
  {
    StepObserverOf<Counting> counting(PolicyHparams::of<NoHparams>());
    ObserverRecords records(folder.path(), 0, 0);
    CHECK_FALSE(counting.wants(1));
    for (std::int64_t step = 1; step <= 4; ++step) {
      if (counting.wants(step)) counting.observe(step_of(step, {}, {}), records);
      records.write(step);
    }
    CHECK(records.path("own.txt") == folder / "observer/own.txt");
  }
  CHECK(lines_of(path).size() == 3);
  ObserverRecords records(folder.path(), 0, 2);
  records.add("again", 1.5);
  records.write(3);
  const auto lines = lines_of(path);
  REQUIRE(lines.size() == 2);
  CHECK(lines[0] == nlohmann::json{{"step", 2}, {"count", 1}});
  CHECK(lines[1] == nlohmann::json{{"step", 3}, {"again", 1.5}});
  std::filesystem::remove_all(folder / "observer");
  records.add("again", 2.5);
  records.write(4);
  CHECK(nlohmann::json::parse(read_bytes(path)) == nlohmann::json{{"step", 4}, {"again", 2.5}});
}
