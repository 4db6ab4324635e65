# Included from the root. Compiles src/runtime/isa/*.cpp once per instruction set into monomorph_runtime.
