// What the harness must pass: each error expected, text in between, one line that concerns a single compiler.
// expect-error: \[X-01\] semicolons; and \[brackets\] are plain text
// expect-error: \[X-02\] tp is 5
// expect-text: static.assert
// expect-text(gcc): static assertion failed: \[X-01\]
// expect-text(clang): static_assert failed due to requirement|static assertion failed due to requirement
static_assert(NEGATIVE == 0, "[X-01] semicolons; and [brackets] are plain text");
static_assert(NEGATIVE == 0, "[X-02] tp is 5");
