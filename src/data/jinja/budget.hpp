#pragma once
#include "data/jinja/failure.hpp"

#include <monomorph/data/jinja/template.hpp>

namespace monomorph::data::jinja {

/// What is left of a render's limits. Whatever can grow asks before it does.
class Budget {
 public:
  explicit Budget(const RenderLimits& limits) : limits_(limits) {}

  void step() {
    if (++steps_ > limits_.steps) refuse("steps", limits_.steps);
  }
  /// Bytes of text, or as many items, are looked at.
  void look(std::size_t bytes) {
    steps_ += static_cast<std::int64_t>(bytes / 64);
    step();
  }
  /// A name is looked for among as many. Few cost nothing beside the step that looks.
  void search(std::size_t names) { steps_ += static_cast<std::int64_t>(names / 16); }
  /// Text or lists of so many bytes are made.
  void make(std::size_t bytes) {
    if (bytes > static_cast<std::size_t>(limits_.bytes) || (bytes_ += static_cast<std::int64_t>(bytes)) > limits_.bytes)
      refuse("bytes of texts and lists", limits_.bytes);
    look(bytes);
  }
  /// Takes into account a text that is made of `count` parts, each of `bytes`.
  void make(std::size_t bytes, std::size_t count) {
    if (bytes != 0 && count > static_cast<std::size_t>(limits_.bytes) / bytes)
      refuse("bytes of texts and lists", limits_.bytes);
    make(bytes * count);
  }
  void enter() {
    if (++depth_ > limits_.depth) refuse("levels within each other", limits_.depth);
    step();
  }
  void leave() { --depth_; }
  std::int64_t steps() const { return steps_; }

 private:
  [[noreturn]] static void refuse(std::string_view what, std::int64_t most) {
    throw Failure{"JINJA-03", fmt::format("the template takes more than {} {}; does it ever end?", most, what)};
  }

  RenderLimits limits_;
  std::int64_t steps_ = 0, bytes_ = 0;
  int depth_ = 0;
};

/// A level within others, as long as it lives.
class Level {
 public:
  explicit Level(Budget& budget) : budget_(budget) { budget_.enter(); }
  ~Level() { budget_.leave(); }
  Level(const Level&) = delete;
  Level& operator=(const Level&) = delete;

 private:
  Budget& budget_;
};

}  // namespace monomorph::data::jinja
