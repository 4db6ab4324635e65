// Stands in for libFuzzer where there is none: replay <corpus folder> [mutations] runs a harness over every file of the
// corpus, over each of its beginnings of some lengths, and over files with a few bytes changed, always the same ones.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <vector>

#include "harness.hpp"

namespace {

using Bytes = std::vector<std::uint8_t>;

void run(const Bytes& bytes) {
  // Of no more capacity than size, so that a sanitizer sees a read past the end.
  const Bytes exact(bytes);  // NOLINT(performance-unnecessary-copy-initialization)
  LLVMFuzzerTestOneInput(exact.data(), exact.size());
}

void run_mutations(const Bytes& original, int n_mutations, std::mt19937_64& random) {
  const auto below = [&](std::size_t n) { return static_cast<std::size_t>(random() % n); };
  for (int i = 0; i < n_mutations; ++i) {
    Bytes bytes = original;
    for (std::size_t change = below(4) + 1; change > 0 && !bytes.empty(); --change) {
      const std::size_t place = below(bytes.size());
      switch (below(4)) {
        case 0:
          bytes[place] = static_cast<std::uint8_t>(random());
          break;
        case 1:
          bytes[place] ^= static_cast<std::uint8_t>(1u << below(8));
          break;
        case 2:
          bytes.erase(bytes.begin() + static_cast<std::ptrdiff_t>(place));
          break;
        default:
          bytes.resize(place);
      }
    }
    run(bytes);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const int n_mutations = argc > 2 ? std::atoi(argv[2]) : 200;
  std::vector<std::filesystem::path> files;
  if (argc > 1) {
    for (const auto& entry : std::filesystem::directory_iterator(argv[1])) files.push_back(entry.path());
  }
  std::ranges::sort(files);  // the order of a folder is not the same everywhere
  if (files.empty()) {
    std::fprintf(stderr, "usage: %s <corpus folder> [mutations of each file]\n", argv[0]);
    return 2;
  }
  std::mt19937_64 random(0);
  for (const auto& path : files) {
    std::ifstream file(path, std::ios::binary);
    const Bytes bytes{std::istreambuf_iterator<char>(file), {}};
    run(bytes);
    run_mutations(bytes, n_mutations, random);
  }
  std::printf("%zu files, %d mutations of each\n", files.size(), n_mutations);
}
