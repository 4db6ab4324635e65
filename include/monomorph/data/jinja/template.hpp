#pragma once
#include <monomorph/data/jinja/value.hpp>

#include <cstddef>
#include <ctime>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace monomorph::data::jinja {

struct Program;

/// What a template may use up while it renders once. All of it is ample for any published template.
struct RenderLimits {
  std::int64_t steps = 20'000'000;             ///< expressions, statements, and 64 bytes of text that are looked at
  std::int64_t bytes = std::int64_t{1} << 28;  ///< of all texts and lists that it makes
  int depth = 400;                             ///< expressions, statements and calls within each other
};

/// A text that a template has made.
struct Rendered {
  std::string text;
  /// Begin and end, in bytes of the text, of what `{% generation %}` blocks made: what the assistant says.
  std::vector<std::pair<std::size_t, std::size_t>> generated;
  /// Whether all of these are of the template itself: where such a block stands in a macro, or in a block whose text
  /// goes elsewhere first, its place in the text is not known.
  bool generated_in_place = true;
  std::int64_t steps = 0;  ///< that it took, of RenderLimits
};

/// A template in Jinja, as Hugging Face's `transformers` reads chat templates: `trim_blocks` and `lstrip_blocks` are
/// on, values can't be changed but for namespaces, and `raise_exception`, `strftime_now`, `tojson` and `{% generation
/// %}` are there. What loads other templates is refused. One may be rendered by many threads at once.
class Template {
 public:
  /// @param name of the file, for messages   @throws UsageError [JINJA-01] it can't be read
  Template(std::string source, std::string name);
  ~Template();
  Template(Template&&) noexcept;
  Template& operator=(Template&&) noexcept;

  const std::string& source() const { return source_; }
  const std::string& name() const { return name_; }
  /// Whether it says which part of its text the assistant makes.
  bool marks_generation() const;

  /// @param variables by name; what a template reads beyond them is undefined   @param now for `strftime_now`
  /// @throws Error [JINJA-02] it can't be rendered; [JINJA-03] it takes more than the limits; [JINJA-04] it refuses
  /// what it was given, by `raise_exception`
  Rendered render(const std::vector<std::pair<std::string, Value>>& variables, const RenderLimits& limits = {},
                  std::time_t now = std::time(nullptr)) const;

 private:
  std::string source_, name_;
  std::unique_ptr<const Program> program_;
};

}  // namespace monomorph::data::jinja
