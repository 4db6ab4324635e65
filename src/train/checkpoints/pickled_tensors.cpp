#include "pickled_tensors.hpp"

#include <fmt/format.h>

#include <limits>
#include <string_view>

namespace monomorph::train {
namespace {

/// The operations of pickle that are used, each with what follows it in the stream.
class Pickle {
 public:
  Pickle() { text_ = "\x80\x02"; }  // PROTO 2

  void empty_dictionary() { text_ += '}'; }
  void empty_tuple() { text_ += ')'; }
  void mark() { text_ += '('; }
  void tuple() { text_ += 't'; }                  ///< of what lies above the mark
  void set_items() { text_ += 'u'; }              ///< of the dictionary below the mark
  void call() { text_ += 'R'; }                   ///< of the callable below the tuple of its arguments
  void persistent_identifier() { text_ += 'Q'; }  ///< of the tuple on the stack
  void no() { text_ += '\x89'; }
  void global(std::string_view module, std::string_view name) { text_ += fmt::format("c{}\n{}\n", module, name); }
  void text(std::string_view text) {
    text_ += 'X';
    little_endian(text.size(), 4);
    text_ += text;
  }
  /// @param number not negative
  void integer(std::int64_t number) {
    const bool is_short = number <= std::numeric_limits<std::int32_t>::max();
    text_ += is_short ? "J" : std::string{'\x8a', 8};  // LONG1 has the number of its bytes
    little_endian(static_cast<std::uint64_t>(number), is_short ? 4 : 8);
  }
  std::string finish() && { return std::move(text_ += '.'); }

 private:
  void little_endian(std::uint64_t number, int n_bytes) {
    for (int i = 0; i < n_bytes; ++i) text_ += static_cast<char>(number >> 8 * i & 0xFF);
  }
  std::string text_;
};

/// The class of torch whose name says the dtype of a storage.
std::string_view storage_class(runtime::FileDType dtype) {
  switch (dtype) {
    case runtime::FileDType::f64:
      return "DoubleStorage";
    case runtime::FileDType::f32:
      return "FloatStorage";
    case runtime::FileDType::f16:
      return "HalfStorage";
    case runtime::FileDType::bf16:
      return "BFloat16Storage";
    case runtime::FileDType::i64:
      return "LongStorage";
    case runtime::FileDType::i32:
      return "IntStorage";
    case runtime::FileDType::i16:
      return "ShortStorage";
    case runtime::FileDType::i8:
      return "CharStorage";
    case runtime::FileDType::u8:
      return "ByteStorage";
    case runtime::FileDType::boolean:
      return "BoolStorage";
  }
  __builtin_unreachable();
}

std::int64_t product(std::span<const std::int64_t> sizes) {
  std::int64_t product = 1;
  for (const std::int64_t size : sizes) product *= size;
  return product;
}

void add_integers(Pickle& pickle, std::span<const std::int64_t> numbers) {
  pickle.mark();
  for (const std::int64_t number : numbers) pickle.integer(number);
  pickle.tuple();
}

/// Row-major.
std::vector<std::int64_t> strides_of(std::span<const std::int64_t> shape) {
  std::vector<std::int64_t> strides;
  for (std::size_t d = 0; d < shape.size(); ++d) strides.push_back(product(shape.subspan(d + 1)));
  return strides;
}

/// ("storage", class, record, device, elements), which the loader resolves.
void add_storage(Pickle& pickle, const PickledTensor& tensor, std::size_t record) {
  pickle.mark();
  pickle.text("storage");
  pickle.global("torch", storage_class(tensor.dtype));
  pickle.text(fmt::format("{}", record));
  pickle.text("cpu");
  pickle.integer(product(tensor.shape));
  pickle.tuple();
  pickle.persistent_identifier();
}

/// _rebuild_tensor_v2(storage, offset, shape, strides, requires_grad, hooks)
void add_tensor(Pickle& pickle, const PickledTensor& tensor, std::size_t record) {
  pickle.global("torch._utils", "_rebuild_tensor_v2");
  pickle.mark();
  add_storage(pickle, tensor, record);
  pickle.integer(0);
  add_integers(pickle, tensor.shape);
  add_integers(pickle, strides_of(tensor.shape));
  pickle.no();
  pickle.global("collections", "OrderedDict");
  pickle.empty_tuple();
  pickle.call();
  pickle.tuple();
  pickle.call();
}

}  // namespace

std::string pickled(std::span<const PickledTensor> tensors) {
  Pickle pickle;
  pickle.empty_dictionary();
  pickle.mark();
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    pickle.text(tensors[i].name);
    add_tensor(pickle, tensors[i], i);
  }
  pickle.set_items();
  return std::move(pickle).finish();
}

}  // namespace monomorph::train
