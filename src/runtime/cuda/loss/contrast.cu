#include "runtime/cuda/loss/contrast.hpp"

#include "runtime/cuda/launch/launch.hpp"
#include "runtime/cuda/sums/block_reduction.hpp"
#include "runtime/kernels/dtypes.hpp"

#include <cmath>
#include <limits>

// Which pairs have both texts is known on the GPU alone, so cross-entropies here take no targets of the host's: a block
// has a pair, and looks for its partner among those of all pairs that are there.
namespace monomorph::cuda {
namespace {

constexpr int compare_threads = 256;

/// Where it says which texts there are.
template <class S> struct Marks {
  const S* first;
  std::int64_t stride, texts;
  __device__ bool has_all(std::int64_t sample) const {
    bool all = true;
    for (std::int64_t text = 0; text < texts; ++text) all = all && first[(sample * texts + text) * stride] != 0;
    return all;
  }
};

enum Found : std::int32_t { absent, present, nearest };

/// Pairs that look for their partners, a row each.
template <class S> struct Looking {
  S* products;  ///< become the gradients of the products, if these are wanted
  std::int64_t samples, first;
  Marks<S> marks;
  S per_temperature;
  bool trains;
  double gradient_scale;     ///< without that of the step
  const double* step_scale;  ///< null: 1
  S* losses;
  std::int32_t* found;
};

template <class S> __global__ void __launch_bounds__(compare_threads) look(Looking<S> looking) {
  S* const row = looking.products + blockIdx.x * looking.samples;
  const std::int64_t own = looking.first + blockIdx.x;
  const auto each = [&](auto f) {
    for (std::int64_t j = threadIdx.x; j < looking.samples; j += compare_threads) f(j);
  };
  if (!looking.marks.has_all(own)) {
    if (threadIdx.x == 0) looking.losses[blockIdx.x] = 0, looking.found[blockIdx.x] = absent;
    if (looking.trains) each([&](std::int64_t j) { row[j] = 0; });
    return;
  }
  const S similarity = row[own] * looking.per_temperature;  // before the gradient comes in its place
  S most = -std::numeric_limits<S>::infinity();
  int as_near = 0;
  each([&](std::int64_t j) {
    if (!looking.marks.has_all(j)) return;
    const S x = row[j] * looking.per_temperature;
    most = Greater()(most, x);
    as_near += j == own || x < similarity ? 0 : 1;
  });
  most = joined_in_block<struct OfMaxima>(most, Greater());
  as_near = joined_in_block<struct OfNear>(as_near, Sum());
  double total = 0;
  each([&](std::int64_t j) {
    if (looking.marks.has_all(j)) total += static_cast<double>(std::exp(row[j] * looking.per_temperature - most));
  });
  total = joined_in_block<struct OfTotals>(total, Sum());
  if (threadIdx.x == 0) {
    looking.losses[blockIdx.x] = std::log1p(static_cast<S>(total - 1)) + (most - similarity);
    looking.found[blockIdx.x] = as_near == 0 ? nearest : present;
  }
  if (!looking.trains) return;
  const double scale = looking.gradient_scale * (looking.step_scale == nullptr ? 1 : *looking.step_scale);
  const S of_exponentials = static_cast<S>(scale / total), of_own = static_cast<S>(scale);
  each([&](std::int64_t j) {
    const bool is_there = looking.marks.has_all(j);
    const S gradient = is_there ? std::exp(row[j] * looking.per_temperature - most) * of_exponentials : S(0);
    row[j] = j == own ? gradient - of_own : gradient;
  });
}

/// One block adds up what pairs have found, in one order.
template <class S>
__global__ void __launch_bounds__(compare_threads)
    add_up(const S* losses, const std::int32_t* found, std::int64_t n, double weight, bool counts, LossSum* sum) {
  double loss = 0;
  int pairs = 0, hits = 0;
  for (std::int64_t i = threadIdx.x; i < n; i += compare_threads) {
    loss += static_cast<double>(losses[i]);
    pairs += found[i] != absent ? 1 : 0;
    hits += found[i] == nearest ? 1 : 0;
  }
  loss = joined_in_block<struct OfLosses>(loss, Sum());
  pairs = joined_in_block<struct OfPairs>(pairs, Sum());
  hits = joined_in_block<struct OfHits>(hits, Sum());
  if (threadIdx.x != 0) return;
  sum->loss += weight * loss;
  if (!counts) return;
  sum->tokens += pairs;
  sum->metrics[0] += hits;
}

}  // namespace

void find_partners(Queue queue, const PartnerSearch& search) {
  const TextEmbeddings& of = *search.embeddings;
  const View marks = of.all.columns(of.width(), 1), &products = search.products_CN;
  in_compute_type(products.dtype, [&]<class S>() {
    launch(look<S>, {static_cast<unsigned>(products.shape.rows), compare_threads}, queue,
           Looking<S>{.products = products.as<S>(),
                      .samples = of.samples(),
                      .first = search.first,
                      .marks = {marks.as<const S>(), marks.stride, of.texts},
                      .per_temperature = static_cast<S>(1 / search.temperature),
                      .trains = of.gradient_RE.present(),
                      .gradient_scale = search.weight / search.temperature,
                      .step_scale = of.scale == &unscaled ? nullptr : of.scale,
                      .losses = search.losses_C.as<S>(),
                      .found = search.found_C});
  });
}

void add_found(Queue queue, const PartnerSearch& search, bool counts) {
  if (search.embeddings->sum == nullptr) return;
  in_compute_type(search.products_CN.dtype, [&]<class S>() {
    launch(add_up<S>, {1, compare_threads}, queue, search.losses_C.as<const S>(), search.found_C,
           search.products_CN.shape.rows, search.weight, counts, search.embeddings->sum);
  });
}

}  // namespace monomorph::cuda
