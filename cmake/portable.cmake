# The portable program: the layers of `filereel`, linked statically, so that one file runs on every
# Linux with this processor, whatever its libraries. The target `portable` packs it with its manual,
# completion and licences (tools/portable).
set(filereel_static_modules yaml-cpp pugixml zlib libzstd libxxhash blkid)
if(uring_FOUND)
  list(APPEND filereel_static_modules liburing)
endif()
if(filereel_bpf_FOUND)
  list(APPEND filereel_static_modules libbpf)
endif()
execute_process(COMMAND ${PKG_CONFIG_EXECUTABLE} --static --libs ${filereel_static_modules}
                OUTPUT_VARIABLE filereel_static_libraries OUTPUT_STRIP_TRAILING_WHITESPACE)
separate_arguments(filereel_static_libraries)
# pkg-config does not know Boost. With BPF, libelf has to be complete: that of Debian 13 lacks functions
# that its own elf_begin calls.
set(CMAKE_REQUIRED_LIBRARIES -static-pie -lboost_filesystem -lboost_system
    ${filereel_static_libraries})
set(static_test "int main() { return 0; }")
if(filereel_bpf_FOUND)
  set(static_test "extern \"C\" void* elf_begin(int, int, void*);
                   int main() { return elf_begin(-1, 0, nullptr) != nullptr; }")
endif()
include(CheckCXXSourceCompiles)
check_cxx_source_compiles("${static_test}" FILEREEL_STATIC_LIBRARIES)
unset(CMAKE_REQUIRED_LIBRARIES)
if(NOT FILEREEL_STATIC_LIBRARIES)
  add_custom_target(filereel_portable
    COMMAND ${CMAKE_COMMAND} -E echo "The portable program cannot be linked here: a static library is "
            "missing or incomplete (Boost, ${filereel_static_modules}); build it on Debian 12."
    COMMAND ${CMAKE_COMMAND} -E false VERBATIM)
  return()
endif()

# The bridge to MPI (replay/bridge/channel.h) needs nothing of the system but its C library and MPI.
set(bridge_file "")
if(MPI_CXX_FOUND)
  add_executable(filereel_mpi_bridge EXCLUDE_FROM_ALL replay/bridge/mpi_bridge.cc
                 replay/bridge/channel.cc replay/clients/mpi_messages.cc)
  filereel_use_mpi(filereel_mpi_bridge)
  target_link_libraries(filereel_mpi_bridge PRIVATE ${mpi_libraries})
  target_link_options(filereel_mpi_bridge PRIVATE -static-libstdc++ -static-libgcc -s
                      -Wl,--as-needed)
  set(bridge_file $<TARGET_FILE:filereel_mpi_bridge>)
endif()
set(bridge_source ${PROJECT_BINARY_DIR}/generated/bridge_program.cc)
add_custom_command(
  OUTPUT ${bridge_source}
  COMMAND ${CMAKE_COMMAND} -DOUT=${bridge_source} -DFILE=${bridge_file} -DNAME=bridge_program
          -DHEADER=replay/bridge/bridge_program.h
          -P ${PROJECT_SOURCE_DIR}/cmake/embed_text.cmake
  DEPENDS ${PROJECT_SOURCE_DIR}/cmake/embed_text.cmake ${PROJECT_SOURCE_DIR}/cmake/embed_bytes.cmake
          ${bridge_file}
  VERBATIM)

add_executable(filereel_portable EXCLUDE_FROM_ALL tools/cli/main.cc replay/bridge/channel.cc
               replay/bridge/portable_messages.cc ${bridge_source})
target_include_directories(filereel_portable PRIVATE ${PROJECT_SOURCE_DIR})
set(layers filereel_tools filereel_replay filereel_traces filereel_filesets)
add_dependencies(filereel_portable ${layers})
# The files, not the targets, which stand for the shared libraries that they need, too.
foreach(layer ${layers})
  target_link_libraries(filereel_portable PRIVATE $<TARGET_FILE:${layer}>)
endforeach()
target_link_libraries(filereel_portable PRIVATE fmt::fmt-header-only -lboost_filesystem -lboost_system
                      ${filereel_static_libraries})
target_link_options(filereel_portable PRIVATE -static-pie -s)
