// A field without a default that is left out: no default stands in for it (clang names the field).
// expect-error(gcc): could not convert .* to 'monomorph::Required<long int>'
// expect-error(clang): no matching constructor for initialization of 'Required<std::int64_t>'
// expect-text(clang): field 'context_length' with omitted initializer
#include <monomorph/spec/model_spec.hpp>
constexpr monomorph::ModelSpec model {
  .vocab_size = 300, .n_layers = 6, .n_heads = 4, .d_model = 64,
#if !NEGATIVE
  .context_length = 32,
#endif
};
