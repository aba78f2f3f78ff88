# What most files include, parsed once for a target: compiling it again and again takes longer than all
# else. The linter goes without, so that a file that forgets an include is found (.ci/run).
function(filereel_precompile target)
  target_precompile_headers(${target} PRIVATE <algorithm> <cstdint> <functional> <map> <memory> <optional>
    <set> <span> <string> <string_view> <unordered_map> <utility> <variant> <vector> <fmt/format.h> ${ARGN})
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    # Precompiled, std::string is no system header any more whose false alarms (GCC bug 105651) are silent.
    target_compile_options(${target} PRIVATE -Wno-array-bounds -Wno-stringop-overflow)
  endif()
endfunction()
