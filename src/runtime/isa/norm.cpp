#include <cmath>
#include <monomorph/runtime/kernels/norm.hpp>
#include "runtime/isa/reduce.hpp"
#include "runtime/isa/rows.hpp"
#include "runtime/memory/thread_workspace.hpp"

// Legend: a group is the H features that are normalised together; a row has G groups, group g is group g % G of row g /
// G.
namespace monomorph::cpu::MONOMORPH_ISA {
namespace {

enum class Kind { layer, rms };

/// The groups of one view.
struct Groups {
  const View& view;
  std::int64_t features, per_row;
  Groups(const View& of, std::int64_t group_features)
      : view(of), features(group_features), per_row(of.shape.cols / group_features) {}
  std::int64_t count() const { return view.shape.rows * per_row; }
  std::int64_t offset(std::int64_t group) const { return group / per_row * view.stride + group % per_row * features; }
};

/// Calls run(column, n) for the chunks of a group.
template <class F> [[gnu::always_inline]] inline void for_each_chunk(std::int64_t features, F run) {
  for (std::int64_t column = 0; column < features; column += chunk) run(column, least(chunk, features - column));
}

template <class S> struct Statistics { S mean, rstd; };

template <Kind kind, class S>
Statistics<S> statistics(const View& x, std::int64_t offset, std::int64_t features, double epsilon) {
  Buffer<S> buffer;
  S mean = 0;
  if constexpr (kind == Kind::layer) {
    S total = 0;
    for_each_chunk(features, [&](std::int64_t column, std::int64_t n) {
      const S* in = read(x, offset + column, n, buffer.elements);
      total += sum<S>(n, [in](auto at) { return at(in); });
    });
    mean = total / static_cast<S>(features);
  }
  S squares = 0;
  for_each_chunk(features, [&](std::int64_t column, std::int64_t n) {
    const S* in = read(x, offset + column, n, buffer.elements);
    squares += sum<S>(n, [in, mean](auto at) {
      const auto centred = at(in) - mean;
      return centred * centred;
    });
  });
  return {mean, S(1) / std::sqrt(squares / static_cast<S>(features) + static_cast<S>(epsilon))};
}

/// The weights of a norm as they are stored, and what is added to each.
struct Weights {
  const View& stored;
  double offset;
  std::int64_t features() const { return stored.shape.cols; }
};

// Not inlined: the forward pass and the repetition must give the same bits, so they run the same instructions.
template <class S>
[[gnu::noinline]] void normalise(const View& x, std::int64_t from, const Weights& weight, const View& bias,
                                 Statistics<S> of, const View& y, std::int64_t to) {
  Buffer<S> x_buffer, weight_buffer, bias_buffer, y_buffer;
  const auto offset = static_cast<S>(weight.offset);
  for_each_chunk(weight.features(), [&](std::int64_t column, std::int64_t n) {
    const S* in = read(x, from + column, n, x_buffer.elements);
    const S* scale = read(weight.stored, column, n, weight_buffer.elements);
    S* out = place(y, to + column, y_buffer.elements);
    if (bias.present()) {
      const S* shift = read(bias, column, n, bias_buffer.elements);
      MONOMORPH_ELEMENTWISE
      for (std::int64_t i = 0; i < n; ++i) out[i] = (in[i] - of.mean) * of.rstd * (scale[i] + offset) + shift[i];
    } else {
      MONOMORPH_ELEMENTWISE
      for (std::int64_t i = 0; i < n; ++i) out[i] = (in[i] - of.mean) * of.rstd * (scale[i] + offset);
    }
    write(out, y, to + column, n);
  });
}

template <class F> void for_each_group(const Groups& x, F f) {
  const std::int64_t per_task = ceil_div(task_elements, x.features), count = x.count();
  parallel_for(ceil_div(count, per_task), [&](std::int64_t task) {
    const std::int64_t end = least(count, (task + 1) * per_task);
    for (std::int64_t group = task * per_task; group < end; ++group) f(group);
  });
}

template <Kind kind>
void forward(const View& x, const Weights& weight, const View& bias, double epsilon, const View& y, const View& mean,
             const View& rstd) {
  in_compute_type(rstd.dtype, [&]<class S>() {
    const Groups from(x, weight.features()), to(y, weight.features());
    for_each_group(from, [&](std::int64_t group) {
      const auto of = statistics<kind, S>(x, from.offset(group), from.features, epsilon);
      if constexpr (kind == Kind::layer) mean.as<S>()[group] = of.mean;
      rstd.as<S>()[group] = of.rstd;
      normalise<S>(x, from.offset(group), weight, bias, of, y, to.offset(group));
    });
  });
}

template <Kind kind, class S> Statistics<S> saved(const View& mean, const View& rstd, std::int64_t group) {
  if constexpr (kind == Kind::layer) return {mean.as<S>()[group], rstd.as<S>()[group]};
  return {S(0), rstd.as<S>()[group]};
}

template <Kind kind>
void again(const View& x, const Weights& weight, const View& bias, const View& mean, const View& rstd, const View& y) {
  in_compute_type(rstd.dtype, [&]<class S>() {
    const Groups from(x, weight.features()), to(y, weight.features());
    for_each_group(from, [&](std::int64_t group) {
      normalise<S>(x, from.offset(group), weight, bias, saved<kind, S>(mean, rstd, group), y, to.offset(group));
    });
  });
}

struct Gradients {
  const View &dy, &x;
  Weights weight;
  const View &mean, &rstd, &dx;
  bool add_to_dx;
};

/// One group: writes dx, adds to the partial sums of dweight and dbias (null: no bias). With n = (x - mean) · rstd and
/// d = dy · (weight + its offset), dx = rstd · (d - mean(d) - n · mean(d · n)), without mean(d) for the
/// root-mean-square kind.
template <Kind kind, class S>
void backward_group(const Gradients& g, Statistics<S> of, std::int64_t dy_at, std::int64_t x_at, std::int64_t dx_at,
                    S* dweight, S* dbias) {
  Buffer<S> dy_buffer, x_buffer, weight_buffer, dx_buffer;
  const std::int64_t features = g.weight.features();
  const auto offset = static_cast<S>(g.weight.offset);
  S sum_d = 0, sum_dn = 0;
  for_each_chunk(features, [&](std::int64_t column, std::int64_t n) {
    const S* dy = read(g.dy, dy_at + column, n, dy_buffer.elements);
    const S* x = read(g.x, x_at + column, n, x_buffer.elements);
    const S* weight = read(g.weight.stored, column, n, weight_buffer.elements);
    if constexpr (kind == Kind::layer) {
      sum_d += sum<S>(n, [=](auto at) { return at(dy) * (at(weight) + offset); });
    }
    sum_dn += sum<S>(n, [=](auto at) { return at(dy) * (at(weight) + offset) * ((at(x) - of.mean) * of.rstd); });
    if (dweight != nullptr) {
      S* weight_sum = dweight + column;
      MONOMORPH_ELEMENTWISE
      for (std::int64_t i = 0; i < n; ++i) weight_sum[i] += dy[i] * ((x[i] - of.mean) * of.rstd);
    }
    if (dbias != nullptr) {
      S* bias_sum = dbias + column;
      MONOMORPH_ELEMENTWISE
      for (std::int64_t i = 0; i < n; ++i) bias_sum[i] += dy[i];
    }
  });
  const S mean_d = sum_d / static_cast<S>(features), mean_dn = sum_dn / static_cast<S>(features);
  for_each_chunk(features, [&](std::int64_t column, std::int64_t n) {
    const S* dy = read(g.dy, dy_at + column, n, dy_buffer.elements);
    const S* x = read(g.x, x_at + column, n, x_buffer.elements);
    const S* weight = read(g.weight.stored, column, n, weight_buffer.elements);
    const auto gradient = [&](std::int64_t i) {
      return of.rstd * (dy[i] * (weight[i] + offset) - mean_d - (x[i] - of.mean) * of.rstd * mean_dn);
    };
    S* dx = place(g.dx, dx_at + column, dx_buffer.elements);
    if (g.add_to_dx) {
      const S* before = read(g.dx, dx_at + column, n, dx_buffer.elements);
      MONOMORPH_ELEMENTWISE
      for (std::int64_t i = 0; i < n; ++i) dx[i] = before[i] + gradient(i);
    } else {
      MONOMORPH_ELEMENTWISE
      for (std::int64_t i = 0; i < n; ++i) dx[i] = gradient(i);
    }
    write(dx, g.dx, dx_at + column, n);
  });
}

/// to = (or +=) the sum of `blocks` partial sums, `stride` elements apart, in their order.
template <class S>
void combine(const S* partial, std::int64_t blocks, std::int64_t stride, const View& to, bool accumulate) {
  Buffer<S> total, before_buffer;
  for_each_chunk(to.shape.cols, [&](std::int64_t column, std::int64_t n) {
    for (std::int64_t i = 0; i < n; ++i) total.elements[i] = 0;
    for (std::int64_t block = 0; block < blocks; ++block) {
      const S* part = partial + block * stride + column;
      MONOMORPH_ELEMENTWISE
      for (std::int64_t i = 0; i < n; ++i) total.elements[i] += part[i];
    }
    S* out = place(to, column, before_buffer.elements);
    if (accumulate) {
      const S* before = read(to, column, n, before_buffer.elements);
      MONOMORPH_ELEMENTWISE
      for (std::int64_t i = 0; i < n; ++i) out[i] = before[i] + total.elements[i];
    } else {
      MONOMORPH_ELEMENTWISE
      for (std::int64_t i = 0; i < n; ++i) out[i] = total.elements[i];
    }
    write(out, to, column, n);
  });
}

/// Blocks of groups whose partial sums fit the workspace: at most 64, and no fewer than 16 groups in each.
template <class S> std::int64_t block_count(std::int64_t groups, std::int64_t features) {
  const auto fit = static_cast<std::int64_t>(detail::partial_workspace_bytes / sizeof(S)) / (2 * features);
  const std::int64_t blocks = least(least(fit, 64), ceil_div(groups, 16));
  return blocks > 1 ? blocks : 1;
}

template <Kind kind> void backward(const Gradients& g, const View& dweight, const View& dbias, bool accumulate) {
  in_compute_type(g.rstd.dtype, [&]<class S>() {
    const std::int64_t features = g.weight.features();
    const Groups dy(g.dy, features), x(g.x, features), dx(g.dx, features);
    const std::int64_t count = x.count(), blocks = block_count<S>(count, features);
    S* partial = reinterpret_cast<S*>(detail::partial_workspace());
    parallel_for(blocks, [&](std::int64_t block) {
      S* sums = partial + block * 2 * features;
      S* weight_sum = dweight.present() ? sums : nullptr;
      S* bias_sum = dbias.present() ? sums + features : nullptr;
      for (std::int64_t i = 0; i < 2 * features; ++i) sums[i] = 0;
      const std::int64_t end = count * (block + 1) / blocks;
      for (std::int64_t group = count * block / blocks; group < end; ++group) {
        backward_group<kind, S>(g, saved<kind, S>(g.mean, g.rstd, group), dy.offset(group), x.offset(group),
                                dx.offset(group), weight_sum, bias_sum);
      }
    });
    if (dweight.present()) combine(partial, blocks, 2 * features, dweight, accumulate);
    if (dbias.present()) combine(partial + features, blocks, 2 * features, dbias, accumulate);
  });
}
}  // namespace

void layer_norm(View x, View weight, View bias, double epsilon, View y, View mean, View rstd) {
  forward<Kind::layer>(x, {weight, no_weight_offset}, bias, epsilon, y, mean, rstd);
}
void rms_norm(View x, View weight, View bias, double epsilon, View y, View rstd, double weight_offset) {
  forward<Kind::rms>(x, {weight, weight_offset}, bias, epsilon, y, View{}, rstd);
}
void layer_norm_recompute(View x, View weight, View bias, View mean, View rstd, View y) {
  again<Kind::layer>(x, {weight, no_weight_offset}, bias, mean, rstd, y);
}
void rms_norm_recompute(View x, View weight, View bias, View rstd, View y, double weight_offset) {
  again<Kind::rms>(x, {weight, weight_offset}, bias, View{}, rstd, y);
}
void layer_norm_backward(View dy, View x, View weight, View mean, View rstd, View dx, bool add_to_dx, View dweight,
                         View dbias, bool accumulate) {
  backward<Kind::layer>({dy, x, {weight, no_weight_offset}, mean, rstd, dx, add_to_dx}, dweight, dbias, accumulate);
}
void rms_norm_backward(View dy, View x, View weight, View rstd, View dx, bool add_to_dx, View dweight, View dbias,
                       bool accumulate, double weight_offset) {
  backward<Kind::rms>({dy, x, {weight, weight_offset}, View{}, rstd, dx, add_to_dx}, dweight, dbias, accumulate);
}

}  // namespace monomorph::cpu::MONOMORPH_ISA
