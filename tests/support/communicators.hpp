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
  void start_gather(int, View, View) override {}
  void start_reduce(int, View, View, Reduction) override {}
  void note_release(int) override {}
  void finish(int) override {}
  void sum_words(std::span<std::int64_t>) override {}
};

/// Another communicator, but for what a test overrides.
class ForwardingCommunicator : public Communicator {
 public:
  explicit ForwardingCommunicator(Communicator& communicator) : communicator_(communicator) {}
  int rank() const override { return communicator_.rank(); }
  int size() const override { return communicator_.size(); }
  int shards() const override { return communicator_.shards(); }
  plan::Traffic traffic() const override { return communicator_.traffic(); }

 protected:
  Communicator& communicator() { return communicator_; }

 private:
  void start_gather(int unit, View own, View whole) override { communicator_.gather(unit, own, whole); }
  void start_reduce(int unit, View whole, View own, Reduction reduction) override {
    communicator_.reduce(unit, whole, own, reduction);
  }
  void note_release(int unit) override { communicator_.release(unit); }
  void finish(int unit) override { communicator_.wait(unit); }
  void sum_words(std::span<std::int64_t> words) override { communicator_.sum(words); }

  Communicator& communicator_;
};

}  // namespace monomorph::testing
