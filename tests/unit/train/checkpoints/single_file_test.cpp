#include "saved_tensors.hpp"
#include "support/catch.hpp"
#include "support/error_of.hpp"
#include "support/process.hpp"
#include "train/checkpoints/crc32.hpp"
#include "train/checkpoints/pickled_tensors.hpp"
#include "train/checkpoints/zip_archive.hpp"

#include <monomorph/core/interruption.hpp>
#include <monomorph/train/checkpoints/single_file.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <functional>

using namespace monomorph;
using namespace monomorph::testing;
using namespace monomorph::train;

namespace {

using runtime::FileDType;
const std::string fixture = MONOMORPH_SOURCE_DIR "/tests/fixtures/checkpoint/";

/// A tensor of each dtype, a scalar, one without elements and one of several pieces.
SavedTensors many_kinds() {
  SavedTensors tensors{{"embedding.weight", fp32_tensor({1, 2, 3, 4, 5, 6}, {2, 3})},
                       {"moment1.embedding.weight", fp32_tensor({6, 5, 4, 3, 2, 1}, {2, 3})},
                       {"a name ä", fp32_tensor({7})},
                       {"empty", fp32_tensor({}, {0, 4})},
                       {"large", fp32_tensor(std::vector<float>(2'500'000, 0.25F), {2500, 1000})}};
  std::int64_t number = 1;
  for (const FileDType dtype : {FileDType::f64, FileDType::f16, FileDType::bf16, FileDType::i64, FileDType::i32,
                                FileDType::i16, FileDType::i8, FileDType::u8, FileDType::boolean}) {
    std::string bytes(3 * runtime::bytes_per_element(dtype), '\0');
    for (char& byte : bytes) byte = static_cast<char>(dtype == FileDType::boolean ? number % 2 : number % 60);
    ++number;
    tensors[std::string(name_of(dtype))] = {dtype, {3}, bytes};
  }
  tensors["scalar"] = fp32_tensor({8});
  tensors["scalar"].shape = {};
  return tensors;
}

/// That a file of PyTorch's has the tensors of a safetensors file.
void check_torch_file(const std::string& path, const std::string& safetensors) {
  const ProcessResult result =
      run_process({"python3", MONOMORPH_SOURCE_DIR "/tests/support/check_torch_file.py", path, safetensors});
  INFO(result.out << result.err);
  CHECK(result.exit_code == 0);
  if (contains(result.out, "skipped")) WARN(result.out);
}

std::map<std::string, std::string> bytes_by_name(const std::string& safetensors) {
  const auto file = runtime::SafetensorsFile::open(safetensors);
  std::map<std::string, std::string> bytes;
  for (const runtime::TensorEntry& entry : file.tensors())
    bytes[entry.name] = std::string(name_of(entry.dtype)) +
                        std::string(reinterpret_cast<const char*>(file.data(entry)), entry.end - entry.begin);
  return bytes;
}

/// What `act` writes to standard error.
std::string said_by(const std::function<void()>& act) {
  const TemporaryFolder folder;
  const int before = ::dup(STDERR_FILENO), file = ::open((folder / "err").c_str(), O_WRONLY | O_CREAT, 0600);
  ::dup2(file, STDERR_FILENO);
  act();
  ::dup2(before, STDERR_FILENO);
  ::close(file);
  ::close(before);
  return read_bytes(folder / "err");
}

}  // namespace

TEST_CASE("what four ranks saved in regions comes together in one file, as another implementation has it") {
  const TemporaryFolder folder;
  runtime::CheckpointReader checkpoint(fixture + "step_00000007");
  const WrittenFile written = write_consolidated(checkpoint, TensorsToWrite::all, folder / "all.safetensors");
  CHECK(bytes_by_name(folder / "all.safetensors") == bytes_by_name(fixture + "whole.safetensors"));
  CHECK(written.n_tensors == std::ssize(checkpoint.names()));
  const auto file = runtime::SafetensorsFile::open(folder / "all.safetensors");
  CHECK(file.metadata().at("format") == "pt");
  CHECK(file.metadata().at("monomorph.step") == "7");
  write_torch_file(checkpoint, TensorsToWrite::all, folder / "all.pt");
  check_torch_file(folder / "all.pt", fixture + "whole.safetensors");
}

TEST_CASE("every kind of tensor goes into one file, with or without the optimiser's state") {
  const TemporaryFolder folder;
  const SavedTensors tensors = many_kinds();
  runtime::CheckpointReader checkpoint(save_tensors(folder / "run", tensors));
  for (const auto which : {TensorsToWrite::all, TensorsToWrite::weights}) {
    const std::string safetensors = folder / (which == TensorsToWrite::all ? "all" : "weights"),
                      torch = safetensors + ".pt";
    const WrittenFile written = write_consolidated(checkpoint, which, safetensors);
    CHECK(written.n_tensors == std::ssize(tensors) - (which == TensorsToWrite::all ? 0 : 1));
    const auto file = runtime::SafetensorsFile::open(safetensors);
    CHECK((file.find("moment1.embedding.weight") != nullptr) == (which == TensorsToWrite::all));
    for (const runtime::TensorEntry& entry : file.tensors()) {
      CHECK(entry.shape == tensors.at(entry.name).shape);
      CHECK(entry.dtype == tensors.at(entry.name).dtype);
      const bool same_bytes = std::string_view(reinterpret_cast<const char*>(file.data(entry)),
                                               entry.end - entry.begin) == tensors.at(entry.name).bytes;
      CHECK(same_bytes);  // not the bytes themselves, which would be printed
    }
    write_torch_file(checkpoint, which, torch);
    check_torch_file(torch, safetensors);
  }
  CHECK(n_entries(folder.path()) == 5);
}

TEST_CASE("of a run that kept a moving average of its weights, the weights alone are that, under their own names") {
  const TemporaryFolder folder;
  const SavedTensors raw{{"w", fp32_tensor({1, 2}, {2, 1})}, {"fixed", fp32_tensor({7})}},
      averaged{{"w", fp32_tensor({3, 4}, {2, 1})}, {"fixed", fp32_tensor({7})}};
  SavedTensors all = raw;
  all["average.w"] = averaged.at("w");
  all["moment1.w"] = fp32_tensor({5, 6}, {2, 1});
  runtime::CheckpointReader with(save_tensors(folder / "with", all)), without(save_tensors(folder / "without", raw)),
      expected(save_tensors(folder / "expected", averaged));
  const auto written = [&](runtime::CheckpointReader& checkpoint, TensorsToWrite which, const std::string& name) {
    const std::string file = folder / name;
    const std::string said = said_by([&] {
      CHECK(write_consolidated(checkpoint, which, file).n_tensors == (which == TensorsToWrite::all ? 4 : 2));
      write_torch_file(checkpoint, which, file + ".pt");
    });
    check_torch_file(file + ".pt", file);
    const bool is_averaged = &checkpoint == &with && which == TensorsToWrite::weights;
    CHECK(contains(said, "the weights are their moving average") == is_averaged);
    return bytes_by_name(file);
  };
  write_consolidated(expected, TensorsToWrite::all, folder / "expected.safetensors");
  const auto of_average = bytes_by_name(folder / "expected.safetensors");
  CHECK(written(with, TensorsToWrite::weights, "weights") == of_average);
  CHECK(written(without, TensorsToWrite::weights, "weights_without") != of_average);
  const auto everything = written(with, TensorsToWrite::all, "all");
  CHECK(everything.at("w") != of_average.at("w"));
  CHECK(everything.at("average.w") == of_average.at("w"));

  // Before the first update it is zeros: of a run that was interrupted before it, or has skipped all of its steps.
  runtime::CheckpointMetadata begun = metadata_of_step(0), skipped = metadata_of_step(5);
  skipped.counters["updates"] = std::int64_t{0};
  for (const runtime::CheckpointMetadata& metadata : {begun, skipped}) {
    const std::string name = "before" + std::to_string(metadata.step);
    runtime::CheckpointReader before(save_tensors(folder / name, all, metadata));
    CHECK(written(before, TensorsToWrite::weights, name + "_weights").at("w") == everything.at("w"));
  }
}

TEST_CASE("a checkpoint that proves damaged, or a signal, leaves no file behind") {
  const TemporaryFolder folder;
  const std::string path = save_tensors(folder / "run", many_kinds());
  {
    const InterruptionGuard guard;
    std::raise(SIGTERM);
    runtime::CheckpointReader checkpoint(path);
    CHECK(contains(error_of([&] { write_consolidated(checkpoint, TensorsToWrite::all, folder / "file"); }),
                   "[CHECKPOINT-35]"));
  }
  { const InterruptionGuard forgets_the_signal; }
  std::string bytes = read_bytes(path + "/rank_00000.safetensors");
  bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 1);
  write_bytes(path + "/rank_00000.safetensors", bytes);
  for (const auto write : {write_consolidated, write_torch_file}) {
    runtime::CheckpointReader checkpoint(path);
    CHECK(contains(error_of([&] { write(checkpoint, TensorsToWrite::all, folder / "file"); }), "[CHECKPOINT-05]"));
    CHECK(n_entries(folder.path()) == 1);
    CHECK(contains(error_of([&] { write(checkpoint, TensorsToWrite::all, folder / "no/such"); }), "[FILE-01]"));
  }
}

TEST_CASE("an output must not exist, and not lie in the checkpoint") {
  const TemporaryFolder folder;
  const std::string path = save_tensors(folder / "run/checkpoints", many_kinds());
  check_output(folder / "run/file", {path});  // beside the checkpoints
  check_output("/dev/null", {path});
  for (const std::string& inside : {path + "/file", path + "/../step_00000001/new/file", path, path + "/"})
    CHECK(contains(error_of([&] { check_output(inside, {path}); }), "[CHECKPOINT-31]"));
  std::filesystem::create_directory_symlink(path, folder / "link");
  CHECK(contains(error_of([&] { check_output(folder / "link/file", {path}); }), "[CHECKPOINT-31]"));
  CHECK(contains(error_of([&] {
                   check_output(folder / "file", {folder / "other", folder.path()});
                 }),
                 "[CHECKPOINT-31]"));
  write_bytes(folder / "file", "");
  std::filesystem::create_symlink("nowhere", folder / "broken_link");
  for (const std::string name : {"file", "run", "broken_link"})
    CHECK(contains(error_of([&] { check_output(folder / name, {path}); }), "[CHECKPOINT-30]"));
}

TEST_CASE("records and archives beyond 4 GiB are said in 64 bits") {
  // What is given is not kept, so that it takes no memory: of the archive only the ends are looked at.
  std::string end;
  std::uint64_t n_bytes = 0;
  ZipArchive archive([&](std::span<const std::byte> bytes) {
    n_bytes += bytes.size();
    if (bytes.size() < 4096) end.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  });
  constexpr std::uint64_t large = (std::uint64_t{1} << 32) + (1 << 20);
  const std::vector<std::byte> zeros(1 << 20);
  archive.add("large", large, [&](const runtime::ByteSink& sink) {
    for (std::uint64_t given = 0; given < large; given += zeros.size()) sink(zeros);
  });
  archive.add("behind", 0, [](const runtime::ByteSink&) {});
  archive.finish();
  const TemporaryFolder folder;  // a file with a hole in it, of which Python's module reads what was written
  write_bytes(folder / "head", end.substr(0, 64));
  std::filesystem::copy(folder / "head", folder / "archive.zip");
  std::filesystem::resize_file(folder / "archive.zip", n_bytes - (end.size() - 64));
  std::ofstream(folder / "archive.zip", std::ios::app | std::ios::binary) << end.substr(64);
  const ProcessResult result = run_process({"python3", "-c",
                                            "import sys, zipfile\n"
                                            "archive = zipfile.ZipFile(sys.argv[1])\n"
                                            "print([(entry.filename, entry.file_size, entry.header_offset, "
                                            "hex(entry.CRC)) for entry in archive.infolist()])\n"
                                            "print(archive.read('behind'))",
                                            folder / "archive.zip"});
  INFO(result.err);
  CHECK(result.out == "[('large', 4296015872, 0, '0xc6a48b28'), ('behind', 0, 4296015960, '0x0')]\nb''\n");
}

TEST_CASE("a shape beyond 31 bits is pickled in 64") {
  const std::vector<PickledTensor> tensors{{"w", FileDType::u8, {3, std::int64_t{1} << 40}}};
  CHECK(contains(pickled(tensors), std::string("\x8a\x08\0\0\0\0\0\x01\0\0", 10)));
}

TEST_CASE("the checksum of archives is that of its published test, however the bytes are cut") {
  const std::string_view text = "123456789";
  for (std::size_t cut = 0; cut <= text.size(); ++cut) {
    Crc32 crc;
    crc.update(std::as_bytes(std::span(text.substr(0, cut))));
    crc.update(std::as_bytes(std::span(text.substr(cut))));
    CHECK(crc.value() == 0xCBF43926);
  }
}
