# One recipe on two devices: the CPU, and the device of the tests, which this project makes known.
add_library(recording_device INTERFACE)
target_include_directories(recording_device INTERFACE ${PROJECT_SOURCE_DIR}/tests)
monomorph_add_device(recording TYPE monomorph::recorder::Device HEADER ../support/recording_device.hpp
  LIBRARIES recording_device)
monomorph_add_recipe(tiny_gpt2_anywhere devices/tiny_gpt2_anywhere.hpp DEVICES cpu recording)
foreach(program IN ITEMS tiny_gpt2_anywhere tiny_gpt2_anywhere_recording)
  target_compile_options(recipe_${program} PRIVATE ${monomorph_frame_options})
endforeach()
