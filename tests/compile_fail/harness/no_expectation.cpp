// Broken on purpose, to test the harness: rejected as it should be, but no line says with which error.
static_assert(NEGATIVE == 0, "[X-01] unexpected");
