# With CMAKE_UNITY_BUILD the sources of a folder are compiled together, which takes a third of the time:
# they parse the same headers. By folder, not by count, so that a new file changes one group alone, and
# a clash of names is one between neighbours. The preset `dev` compiles each file by itself, for those
# who change one at a time; so does the linter, which finds forgotten includes.
function(filereel_unite target)
  get_target_property(sources ${target} SOURCES)
  foreach(source ${sources})
    cmake_path(GET source PARENT_PATH folder)
    cmake_path(IS_PREFIX PROJECT_BINARY_DIR "${folder}" generated)
    if(NOT generated)
      cmake_path(RELATIVE_PATH folder BASE_DIRECTORY ${PROJECT_SOURCE_DIR})
      string(MAKE_C_IDENTIFIER "${folder}" group)
      set_property(SOURCE ${source} PROPERTY UNITY_GROUP ${group})
    endif()
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD_MODE GROUP)
  if(CMAKE_UNITY_BUILD AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # GCC takes the parts for headers, whose private types would be another one in each unit.
    target_compile_options(${target} PRIVATE -Wno-subobject-linkage)
  endif()
  set_property(SOURCE ${ARGN} PROPERTY SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()
