#include "runtime/cuda/optimizer/updates.hpp"

#include <monomorph/runtime/cuda/kernels.hpp>
#include <monomorph/runtime/cuda/update_queue.hpp>

#include <algorithm>
#include <array>
#include <functional>
#include <utility>
#include <vector>

namespace monomorph::cuda {
namespace {

constexpr std::size_t n_views = 3 + StateBuffers::capacity;
std::array<const View*, n_views> views_of(const ElementUpdate& run) {
  return {&run.gradient, &run.master, &run.rounded, &run.state[0], &run.state[1], &run.state[2], &run.state[3]};
}
static_assert(n_views == 7);

bool overlap(const View& a, const View& b) {
  if (!a.present() || !b.present()) return false;
  const auto begins_within = [](const View& inner, const View& outer) {
    const std::less<const void*> before;
    return !before(inner.data, outer.data) && before(inner.data, outer.data + outer.bytes());
  };
  return begins_within(a, b) || begins_within(b, a);
}
bool share_elements(const Update& a, const Update& b) {
  return std::ranges::any_of(views_of(a.run), [&](const View* of_a) {
    return std::ranges::any_of(views_of(b.run), [&](const View* of_b) { return overlap(*of_a, *of_b); });
  });
}
bool share_elements(const Update& update, const std::vector<Update>& others) {
  return std::ranges::any_of(others, [&](const Update& other) { return share_elements(update, other); });
}

/// Whether one kernel computes both.
bool are_alike(const Update& a, const Update& b) {
  return a.coefficients.index() == b.coefficients.index() && a.run.gradient.dtype == b.run.gradient.dtype &&
         a.run.master.dtype == b.run.master.dtype && a.run.state[0].dtype == b.run.state[0].dtype;
}

}  // namespace

struct WaitingUpdates {
  std::vector<Update> updates;

  /// The first one, and all later ones that run with it: that wait for none of the others.
  void start_some(Queue queue) {
    std::vector<Update> together, later;
    for (Update& update : updates) {
      const bool joins = together.empty() || (are_alike(update, together.front()) &&
                                              !share_elements(update, together) && !share_elements(update, later));
      (joins ? together : later).push_back(update);
    }
    updates = std::move(later);
    start_updates(queue, together);
  }
  void start_all(Queue queue) {
    while (!updates.empty()) start_some(queue);
  }
};

UpdateQueue::operator Queue() const {
  if (waiting_ != nullptr) waiting_->start_all(queue_);
  return queue_;
}

JoinedUpdates::JoinedUpdates(Queue queue) : queue_(queue), waiting_(new WaitingUpdates) {}
JoinedUpdates::~JoinedUpdates() { delete waiting_; }
void JoinedUpdates::start() { waiting_->start_all(queue_); }

namespace {

void put(UpdateQueue queue, const ElementUpdate& run, const AnyCoefficients& coefficients, const UpdateTerms& terms) {
  if (!run.master.present()) return;
  const Update update{run, coefficients, terms};
  if (queue.waiting() == nullptr)
    start_updates(queue, {&update, 1});
  else
    queue.waiting()->updates.push_back(update);
}

}  // namespace

void adamw(UpdateQueue queue, const ElementUpdate& run, const AdamWCoefficients& coefficients,
           const UpdateTerms& terms) {
  put(queue, run, coefficients, terms);
}
void sgd(UpdateQueue queue, const ElementUpdate& run, const SgdCoefficients& coefficients, const UpdateTerms& terms) {
  put(queue, run, coefficients, terms);
}
void lion(UpdateQueue queue, const ElementUpdate& run, const LionCoefficients& coefficients, const UpdateTerms& terms) {
  put(queue, run, coefficients, terms);
}
void momentum_mean(UpdateQueue queue, const ElementUpdate& run, const MomentumCoefficients& coefficients,
                   const UpdateTerms& terms) {
  put(queue, run, coefficients, terms);
}
void step_along(UpdateQueue queue, const ElementUpdate& run, const DirectionCoefficients& coefficients,
                const UpdateTerms& terms) {
  put(queue, run, coefficients, terms);
}
void move_average(UpdateQueue queue, const ElementUpdate& run, const AverageCoefficients& coefficients,
                  const UpdateTerms& terms) {
  put(queue, run, coefficients, terms);
}

}  // namespace monomorph::cuda
