// Encodes the documents of a JSON Lines file once with caches that start empty, in one thread, and prints one line of
// JSON. Usage: data_encode <tokenizer.json> <documents.jsonl> [<least bytes of text: repeated up to that>]
#include <monomorph/data/records/input_file.hpp>
#include <monomorph/data/tokenizer/tokenizer.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <chrono>
#include <cstdlib>
#include <ctime>
#include <string>
#include <vector>

using namespace monomorph;
using Clock = std::chrono::steady_clock;

namespace {

double seconds_since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

/// Processor time of this thread, which does not count what others on the machine do.
double processor_seconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

std::vector<std::string> read_texts(const std::string& path) {
  std::vector<std::string> texts;
  data::LineReader lines(path);
  while (const auto line = lines.next()) texts.push_back(nlohmann::json::parse(line->text).at("text"));
  return texts;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const std::vector<std::string> texts = read_texts(argv[2]);
  const std::size_t least_bytes = argc > 3 ? std::strtoull(argv[3], nullptr, 10) : 0;

  const auto before_construction = Clock::now();
  const data::Tokenizer tokenizer(data::read_tokenizer_definition(argv[1]));
  const double construction_s = seconds_since(before_construction);

  data::Encoder encoder(tokenizer);
  std::size_t n_bytes = 0, n_tokens = 0;
  std::uint64_t check = 0;
  double encode_s = 0, processor_s = 0;
  do {
    for (const std::string& text : texts) {
      const double processor_before = processor_seconds();
      const auto before = Clock::now();
      std::vector<std::int32_t> ids;
      encoder.encode(text, ids);
      encode_s += seconds_since(before);
      processor_s += processor_seconds() - processor_before;
      n_bytes += text.size();
      n_tokens += ids.size();
      for (const std::int32_t id : ids) check = check * 1000003 + static_cast<std::uint64_t>(id);
    }
  } while (n_bytes < least_bytes);
  fmt::print(
      "{{\"bytes\": {}, \"tokens\": {}, \"check\": {}, \"seconds\": {}, \"processor_seconds\": {}, "
      "\"construction_seconds\": {}}}\n",
      n_bytes, n_tokens, check, encode_s, processor_s, construction_s);
}
