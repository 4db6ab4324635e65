#pragma once
#include <cstddef>
#include <type_traits>
#include <utility>

namespace monomorph {

/// std::unique_ptr without <memory>, which every recipe would read: streams and locales come with it, and take a sixth
/// of the time in which a recipe is compiled (docs/why/build_time.md). For headers that recipes see; others have
/// std::unique_ptr.
template <class T> class Owned {
 public:
  Owned() = default;
  Owned(std::nullptr_t) {}
  explicit Owned(T* object) : object_(object) {}
  Owned(Owned&& other) noexcept : object_(other.release()) {}
  /// From another owner: of a derived object, or a std::unique_ptr.
  template <class Owner>
  requires requires(Owner&& owner, T* object) { object = std::move(owner).release(); }
  Owned(Owner&& owner) noexcept : object_(owner.release()) {
    static_assert(!std::is_lvalue_reference_v<Owner>, "an object has one owner; move it");
  }
  Owned& operator=(Owned other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Owned() {
    static_assert(sizeof(T) > 0, "the object's type must be complete where its owner ends");
    delete object_;
  }

  T* get() const { return object_; }
  T& operator*() const { return *object_; }
  T* operator->() const { return object_; }
  explicit operator bool() const { return object_ != nullptr; }
  bool operator==(std::nullptr_t) const { return object_ == nullptr; }
  T* release() { return std::exchange(object_, nullptr); }

 private:
  T* object_ = nullptr;
};

template <class T, class... Arguments> Owned<T> make_owned(Arguments&&... arguments) {
  return Owned<T>(new T(std::forward<Arguments>(arguments)...));
}

}  // namespace monomorph
