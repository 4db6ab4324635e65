# Run as a test: cmake -DNM=nm -DISA=avx2 -DOBJECTS=a.o;b.o -P check_isa_objects.cmake
# Fails if an object compiled for an instruction set defines a weak symbol outside that set's namespace: an inline function
# of which the linker may keep this copy for code that runs on processors without those instructions.
foreach(object IN LISTS OBJECTS)
  execute_process(COMMAND ${NM} -C ${object} OUTPUT_VARIABLE symbols COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX MATCHALL "[^\n]* [WVu] [^\n]*" weak "${symbols}")
  list(FILTER weak EXCLUDE REGEX "::${ISA}::")
  if(weak)
    message(SEND_ERROR "${object} shares with other code:\n${weak}")
  endif()
endforeach()
