// How fast training batches are read: loader <T> <batch> <seconds> <sample|documents> <file>..., one thread, shuffled.
#include <monomorph/core/error.hpp>
#include <monomorph/data/loading/loader.hpp>

#include <fmt/format.h>

#include <chrono>
#include <cstdlib>
#include <string_view>

int main(int argc, char** argv) try {
  using namespace monomorph;
  if (argc < 6) throw UsageError("BENCH-01", "loader <T> <batch> <seconds> <samples|documents> <file>...");
  const std::int64_t T = std::atoll(argv[1]), batch = std::atoll(argv[2]);
  const double seconds = std::atof(argv[3]);
  const bool documents = std::string_view(argv[4]) == "documents";
  WeightedPaths sets;
  for (int i = 5; i < argc; ++i) sets.push_back({argv[i], static_cast<double>(i)});
  using Clock = std::chrono::steady_clock;
  const auto since = [](Clock::time_point begin) {
    return std::chrono::duration<double>(Clock::now() - begin).count();
  };
  const auto begin_open = Clock::now();
  const data::Loader loader(
      sets, {.sequence_length = T, .vocab_size = 1 << 30, .seed = 1, .contents = {.document_starts = documents}});
  const double open_seconds = since(begin_open);
  std::vector<std::int32_t> inputs(static_cast<std::size_t>(T * batch)), targets(inputs.size()), starts(inputs.size());
  const data::BatchBuffers buffers{inputs.data(), targets.data(), documents ? starts.data() : nullptr};
  std::int64_t n_batches = 0, sum = 0;
  double spent = 0;
  for (const auto begin = Clock::now(); (spent = since(begin)) < seconds; ++n_batches) {
    loader.read(n_batches * batch, batch, buffers);
    sum += inputs[0] + targets.back() + starts.back();  // so that reading is not left out
  }
  fmt::print("{{\"tokens_per_second\": {}, \"open_seconds\": {}, \"tokens\": {}, \"sum\": {}}}\n",
             static_cast<double>(n_batches * batch * T) / spent, open_seconds, n_batches * batch * T, sum);
  return 0;
} catch (const monomorph::Error& error) {
  fmt::print(stderr, "{}\n", error.what());
  return 2;
}
