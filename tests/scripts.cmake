# Tests that are scripts.

find_package(Python3 REQUIRED COMPONENTS Interpreter)
add_test(NAME house
         COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/house_test.py ${PROJECT_SOURCE_DIR})
add_test(NAME house_sees COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/house_self_test.py)
set_tests_properties(house house_sees PROPERTIES ENVIRONMENT PYTHONDONTWRITEBYTECODE=1)
add_test(NAME prose
         COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/prose/prose_test.py ${PROJECT_SOURCE_DIR})
add_test(NAME prose_sees COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/prose/prose_self_test.py)
set_tests_properties(prose prose_sees PROPERTIES ENVIRONMENT PYTHONDONTWRITEBYTECODE=1)
add_test(NAME golden COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/golden/run.py
         $<TARGET_FILE:filereel>)

# Makes the reels that the integration tests and the peer scripts replay.
add_executable(make_reels ${CMAKE_CURRENT_SOURCE_DIR}/integration/make_reels.cc)
target_link_libraries(make_reels PRIVATE filereel_traces)
add_executable(make_mysql_reel ${CMAKE_CURRENT_SOURCE_DIR}/integration/make_mysql_reel.cc)
target_link_libraries(make_mysql_reel PRIVATE filereel_traces)

# A program for each family of system calls, which the tests of the recorder record and replay.
enable_language(C)
file(GLOB call_programs CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/integration/calls/*.c)
foreach(source ${call_programs})
  get_filename_component(name ${source} NAME_WE)
  if(name MATCHES "^uring_" AND NOT uring_FOUND)
    continue()
  endif()
  add_executable(calls_${name} ${source})
  set_target_properties(calls_${name} PROPERTIES OUTPUT_NAME ${name} C_STANDARD 11
    RUNTIME_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/calls)
  # Sanitizers would make calls of their own.
  target_compile_options(calls_${name} PRIVATE -fno-sanitize=all)
  target_link_options(calls_${name} PRIVATE -fno-sanitize=all)
  target_link_libraries(calls_${name} PRIVATE Threads::Threads)
  if(name MATCHES "^uring_")
    target_link_libraries(calls_${name} PRIVATE PkgConfig::uring)
  endif()
endforeach()

# Whole runs with real file systems. They skip what needs root, loop devices or a missing driver. With
# each its seconds on an idle machine: ctest begins with the longest, so that all end together.
set(integration_tests ownership 35 drive_condition 30 resume 15 ownership_machine 30 options 27 report 25 record 25 text 20 output 20 workloads 18 runs 16 measure 14 hostile 14
    package 12 programs 10 input 8 live 8 volumes 8 model_drive 8 interrupt 8 record_calls 6 identity 6 refusal 20 several_volumes 6 clients 25 names 5 file_systems 9 record_roots 5 parts 12
    completion 4 work 10 places 12 workload_schema 4 trees 4 replay 4 limits 4 portable 6 record_compat 3 people 3 recording_check 3 result_schema 3
    process_limits 15 index 3 predict 8 compare 2 figures 12 man 1 sessions 20 libraries 8 denied_calls 20
    control_groups 45 copy_command 8 failed_work 2 file_system_features 1 record_bind_mounts 1 record_place 7 hung_share 30 bisect 15 write_cache 40)
# A test that is not in the list would never run.
file(GLOB integration_files CONFIGURE_DEPENDS RELATIVE ${CMAKE_CURRENT_SOURCE_DIR}/integration integration/*_test.py)
foreach(file ${integration_files})
  string(REPLACE "_test.py" "" subject ${file})
  if(NOT subject IN_LIST integration_tests)
    message(FATAL_ERROR "tests/integration/${file} is not in the list of tests/scripts.cmake")
  endif()
endforeach()
set(model_drive "")  # the test says why it is skipped
if(TARGET model_drive)
  set(model_drive $<TARGET_FILE:model_drive>)
endif()
set(portable "")
if(FILEREEL_STATIC_LIBRARIES)
  set(portable $<TARGET_FILE:filereel_portable>)
  set_target_properties(filereel_portable PROPERTIES EXCLUDE_FROM_ALL OFF)
endif()
while(integration_tests)
  list(POP_FRONT integration_tests subject seconds)
  add_test(NAME integration_${subject}
           COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/integration/${subject}_test.py)
  set_tests_properties(integration_${subject} PROPERTIES
    ENVIRONMENT
    "FILEREEL=$<TARGET_FILE:filereel>;MAKE_REELS=$<TARGET_FILE:make_reels>;CALLS=${CMAKE_CURRENT_BINARY_DIR}/calls;BUILD=${PROJECT_BINARY_DIR};MODEL_DRIVE=${model_drive};PORTABLE=${portable};FILEREEL_SKIPPED=${PROJECT_BINARY_DIR}/Testing/skipped;PYTHONDONTWRITEBYTECODE=1"
    COST ${seconds} LABELS integration)
endwhile()
