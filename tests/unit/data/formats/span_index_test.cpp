#include "unit/data/data_test_support.hpp"

#include <monomorph/core/hash.hpp>
#include <monomorph/data/formats/span_index.hpp>

#include <fmt/format.h>

using namespace monomorph::data;

namespace {

std::string pickle_of(const std::vector<DocumentSpan>& spans) {
  std::string pickle;
  SpanIndexWriter writer([&](std::span<const std::byte> bytes) {
    pickle.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  });
  for (const DocumentSpan span : spans) writer.add(span);
  writer.finish();
  return pickle;
}

/// Lengths by a rule that the script behind the reference hashes repeats.
std::vector<DocumentSpan> example_spans(std::uint64_t n) {
  std::vector<DocumentSpan> spans;
  std::uint64_t offset = 0;
  for (std::uint64_t i = 0; i < n; ++i) {
    const std::uint64_t length = i * i * 7919 % 100003;
    spans.push_back({offset, length});
    offset += length;
  }
  return spans;
}

std::string from_hex(const std::string& hex) {
  std::string bytes;
  for (std::size_t i = 0; i < hex.size(); i += 2) bytes += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
  return bytes;
}

std::string hex_of(const std::string& bytes) {
  std::string hex;
  for (const char byte : bytes) hex += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  return hex;
}

std::vector<DocumentSpan> read(const std::string& pickle) { return read_span_index(bytes_of(pickle), "test.idx"); }

const std::vector<DocumentSpan> wide_spans{{0, 255},
                                           {256, 65535},
                                           {65536, 0x7fffffff},
                                           {0x80000000, 0xffffffff},
                                           {1ull << 32, (1ull << 39) - 1},
                                           {1ull << 39, 1ull << 40},
                                           {1ull << 55, 1ull << 62}};
const std::string wide_hex =
    "80049567000000000000005d94284b004bff86944d00014dffff86944a000001004affffff7f86948a0500000080008a05ffffffff0086948a"
    "0500"
    "000000018a05ffffffff7f86948a060000000080008a0600000000000186948a0800000000000080008a0800000000000000408694652e";

}  // namespace

TEST_CASE("Indexes are, byte for byte, what pickle.dumps of Python writes") {
  struct Reference {
    std::uint64_t n;
    std::size_t n_bytes;
    std::uint64_t fnv1a;
  };
  // From Python 3.11: pickle.dumps(spans, protocol=4), hashed by FNV-1a.
  const Reference references[] = {{0, 5, 0xd1f0e3f833b9660au},         {1, 21, 0x1982f297ddcae396u},
                                  {2, 29, 0xf97c396ceeb645b7u},        {999, 10721, 0xbbf57ce418d4e360u},
                                  {1000, 10731, 0x4dc3aedfec922161u},  {1001, 10743, 0x37a261bd9c83544du},
                                  {2000, 21421, 0x2ee59ff3d9924410u},  {5000, 53533, 0x3b80d346eff08b1u},
                                  {30000, 320533, 0xef8bf9d2afe2a63cu}};
  for (const auto& [n, n_bytes, hash] : references) {
    INFO(n << " spans");
    const std::string pickle = pickle_of(example_spans(n));
    CHECK(pickle.size() == n_bytes);
    CHECK(monomorph::fnv1a_64(pickle) == hash);
    CHECK(read(pickle) == example_spans(n));
  }
  CHECK(hex_of(pickle_of(wide_spans)) == wide_hex);
  CHECK(read(from_hex(wide_hex)) == wide_spans);
}

TEST_CASE("Pickles of other protocols are read, too") {
  const std::vector<DocumentSpan> spans{{1, 2}, {3, 70000}};
  CHECK(read(from_hex("80025d7100284b014b028671014b034a70110100867102652e")) == spans);
  CHECK(read(from_hex("80035d7100284b014b028671014b034a70110100867102652e")) == spans);
  CHECK(read(from_hex("80059514000000000000005d94284b014b0286944b034a701101008694652e")) == spans);
}

TEST_CASE("Anything but lists of pairs of whole numbers is refused") {
  const char* hostile[] = {"80049511000000000000005d944b014740040000000000008694612e",              // a float
                           "80049517000000000000005d948c05706f736978948c0673797374656d949394612e",  // a function of os
                           "63706f7369780a73797374656d0a2e",                                // protocol 0: global
                           "80049508000000000000007d944b014b02732e",                        // a dict
                           "8004950d000000000000005d944affffffff4b028694612e",              // negative
                           "80049513000000000000005d944b018a090000000000000000018694612e",  // beyond 64 bits
                           "80049509000000000000005d944b01888694612e",                      // a bool
                           "8004950c000000000000005d944b014b024b038794612e",                // three numbers
                           "8004950c000000000000005d945d94284b014b0265612e",                // a list for a tuple
                           "8004950a000000000000005d944b014b028694612e00",                  // something follows
                           "800495ffffffffffffffff5d944b014b028694612e",                    // an endless frame
                           "8004950b000000000000005d944b014b028694612e",                    // a frame beyond the end
                           "80069e",
                           "80",
                           "",
                           "2e"};
  for (const char* hex : hostile) {
    INFO(hex);
    CHECK(contains(error_of([&] { read(from_hex(hex)); }), "[DATA-05]"));
  }
}

TEST_CASE("An index that is cut short anywhere, or has any byte changed, never crashes the reader") {
  const std::string pickle = pickle_of(wide_spans);
  for (std::size_t size = 0; size < pickle.size(); ++size) {
    CHECK(contains(error_of([&] { read(pickle.substr(0, size)); }), "[DATA-05]"));
  }
  for (std::size_t i = 0; i < pickle.size(); ++i) {
    for (int value = 0; value < 256; ++value) {
      std::string changed = pickle;
      changed[i] = static_cast<char>(value);
      const std::string error = error_of([&] { read(changed); });
      if (!error.empty() && !contains(error, "[DATA-05]")) FAIL(error);
    }
  }
}
