// The host sees what lies in a device's own memory piece by piece: checkpoints and observers of a tensor that is larger
// than a piece have the bytes that they have on a CPU.
#include "numerics/schedule_recipes.hpp"
#include "support/catch.hpp"
#include "support/recording_device.hpp"
#include "support/temporary_folder.hpp"
#include "support/tensors.hpp"
#include "support/training_program.hpp"
#include "train/run/saving/staged_state.hpp"

#include <monomorph/runtime/comm/world.hpp>
#include <monomorph/runtime/files/background_save.hpp>
#include <monomorph/runtime/files/checkpoint_reader.hpp>
#include <monomorph/train/run/saving/run_checkpoint.hpp>

namespace monomorph::testing {
namespace {

using recorder::Recorder;

/// Its table is larger than a piece, and no multiple of one.
struct with_large_table : gpt2_like {
  static constexpr DecoderSpec model{
      .vocab_size = 270'001, .n_layers = 1, .n_heads = 2, .d_model = 64, .context_length = 8};
  using optimizer = optim::Sgd;
};
using Recorded = On<with_large_table, recorder::Device>;
static_assert(with_large_table::model.vocab_size * 64 * 4 > plan::host_staging_bytes);

const std::unique_ptr<Communicator> communicator = one_rank();

template <Recipe R> struct Trainee {
  train::RecipeProgram program = training_program<R>();
  train::Hparams hparams = train::default_hparams(program.hparams);
  train::Step<R> step;
  explicit Trainee(std::uint64_t seed) : step(*communicator, 1, seed) {}

  /// @return the bytes of the one file of its tensors
  std::string save(const std::string& folder) {
    save_run(folder, {.latest = 1}, program, hparams, {.step = 1, .samples = 1}, {}, step, *communicator);
    return read_bytes(folder + "/step_00000001/rank_00000.safetensors");
  }
  /// The same behind the steps: the state changes when it is copied.
  std::string save_behind(const std::string& folder) {
    train::StagedState staged(step, true);
    staged.copy();
    const train::StateTensor table = step.parameters().at(0);
    HostBuffer buffer;
    const View place = step.place_for_upload(table.view, buffer);
    std::ranges::fill(std::span(place.data, static_cast<std::size_t>(place.bytes())), std::byte{0});
    step.upload(place, table.view);
    runtime::BackgroundSave save(folder,
                                 train::checkpoint_metadata(program, hparams, {.step = 1, .samples = 1}, {}, 1,
                                                            std::nullopt),
                                 *communicator, staged.parts(), {.latest = 1}, [] {});
    save.finish();
    return read_bytes(folder + "/step_00000001/rank_00000.safetensors");
  }
  void restore(const std::string& folder) { restore_run(folder + "/step_00000001", program, step, true); }
};

}  // namespace

TEST_CASE("a checkpoint passes through the host's memory in pieces, and has the bytes of one on a CPU") {
  const TemporaryFolder here, there;
  const std::string expected = Trainee<with_large_table>(3).save(here.path());
  Trainee<Recorded> saved(3), restored(4);
  Recorder::the().largest_copy();
  CHECK((saved.save(there.path()) == expected));
  CHECK(Recorder::the().largest_copy() == plan::host_staging_bytes);
  restored.restore(there.path());
  CHECK(Recorder::the().largest_copy() == plan::host_staging_bytes);
  std::vector<HostBuffer> buffers, others;
  CHECK(hash_of(downloaded(restored.step.parameters(), restored.step, buffers)) ==
        hash_of(downloaded(saved.step.parameters(), saved.step, others)));
}

TEST_CASE("a checkpoint behind the steps has the state as it was when it was copied, on a device, too") {
  const TemporaryFolder at_once, here, there;
  const std::string expected = Trainee<with_large_table>(3).save(at_once.path());
  CHECK((Trainee<with_large_table>(3).save_behind(here.path()) == expected));
  CHECK((Trainee<Recorded>(3).save_behind(there.path()) == expected));
}

TEST_CASE("an observer reads a tensor in pieces, unless it asks for all of it") {
  Trainee<with_large_table> here(3);
  Trainee<Recorded> there(3);
  train::HostPieces pieces_here(here.step), pieces_there(there.step);
  const auto first = [](auto& step, train::HostPieces& pieces) {
    return train::ObservedTensor(std::move(step.parameters().at(0)), pieces);
  };
  const train::ObservedTensor expected = first(here.step, pieces_here), observed = first(there.step, pieces_there);
  Recorder::the().largest_copy();
  CHECK(observed.norm() == expected.norm());
  const std::int64_t n = expected.size(), in_piece = plan::host_staging_bytes / 4;
  REQUIRE(n > in_piece);
  for (const std::int64_t i : {std::int64_t{0}, in_piece - 1, in_piece, n - 1, std::int64_t{1}})
    CHECK(observed[i] == expected[i]);
  CHECK(Recorder::the().largest_copy() == plan::host_staging_bytes);
  CHECK(std::ranges::equal(observed.as<float>(), expected.as<float>()));
  CHECK(Recorder::the().largest_copy() == 4 * n);
}

TEST_CASE("the plan counts what the host keeps of a device's own memory") {
  constexpr plan::Memory here = plan::memory<with_large_table>(1, 1), there = plan::memory<Recorded>(1, 1);
  STATIC_REQUIRE(here.host_staging == 0);
  STATIC_REQUIRE(there.total() == here.total() + plan::host_staging_bytes);
}

}  // namespace monomorph::testing
