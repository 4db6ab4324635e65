#include "runtime/cuda/optimizer/updates.hpp"
#include "runtime/cuda/products/orthogonalize.hpp"

#include <monomorph/runtime/cuda/kernels.hpp>
#include <monomorph/runtime/cuda/update_queue.hpp>

#include <algorithm>
#include <array>
#include <functional>
#include <span>
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

/// Scratch memory alone can be shared by matrices that take turns.
bool share_elements(const Orthogonalization& a, const Orthogonalization& b) {
  return overlap(a.matrix, b.matrix) || overlap(a.matrix, b.workspace) || overlap(a.workspace, b.matrix);
}
bool share_elements(const Orthogonalization& of, std::span<const Orthogonalization> others) {
  return std::ranges::any_of(others, [&](const Orthogonalization& other) { return share_elements(of, other); });
}

/// Whether one kernel computes both.
bool are_alike(const Update& a, const Update& b) {
  return a.coefficients.index() == b.coefficients.index() && a.run.gradient.dtype == b.run.gradient.dtype &&
         a.run.master.dtype == b.run.master.dtype && a.run.state[0].dtype == b.run.state[0].dtype;
}

}  // namespace

/// Of one kind at a time: whoever adds one starts those of the other kind before.
struct WaitingUpdates {
  Queue queue;
  std::vector<Update> updates{};
  std::vector<Orthogonalization> matrices{};

  void add(const Update& update) {
    start_matrices();
    updates.push_back(update);
  }
  void add(const Orthogonalization& of) {
    start_updates();
    matrices.push_back(of);
  }
  void start_all() {
    start_updates();
    start_matrices();
  }

 private:
  void start_updates() {
    while (!updates.empty()) start_some_updates();
  }
  void start_matrices() {
    while (!matrices.empty()) start_some_matrices();
  }
  /// The first one, and all later ones that run with it: that wait for none of the others.
  void start_some_updates() {
    std::vector<Update> together, later;
    for (Update& update : updates) {
      const bool joins = together.empty() || (are_alike(update, together.front()) &&
                                              !share_elements(update, together) && !share_elements(update, later));
      (joins ? together : later).push_back(update);
    }
    updates = std::move(later);
    cuda::start_updates(queue, together);
  }
  /// The first one, and all that are multiplied with it.
  void start_some_matrices() {
    AlikeMatrices together(matrices.front());
    std::vector<Orthogonalization> later;
    for (std::size_t i = 1; i < matrices.size(); ++i) {
      const Orthogonalization& of = matrices[i];
      const bool joins = together.takes(of) && !share_elements(of, std::span(matrices).first(i));
      joins ? together.add(of) : later.push_back(of);
    }
    matrices = std::move(later);
    together.start(queue);
  }
};

UpdateQueue::operator Queue() const {
  if (waiting_ != nullptr) waiting_->start_all();
  return queue_;
}

JoinedUpdates::JoinedUpdates(Queue queue) : queue_(queue), waiting_(new WaitingUpdates{queue}) {}
JoinedUpdates::~JoinedUpdates() { delete waiting_; }
void JoinedUpdates::start() { waiting_->start_all(); }

namespace {

void put(UpdateQueue queue, const ElementUpdate& run, const AnyCoefficients& coefficients, const UpdateTerms& terms) {
  if (!run.master.present()) return;
  const Update update{run, coefficients, terms};
  if (queue.waiting() == nullptr)
    start_updates(queue, {&update, 1});
  else
    queue.waiting()->add(update);
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

void orthogonalize(UpdateQueue queue, View matrix, View workspace, double squared_scale, std::int64_t iterations) {
  const Orthogonalization of{matrix, workspace, squared_scale, iterations};
  if (queue.waiting() == nullptr)
    AlikeMatrices(of).start(queue);
  else
    queue.waiting()->add(of);
}

}  // namespace monomorph::cuda
