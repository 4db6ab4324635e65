#pragma once
#include <monomorph/runtime/comm/communicator.hpp>

namespace monomorph {

/// The communicator of a single rank, which holds everything itself, so that no collective has anything to do.
class OneRank final : public Communicator {
 public:
  int rank() const override { return 0; }
  int size() const override { return 1; }
  int shards() const override { return 1; }
  plan::Traffic traffic() const override { return {}; }

 private:
  void start_all_gather(std::span<const UnitGather>) override {}
  void start_reduce_scatter(int, View, View, Reduction) override {}
  void start_all_to_all(int, std::span<const View>, std::span<const View>) override {}
  void note_release(int) override {}
  void finish(int) override {}
  void all_reduce_words(std::span<std::int64_t>) override {}
  void start_all_reduce_max(View) override {}
  void gather_parts(View) override {}
};

}  // namespace monomorph
