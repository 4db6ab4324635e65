#pragma once
#include <monomorph/runtime/comm/communicator.hpp>

namespace monomorph::testing {

/// Rank 0 of two whose collectives do nothing: a test overrides the one that it is about.
class IdleCommunicator : public Communicator {
 public:
  int rank() const override { return 0; }
  int size() const override { return 2; }
  int shards() const override { return 2; }
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

/// Another communicator, but for what a test overrides.
class ForwardingCommunicator : public Communicator {
 public:
  explicit ForwardingCommunicator(Communicator& communicator) : communicator_(communicator) {}
  int rank() const override { return communicator_.rank(); }
  int size() const override { return communicator_.size(); }
  int shards() const override { return communicator_.shards(); }
  plan::Traffic traffic() const override { return communicator_.traffic(); }
  void check() override { communicator_.check(); }

 protected:
  Communicator& communicator() { return communicator_; }

 private:
  void start_all_gather(std::span<const UnitGather> units) override { communicator_.all_gather(units); }
  void start_reduce_scatter(int unit, View unsharded, View shard, Reduction reduction) override {
    communicator_.reduce_scatter(unit, unsharded, shard, reduction);
  }
  void start_all_to_all(int unit, std::span<const View> sent, std::span<const View> received) override {
    communicator_.all_to_all(unit, sent, received);
  }
  void note_release(int unit) override { communicator_.release(unit); }
  void finish(int unit) override { communicator_.wait(unit); }
  void all_reduce_words(std::span<std::int64_t> words) override { communicator_.all_reduce_sum(words); }
  void start_all_reduce_max(View words) override { communicator_.all_reduce_max(words); }
  void gather_parts(View all) override { communicator_.gather_batch(all); }

  Communicator& communicator_;
};

}  // namespace monomorph::testing
