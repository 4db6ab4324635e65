# What is exported, loaded by Hugging Face's transformers, peft and sentence-transformers, where
# tools/setup/install --peers has installed them or they lie where python3 looks.
add_test(NAME end_to_end.transformers.load_exports COMMAND python3 ${CMAKE_CURRENT_LIST_DIR}/load_exports.py
  $<TARGET_FILE:tiny_gpt2> $<TARGET_FILE:monomorph-data> $<TARGET_FILE:mean_of_bert> $<TARGET_FILE:numerics_weights> $<TARGET_FILE:numerics_weights_options> $<TARGET_FILE:numerics_adapters> $<TARGET_FILE:numerics_gemma>
  $<TARGET_FILE:numerics_masked_language>)
set_tests_properties(end_to_end.transformers.load_exports PROPERTIES LABELS end_to_end SKIP_RETURN_CODE 77)
