# The recorder's program in the kernel: compiled by clang, embedded as a skeleton by bpftool.
# filereel_bpf_FOUND says whether all of it is here. What reads its events needs none of that, but
# knows certain processors only: filereel_bpf_EVENTS.
pkg_check_modules(bpf IMPORTED_TARGET libbpf)
find_program(FILEREEL_BPF_CLANG NAMES clang-19 clang clang-18 clang-17 clang-16 clang-15 clang-14)
find_program(FILEREEL_BPFTOOL NAMES bpftool PATHS /usr/sbin)
set(filereel_bpf_FOUND OFF)
set(filereel_bpf_EVENTS OFF)
if(CMAKE_SYSTEM_PROCESSOR IN_LIST filereel_processors)
  set(filereel_bpf_EVENTS ON)
  if(bpf_FOUND AND FILEREEL_BPF_CLANG AND FILEREEL_BPFTOOL)
    set(filereel_bpf_FOUND ON)
  endif()
endif()

add_custom_target(bpf_skeletons)  # what the linter needs to be made

# Gives the sources of `target` the header NAME.skel.h, made of `source` with these definitions.
function(filereel_bpf_skeleton target source name)
  set(folder ${PROJECT_BINARY_DIR}/bpf)
  file(GLOB headers CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/traces/record/bpf/*.h)
  add_custom_command(
    OUTPUT ${folder}/${name}.skel.h
    COMMAND ${CMAKE_COMMAND} -E make_directory ${folder}
    COMMAND ${FILEREEL_BPF_CLANG} -O2 -g -target bpf -mcpu=v3
            "-DRECORDER_PROCESSOR=\"traces/record/bpf/bpf_processor_${CMAKE_SYSTEM_PROCESSOR}_kernel.h\""
            ${ARGN} -Wall -Wextra -Wno-unused-parameter -Werror -I${PROJECT_SOURCE_DIR}
            -c ${PROJECT_SOURCE_DIR}/${source} -o ${folder}/${name}.o
    COMMAND ${CMAKE_COMMAND} -E echo "// NOLINTBEGIN: not ours" > ${folder}/${name}.skel.h
    COMMAND ${FILEREEL_BPFTOOL} gen skeleton ${folder}/${name}.o name ${name}_bpf
            >> ${folder}/${name}.skel.h
    COMMAND ${CMAKE_COMMAND} -E echo "// NOLINTEND" >> ${folder}/${name}.skel.h
    DEPENDS ${PROJECT_SOURCE_DIR}/${source} ${headers}
    COMMENT "Building the recorder's program in the kernel (${name})"
    VERBATIM)
  target_sources(${target} PRIVATE ${folder}/${name}.skel.h)
  target_include_directories(${target} SYSTEM PRIVATE ${folder})
  add_custom_target(bpf_skeleton_${name} DEPENDS ${folder}/${name}.skel.h)
  add_dependencies(bpf_skeletons bpf_skeleton_${name})
endfunction()
