#include "emulator/moved_numbers.hpp"

#include "runtime/cuda/layers/draw_elements.hpp"

namespace monomorph::cuda {
namespace {

template <class Numbers> struct Moved : Numbers {
  __device__ auto operator()(std::uint64_t counter) const {
    auto pack = Numbers::operator()(counter);
    for (int i = 0; i < Numbers::width; ++i)
      pack.at[i] += ((counter ^ static_cast<unsigned>(i)) % 2 == 0 ? 0.99 : -0.99) * this->error;
    return pack;
  }
};

}  // namespace
}  // namespace monomorph::cuda

namespace monomorph::emulator {

void draw_moved(cuda::Queue queue, View x, const cuda::NormalRun& run, double margin,
                const cuda::UndecidedList& undecided) {
  cuda::in_drawn_type(x.dtype, [&]<class T>() {
    cuda::with_normal_numbers(run, margin, [&]<class Numbers>(const Numbers& numbers) {
      cuda::start_drawing<T>(queue, cuda::Moved<Numbers>{numbers}, run.first, x, undecided);
    });
  });
}

}  // namespace monomorph::emulator
