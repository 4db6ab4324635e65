#include "runtime/files/checkpoint_metadata.hpp"
#include "runtime/files/checkpoint_part.hpp"
#include "support/catch.hpp"
#include "support/error_of.hpp"
#include "support/temporary_folder.hpp"

#include <monomorph/core/xxh64.hpp>
#include <monomorph/runtime/comm/world.hpp>
#include <monomorph/runtime/files/checkpoint_reader.hpp>

#include <nlohmann/json.hpp>

#include <cstring>
#include <numeric>

namespace checkpoint_region_test {

namespace {

using namespace monomorph;
using namespace monomorph::runtime;
using namespace monomorph::testing;

const std::string fixture = MONOMORPH_SOURCE_DIR "/tests/fixtures/checkpoint/";
using Values = std::vector<std::int32_t>;

/// What a rank's file says of the tensor "w": a run of its elements, and a note if there is one.
struct FileOfRank {
  Values values;
  std::string note;
  FileDType dtype = FileDType::i32;
  std::vector<std::int64_t> shape{std::ssize(values)};
};

/// A checkpoint of these files, whatever they say, with right checksums.
void write_checkpoint(const std::string& folder, const std::vector<FileOfRank>& files) {
  CheckpointMetadata metadata;
  metadata.hyperparameters = "{}";
  metadata.has_regions = true;
  metadata.n_ranks = static_cast<int>(files.size());
  for (const FileOfRank& file : files) {
    const std::string name = checkpoint_metadata::rank_file_name(static_cast<int>(metadata.files.size()));
    const TensorToWrite tensor{"w", file.dtype, file.shape, reinterpret_cast<const std::byte*>(file.values.data())};
    std::string bytes;
    write_safetensors(
        [&](std::span<const std::byte> piece) {
          bytes.append(reinterpret_cast<const char*>(piece.data()), piece.size());
        },
        {&tensor, 1}, file.note.empty() ? TensorMetadata{} : TensorMetadata{{"w", file.note}});
    write_bytes(folder + "/" + name, bytes);
    metadata.files.push_back({name, bytes.size(), bytes.size(), {xxh64(std::as_bytes(std::span(bytes)))}});
  }
  write_bytes(folder + "/metadata.json", checkpoint_metadata::to_json(metadata));
}

/// The elements of a run of a tensor in which each element has its own number as value.
Values values_of(const RegionRun& run, const Dims& shape) {
  Values values;
  for (std::int64_t i = run.first; i < run.end(); ++i)
    values.push_back(static_cast<std::int32_t>(Region::whole(shape).element_at(run.region.place_of(i))));
  return values;
}

void write_split(const std::string& folder, const std::vector<RegionRun>& split, const Dims& shape) {
  std::vector<FileOfRank> files;
  for (const RegionRun& run : split)
    files.push_back({values_of(run, shape), note_of({{shape.begin(), shape.end()}, run})});
  write_checkpoint(folder, files);
}

Values read(CheckpointReader& reader, const RegionRun& run) {
  Values values(static_cast<std::size_t>(run.n), -1);
  reader.read("w", run.region, run.first, std::as_writable_bytes(std::span(values)));
  return values;
}

/// Regions, each in runs of at most so many elements.
std::vector<RegionRun> in_runs(const std::vector<Region>& regions, std::int64_t most) {
  std::vector<RegionRun> runs;
  for (const Region& region : regions)
    for (std::int64_t first = 0, n = region.elements(); first < n; first += most)
      runs.push_back({region, first, std::min(most, n - first)});
  return runs;
}

std::string error_of_files(const std::vector<FileOfRank>& files) {
  const TemporaryFolder folder;
  write_checkpoint(folder.path(), files);
  return error_of([&] { CheckpointReader reader(folder.path()); });
}

}  // namespace

TEST_CASE("a checkpoint of any split is read by any split") {
  const Dims shape{4, 6, 8};
  const Region whole = Region::whole(shape), columns_low{{0, 0, 0}, {4, 6, 3}}, columns_high{{0, 0, 3}, {4, 6, 5}};
  const Region rows_low{{0, 0, 0}, {4, 1, 8}}, rows_high{{0, 1, 0}, {4, 5, 8}}, first{{0, 0, 0}, {1, 6, 8}};
  // Blocks like the sails of a windmill, with one in the middle: no cut goes through from edge to edge.
  const std::vector<Region> windmill{{{1, 0, 0}, {3, 2, 5}}, {{1, 0, 5}, {3, 4, 3}}, {{1, 4, 2}, {3, 2, 6}},
                                     {{1, 2, 0}, {3, 4, 2}}, {{1, 2, 2}, {3, 2, 3}}, first};
  std::vector<std::vector<RegionRun>> splits;
  for (const std::vector<Region>& regions : {{whole},
                                             {columns_low, columns_high},
                                             {rows_low, rows_high},
                                             windmill,
                                             std::vector{first, {{1, 0, 0}, {3, 6, 8}}}})
    for (const std::int64_t most : {1000, 37, 8, 5}) splits.push_back(in_runs(regions, most));
  Values all(static_cast<std::size_t>(whole.elements()));
  std::iota(all.begin(), all.end(), 0);
  for (const auto& saved : splits) {
    const TemporaryFolder folder;
    write_split(folder.path(), saved, shape);
    CheckpointReader reader(folder.path());
    REQUIRE(reader.find("w")->shape == std::vector<std::int64_t>{4, 6, 8});
    Values loaded(all.size());
    reader.read("w", 0, std::as_writable_bytes(std::span(loaded)));
    REQUIRE(loaded == all);
    for (const auto& wanted : splits)
      for (const RegionRun& run : wanted) REQUIRE(read(reader, run) == values_of(run, shape));
  }
}

TEST_CASE("tensors that safetensors and numpy wrote in regions are read as numpy has them whole") {
  const SafetensorsFile expected = SafetensorsFile::open(fixture + "whole.safetensors");
  CheckpointReader reader(fixture + "step_00000007");
  reader.verify();
  REQUIRE(reader.names().size() == expected.tensors().size());
  for (const TensorEntry& entry : expected.tensors()) {
    CAPTURE(entry.name);
    const CheckpointReader::Tensor* const tensor = reader.find(entry.name);
    REQUIRE(tensor != nullptr);
    CHECK(tensor->dtype == entry.dtype);
    CHECK(tensor->shape == entry.shape);
    std::vector<std::byte> bytes(entry.end - entry.begin);
    reader.read(entry.name, 0, bytes);
    CHECK(std::memcmp(bytes.data(), expected.data(entry), bytes.size()) == 0);
  }
  std::vector<float> corner(4);  // of columns 4 and 5, which two ranks hold
  reader.read("columns", {{2, 4}, {3, 2}}, 1, std::as_writable_bytes(std::span(corner)));
  CHECK(corner == std::vector<float>{25 * 3 + 1, 34 * 3 + 1, 35 * 3 + 1, 44 * 3 + 1});
}

TEST_CASE("a note that says of no part that there can be is refused in one line") {
  const auto refusal = [](const std::string& note) { return error_of_files({{{1, 2, 3, 4, 5, 6, 7, 8}, note}}); };
  for (const char* const note : {"x",
                                 "from",
                                 "from 0",
                                 "from 0 of ",
                                 "from 0 of 8 ",
                                 "from 0 of 8x",
                                 "from x of 8",
                                 "from -1 of 8",
                                 "from 0 of -8",
                                 "from 0 of 8.0",
                                 "from 0 of 4x2 at",
                                 "from 0 of 4x2 at 0,0",
                                 "from 0 of 4x2 at 0,0 of ",
                                 "from 0 of 4x2 at 0x0 of 4x4",
                                 "from 0 of 4,2 at 0,0 of 4x4",
                                 "from 0 of 4x2 at 0,-1 of 4x4",
                                 "from 0 of 4x2 at 0,0 of 4x4 at 0,0 of 4x4",
                                 "from 99999999999999999999 of 8",
                                 "from 0 of 99999999999999999999",
                                 "from 0 of 4x2 at 0,99999999999999999999 of 4x4",
                                 "From 0 of 8",
                                 "from 0 of 8\nx"}) {
    CAPTURE(note);
    const std::string message = refusal(note);
    CHECK(contains(message, "[CHECKPOINT-10]"));
    CHECK(contains(message, "it is not of the form"));
  }
  const auto refused_for = [&](const std::string& note, const std::string& why) {
    CAPTURE(note);
    const std::string message = refusal(note);
    CHECK(contains(message, "[CHECKPOINT-10]"));
    CHECK(contains(message, why));
  };
  refused_for("from 0 of 9223372036854775807x2", "more elements than can be counted");
  refused_for("from 0 of 8 at 0 of 9223372036854775807x2", "more elements than can be counted");
  refused_for("from 0 of 4x2 at 0,0 of 8", "another number of dimensions");
  refused_for("from 0 of 8 at 0 of 4x4", "another number of dimensions");
  refused_for("from 0 of 4x2 at 0,0,0 of 4x4", "another number of dimensions");
  refused_for("from 0 of 1x1x1x4x2 at 0,0,0,0,0 of 1x1x1x4x4", "at most 4 dimensions");
  refused_for("from 0 of 4x2 at 0,3 of 4x4", "does not lie within");
  refused_for("from 0 of 4x2 at 9223372036854775807,0 of 4x4", "does not lie within");
  refused_for("from 0 of 9223372036854775807x2 at 1,0 of 4x4", "does not lie within");
  refused_for("from 1 of 4x2 at 0,2 of 4x4", "goes beyond");
  refused_for("from 9223372036854775807 of 4x2 at 0,2 of 4x4", "goes beyond");
  refused_for("from 9 of 4x4", "goes beyond");
  CHECK(contains(error_of_files({{{1, 2, 3, 4, 5, 6, 7, 8}, "from 0 of 4x2 at 0,0 of 4x4", FileDType::i32, {4, 2}}}),
                 "must be a tensor of one dimension"));
}

TEST_CASE("parts that overlap, leave holes or tell of different tensors are refused") {
  const Values eight(8);
  const auto refusal = [&](const std::string& first, const std::string& second) {
    return error_of_files({{eight, first}, {eight, second}});
  };
  const std::string left = "from 0 of 4x2 at 0,0 of 4x4", right = "from 0 of 4x2 at 0,2 of 4x4";
  CHECK(refusal(left, right) == "(no error)");
  CHECK(refusal(right, left) == "(no error)");
  CHECK(contains(refusal(left, left), "each element of \"w\" once, from 0 on"));
  CHECK(contains(refusal(left, "from 0 of 4x2 at 0,1 of 4x4"), "once, from 1 on"));
  CHECK(contains(refusal(left, "from 0 of 2x4 at 2,0 of 4x4"), "once, from 2 on"));
  CHECK(contains(refusal(left, "from 8 of 4x4"), "once, from 2 on"));
  CHECK(contains(error_of_files({{eight, left}}), "once, from 2 on"));
  CHECK(contains(refusal(left, "from 0 of 4x2 at 0,2 of 4x5"), "another file says"));
  CHECK(contains(refusal(left, "from 0 of 8 at 0 of 16"), "another file says"));
  CHECK(contains(refusal(left, ""), "another file says"));
  CHECK(contains(error_of_files({{eight, left}, {eight, right, FileDType::f32}}), "another file says"));
  // Vast, and the rest of it nowhere: found without looking at its elements.
  CHECK(contains(error_of_files({{eight, "from 0 of 4x2 at 0,0 of 4611686018427387x1000"}}), "once, from 2 on"));
}

TEST_CASE("a part of a tensor of many dimensions is a run of its elements") {
  const TemporaryFolder folder;
  write_checkpoint(folder.path(), {{{0, 1, 2}, "from 0 of 1x2x1x2x2"}, {{3, 4, 5, 6, 7}, "from 3 of 1x2x1x2x2"}});
  CheckpointReader reader(folder.path());
  CHECK(reader.find("w")->shape == std::vector<std::int64_t>{1, 2, 1, 2, 2});
  CHECK(read(reader, {{{0}, {8}}, 2, 3}) == Values{2, 3, 4});
}

TEST_CASE("what lies outside of a tensor is neither read nor saved") {
  const TemporaryFolder folder;
  write_split(folder.path(), {RegionRun::whole({4, 4})}, {4, 4});
  CheckpointReader reader(folder.path());
  for (const RegionRun& run : {RegionRun{{{0, 3}, {4, 2}}}, RegionRun{{{0}, {16}}}, RegionRun{{{0, 0}, {4, 4}}, 10, 7}})
    CHECK(contains(error_of([&] { read(reader, run); }), "[CHECKPOINT-12]"));
  Values too_many(17);
  CHECK(
      contains(error_of([&] { reader.read("w", 0, std::as_writable_bytes(std::span(too_many))); }),
               "[CHECKPOINT-12] elements 0 to 17 of the region [4, 4] at [0, 0] do not lie in \"w\" of shape [4, 4]"));

  CheckpointMetadata metadata;
  metadata.hyperparameters = "{}";
  const PartToSave part{{"w", FileDType::i32, {4, 4}, reinterpret_cast<const std::byte*>(too_many.data())},
                        {{{0, 3}, {4, 2}}}};
  CHECK(contains(error_of([&] {
                   static_cast<void>(save_checkpoint(folder / "c", metadata, *one_rank(), {&part, 1}, {}));
                 }),
                 "[CHECKPOINT-12]"));
  CHECK_FALSE(latest_checkpoint(folder / "c"));
}

}  // namespace checkpoint_region_test
