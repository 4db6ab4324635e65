#include "support/catch.hpp"
#include "support/error_of.hpp"
#include "support/temporary_folder.hpp"

#include <monomorph/runtime/files/safetensors.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <map>
#include <random>

namespace safetensors_test {

namespace {

using namespace monomorph;
using namespace monomorph::runtime;
using namespace monomorph::testing;

const std::string models = MONOMORPH_SOURCE_DIR "/tests/fixtures/models/";

/// A file with `header` as it stands, followed by `n_data` bytes 0, 1, 2, ...
std::string file_of(std::string_view header, std::size_t n_data) {
  const std::uint64_t n_header = header.size();
  std::string file(8, '\0');
  std::memcpy(file.data(), &n_header, 8);
  file += header;
  for (std::size_t i = 0; i < n_data; ++i) file += static_cast<char>(i);
  return file;
}

SafetensorsHeader parse(std::string_view file) {
  return parse_safetensors(std::as_bytes(std::span{file.data(), file.size()}), "model.safetensors");
}

std::string error_of_header(std::string_view header, std::size_t n_data = 0) {
  const std::string file = file_of(header, n_data);
  return error_of([&] { parse(file); });
}

/// One F32 tensor "w" with the given members.
std::string error_of_tensor(const std::string& members, std::size_t n_data = 8) {
  return error_of_header("{\"w\":{" + members + "}}", n_data);
}

float float_at(const SafetensorsFile& file, const std::string& name, std::size_t index) {
  float value = 0;
  std::memcpy(&value, file.data(file.at(name)) + 4 * index, 4);
  return value;
}

// The bytes that Python's safetensors.numpy.save({"b": int16 [1, -2], "a": float32 [[1.5]]}, metadata={"k": "v"})
// gives.
const std::string by_python = std::string("\x88\0\0\0\0\0\0\0", 8) +
                              R"({"__metadata__":{"k":"v"},"a":{"dtype":"F32","shape":[1,1],"data_offsets":[0,4]},)" +
                              R"("b":{"dtype":"I16","shape":[2],"data_offsets":[4,8]}}  )" +
                              std::string("\0\0\xc0\x3f\x01\0\xfe\xff", 8);

}  // namespace

TEST_CASE("a file by the reference implementation is read") {
  const TemporaryFolder folder;
  write_bytes(folder / "python.safetensors", by_python);
  const SafetensorsFile file = SafetensorsFile::open(folder / "python.safetensors");
  CHECK(file.metadata() == TensorMetadata{{"k", "v"}});
  REQUIRE(file.tensors().size() == 2);
  CHECK(file.at("a").shape == std::vector<std::int64_t>{1, 1});
  CHECK(float_at(file, "a", 0) == 1.5f);
  CHECK(file.at("b").dtype == FileDType::i16);
  std::array<std::int16_t, 2> values{};
  std::memcpy(values.data(), file.data(file.at("b")), 4);
  CHECK(values == std::array<std::int16_t, 2>{1, -2});
  CHECK(file.find("c") == nullptr);
  CHECK(contains(error_of([&] { file.at("c"); }), "[SAFETENSORS-09]"));
}

TEST_CASE("the reference models and results are read") {
  const SafetensorsFile gpt2 = SafetensorsFile::open(models + "gpt2_tiny/model.safetensors");
  CHECK(gpt2.metadata().at("format") == "pt");
  CHECK(gpt2.at("transformer.h.0.attn.c_attn.weight").shape == std::vector<std::int64_t>{64, 192});
  CHECK(gpt2.at("transformer.h.0.attn.c_attn.weight").dtype == FileDType::f32);
  const SafetensorsFile llama = SafetensorsFile::open(models + "llama_tiny/model.safetensors");
  CHECK(llama.at("model.layers.0.mlp.down_proj.weight").shape == std::vector<std::int64_t>{64, 176});
  CHECK(llama.find("lm_head.weight") != nullptr);
  const SafetensorsFile tied = SafetensorsFile::open(models + "llama_tiny_tied/model.safetensors");
  CHECK(tied.find("lm_head.weight") == nullptr);
  // What Python's safetensors package reads there.
  struct Row {
    std::string name;
    double loss, last_logit;
  };
  for (const Row& row : {Row{"gpt2_tiny", 6.375014305114746, 0.8993913906778929},
                         Row{"llama_tiny", 6.502482891082764, 0.6104211347929444},
                         Row{"llama_tiny_tied", 6.599581718444824, -0.3412531024590295}}) {
    CAPTURE(row.name);
    const SafetensorsFile expected = SafetensorsFile::open(models + row.name + "_expected.safetensors");
    CHECK(expected.at("loss").shape.empty());
    CHECK(double{float_at(expected, "loss", 0)} == row.loss);
    const TensorEntry& logits = expected.at("logits_f64");
    CHECK(logits.dtype == FileDType::f64);
    REQUIRE(logits.shape == std::vector<std::int64_t>{2, 32, 512});
    double last = 0;
    std::memcpy(&last, expected.data(logits) + (2 * 32 * 512 - 1) * 8, 8);
    CHECK(last == row.last_logit);
  }
}

TEST_CASE("what is written is read back, aligned, with every dtype, scalars and empty tensors") {
  const TemporaryFolder folder;
  const std::string path = folder / "all.safetensors";
  std::vector<std::byte> bytes(1024);
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(i * 31 + 1);
  const std::vector<std::pair<FileDType, std::size_t>> dtypes{{FileDType::boolean, 1}, {FileDType::u8, 1},
                                                              {FileDType::i8, 1},      {FileDType::i16, 2},
                                                              {FileDType::f16, 2},     {FileDType::bf16, 2},
                                                              {FileDType::i32, 4},     {FileDType::f32, 4},
                                                              {FileDType::i64, 8},     {FileDType::f64, 8}};
  std::vector<TensorToWrite> written;
  for (const auto& [dtype, n_bytes] : dtypes) {
    CHECK(bytes_per_element(dtype) == n_bytes);
    const std::string name(name_of(dtype));
    written.push_back({name + ".odd", dtype, {3, 1}, bytes.data() + written.size()});
    written.push_back({name + ".scalar", dtype, {}, bytes.data() + written.size()});
    written.push_back({name + ".flat", dtype, {64}, bytes.data() + written.size()});
    written.push_back({name + ".empty", dtype, {5, 0}, nullptr});
  }
  written.push_back({"Umlaut ü \"quoted\" \n line", FileDType::u8, {1}, bytes.data()});
  const TensorMetadata metadata{{"", "empty key"}, {"quote\"", "back\\slash\n"}};
  write_safetensors(path, written, metadata);

  const SafetensorsFile file = SafetensorsFile::open(path);
  CHECK(file.metadata() == metadata);
  REQUIRE(file.tensors().size() == written.size());
  for (const TensorToWrite& tensor : written) {
    CAPTURE(tensor.name);
    const TensorEntry& entry = file.at(tensor.name);
    CHECK(entry.dtype == tensor.dtype);
    CHECK(entry.shape == tensor.shape);
    if (tensor.data != nullptr) CHECK(std::memcmp(file.data(entry), tensor.data, entry.end - entry.begin) == 0);
    const auto address = reinterpret_cast<std::uintptr_t>(file.data(entry));
    CHECK(address % bytes_per_element(entry.dtype) == 0);
    if (entry.shape == std::vector<std::int64_t>{64}) CHECK(address % 64 == 0);
  }
}

TEST_CASE("the bytes written are the bytes that the format asks for") {
  const std::array<std::uint8_t, 2> data{7, 9};
  std::string file;
  write_safetensors(
      [&](std::span<const std::byte> bytes) { file.append(reinterpret_cast<const char*>(bytes.data()), bytes.size()); },
      std::vector<TensorToWrite>{{"w", FileDType::u8, {2}, reinterpret_cast<const std::byte*>(data.data())}}, {});
  std::string header = R"({"w":{"dtype":"U8","shape":[2],"data_offsets":[0,2]}})";
  header.append(56 - header.size(), ' ');  // 8 + 56 is the first multiple of 64
  std::string expected = file_of(header, 0) + "\x07\x09";
  CHECK(file == expected);
}

TEST_CASE("a file without tensors round-trips") {
  const TemporaryFolder folder;
  write_safetensors(folder / "none.safetensors", {}, {});
  CHECK(SafetensorsFile::open(folder / "none.safetensors").tensors().empty());
  CHECK(parse(file_of("{}", 0)).tensors.empty());
}

TEST_CASE("a file cut short anywhere, or with one byte more, is refused and named") {
  for (std::size_t size = 0; size < by_python.size(); ++size) {
    CAPTURE(size);
    const std::string message = error_of([&] { parse(std::string_view(by_python).substr(0, size)); });
    CHECK(contains(message, size < 8 + 0x88 ? "[SAFETENSORS-01]" : "[SAFETENSORS-06]"));
    CHECK(contains(message, "\"model.safetensors\""));
  }
  CHECK(contains(error_of([&] { parse(by_python + "x"); }), "[SAFETENSORS-06]"));
}

TEST_CASE("impossible header lengths are refused before anything is allocated") {
  for (const std::uint64_t length : {std::uint64_t{100'000'001}, std::uint64_t{1} << 63, ~std::uint64_t{0},
                                     ~std::uint64_t{0} - 7, std::uint64_t{145}}) {
    std::string file = by_python.substr(0, 152);
    std::memcpy(file.data(), &length, 8);
    CHECK(contains(error_of([&] { parse(file); }), "[SAFETENSORS-01]"));
  }
  CHECK(contains(error_of_header(""), "[SAFETENSORS-01]"));
  CHECK(contains(error_of_header(" {}"), "[SAFETENSORS-01]"));
  CHECK(contains(error_of_header("[]"), "[SAFETENSORS-01]"));
}

TEST_CASE("a header that is not the JSON it must be is refused") {
  for (const char* const header :
       {"{", "{} x", "{}{}", "{\"w\"}", "{\"w\":1}", "{\"w\":null}", "{\"w\":[]}", "{\"w\":\"F32\"}", "{\"w\":true}",
        "{\"\xff\":{}}", "{\"__metadata__\":[]}", "{\"__metadata__\":\"x\"}", "{\"__metadata__\":{\"a\":1}}",
        "{\"__metadata__\":{\"a\":{}}}", "{\"__metadata__\":{\"a\":[]}}",
        "{\"__metadata__\":{\"a\":\"1\",\"a\":\"1\"}}", "{\"__metadata__\":{},\"__metadata__\":{}}", "{\"w\":{}}"}) {
    CAPTURE(header);
    CHECK(contains(error_of_header(header), "[SAFETENSORS-02]"));
  }
  CHECK(contains(error_of_header("{\"w\":" + std::string(100'000, '{')), "[SAFETENSORS-02]"));
  CHECK(contains(error_of_header(std::string("{}\0x", 4)), "[SAFETENSORS-02]"));
  CHECK(contains(error_of_header(std::string("{}\0", 3)), "not JSON at its byte 3"));
  CHECK(contains(error_of_header("{\"w\":" + std::string(100'000, '[')), "[SAFETENSORS-02]"));
}

TEST_CASE("a tensor's fields are each there once and of the right kind") {
  REQUIRE(error_of_tensor(R"("dtype":"F32","shape":[2],"data_offsets":[0,8])") == "(no error)");
  REQUIRE(error_of_tensor(R"("data_offsets":[0,8],"shape":[2,1,1],"dtype":"F32")") == "(no error)");
  for (const char* const members : {R"("shape":[2],"data_offsets":[0,8])",
                                    R"("dtype":"F32","data_offsets":[0,8])",
                                    R"("dtype":"F32","shape":[2])",
                                    R"("dtype":"F32","dtype":"F32","shape":[2],"data_offsets":[0,8])",
                                    R"("dtype":"F32","shape":[2],"shape":[],"data_offsets":[0,8])",
                                    R"("dtype":"F32","shape":[2],"data_offsets":[0],"data_offsets":[0,8])",
                                    R"("dtype":"F32","shape":[2],"data_offsets":[0,8],"extra":1)",
                                    R"("dtype":4,"shape":[2],"data_offsets":[0,8])",
                                    R"("dtype":["F32"],"shape":[2],"data_offsets":[0,8])",
                                    R"("dtype":"F32","shape":2,"data_offsets":[0,8])",
                                    R"("dtype":"F32","shape":"2","data_offsets":[0,8])",
                                    R"("dtype":"F32","shape":["2"],"data_offsets":[0,8])",
                                    R"("dtype":"F32","shape":[-2],"data_offsets":[0,8])",
                                    R"("dtype":"F32","shape":[2.0],"data_offsets":[0,8])",
                                    R"("dtype":"F32","shape":[[2]],"data_offsets":[0,8])",
                                    R"("dtype":"F32","shape":[{}],"data_offsets":[0,8])",
                                    R"("dtype":"F32","shape":[99999999999999999999],"data_offsets":[0,8])",
                                    R"("dtype":"F32","shape":[2],"data_offsets":[])",
                                    R"("dtype":"F32","shape":[2],"data_offsets":[8])",
                                    R"("dtype":"F32","shape":[2],"data_offsets":[0,4,8])",
                                    R"("dtype":"F32","shape":[2],"data_offsets":[0,-8])"}) {
    CAPTURE(members);
    const std::string message = error_of_tensor(members);
    CHECK(contains(message, "[SAFETENSORS-02]"));
    CHECK(contains(message, "tensor \"w\""));
  }
  const std::string unknown = error_of_tensor(R"("dtype":"F8_E5M2","shape":[8],"data_offsets":[0,8])");
  CHECK(contains(unknown, "[SAFETENSORS-03]"));
  CHECK(contains(unknown, "F8_E5M2"));
}

TEST_CASE("shapes and offsets must agree") {
  for (const char* const shape : {"[9223372036854775807]", "[18446744073709551615]", "[4294967296,4294967296]",
                                  "[2305843009213693952,2]", "[4611686018427387904,4611686018427387904,0]"}) {
    CAPTURE(shape);
    CHECK(contains(error_of_tensor(R"("dtype":"F32","data_offsets":[0,8],"shape":)" + std::string(shape)),
                   "[SAFETENSORS-04]"));
  }
  for (const char* const offsets :
       {"[0,4]", "[0,9]", "[8,0]", "[0,18446744073709551615]", "[18446744073709551608,0]"}) {
    CAPTURE(offsets);
    CHECK(contains(error_of_tensor(R"("dtype":"F32","shape":[2],"data_offsets":)" + std::string(offsets)),
                   "[SAFETENSORS-05]"));
  }
}

TEST_CASE("the data belongs to exactly one tensor each") {
  const auto two = [](const char* a, const char* b) {
    return error_of_header(std::string(R"({"a":{"dtype":"U8","shape":[4],"data_offsets":)") + a +
                               R"(},"b":{"dtype":"U8","shape":[4],"data_offsets":)" + b + "}}",
                           8);
  };
  CHECK(two("[0,4]", "[4,8]") == "(no error)");
  CHECK(two("[4,8]", "[0,4]") == "(no error)");
  CHECK(contains(two("[0,4]", "[0,4]"), "[SAFETENSORS-06]"));
  CHECK(contains(two("[0,4]", "[3,7]"), "[SAFETENSORS-06]"));
  CHECK(contains(two("[0,4]", "[5,9]"), "[SAFETENSORS-06]"));
  CHECK(contains(two("[1,5]", "[5,9]"), "[SAFETENSORS-06]"));
  CHECK(contains(error_of_tensor(R"("dtype":"F32","shape":[2],"data_offsets":[0,8])", 9), "[SAFETENSORS-06]"));
  CHECK(contains(error_of_tensor(R"("dtype":"F32","shape":[2],"data_offsets":[0,8])", 7), "[SAFETENSORS-06]"));
}

TEST_CASE("a name that occurs twice is refused") {
  const TemporaryFolder folder;
  write_bytes(folder / "twice.safetensors", file_of(R"({"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]},)"
                                                    R"("a":{"dtype":"U8","shape":[4],"data_offsets":[4,8]}})",
                                                    8));
  const std::string message = error_of([&] { SafetensorsFile::open(folder / "twice.safetensors"); });
  CHECK(contains(message, "[SAFETENSORS-07]"));
  CHECK(contains(message, "\"a\""));
}

TEST_CASE("the writer refuses what no reader would take, and leaves no file") {
  const TemporaryFolder folder;
  const std::string path = folder / "refused.safetensors";
  const std::byte data{};
  const auto error_of_writing = [&](std::vector<TensorToWrite> tensors, const TensorMetadata& metadata) {
    return error_of([&] { write_safetensors(path, tensors, metadata); });
  };
  const TensorToWrite good{"w", FileDType::u8, {1}, &data};
  CHECK(contains(error_of_writing({good, good}, {}), "[SAFETENSORS-07]"));
  CHECK(contains(error_of_writing({{"__metadata__", FileDType::u8, {1}, &data}}, {}), "[SAFETENSORS-08]"));
  CHECK(contains(error_of_writing({{"\xff", FileDType::u8, {1}, &data}}, {}), "[SAFETENSORS-08]"));
  CHECK(contains(error_of_writing({good}, {{"k", "\xff"}}), "[SAFETENSORS-08]"));
  CHECK(contains(error_of_writing({{"w", FileDType::u8, {-1}, &data}}, {}), "[SAFETENSORS-04]"));
  CHECK(contains(error_of_writing({{"w", FileDType::f64, {1LL << 61}, &data}}, {}), "[SAFETENSORS-04]"));
  CHECK(n_entries(folder.path()) == 0);
  CHECK(contains(error_of([&] { write_safetensors("/dev/full", std::vector{good}, {}); }), "[FILE-02]"));
}

TEST_CASE("no change of a few bytes does more than an error or other values") {
  std::mt19937 random(20260801);
  for (int round = 0; round < 3000; ++round) {
    std::string file = by_python;
    const int n_changes = 1 + static_cast<int>(random() % 3);
    for (int change = 0; change < n_changes; ++change) {
      const std::size_t position = random() % (8 + 0x88);
      file[position] = random() % 2 == 0 ? static_cast<char>(random()) : "{}[]\",:0123456789 "[random() % 18];
    }
    try {
      const SafetensorsHeader header = parse(file);
      std::size_t reached = header.data_begin;
      for (const TensorEntry& tensor : header.tensors) reached += tensor.end - tensor.begin;
      REQUIRE(reached == file.size());
    } catch (const Error& error) {
      REQUIRE(contains(error.what(), "[SAFETENSORS-"));
    }
  }
}

}  // namespace safetensors_test
