# Tests that are scripts.

find_package(Python3 REQUIRED COMPONENTS Interpreter)
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

# Whole runs with real file systems. They skip what needs root, loop devices or a missing driver.
# Those that watch the clock, or wait for programs that strace slows down, have the machine for
# themselves.
set(integration_alone interrupt record runs)
set(integration_timeouts measure 240 interrupt 400 volumes 240 names 60 trees 240 people 60
    programs 400 hostile 200 replay 120 record 120 record_calls 300 workloads 300
    workload_schema 120 compare 120 identity 120 result_schema 120 man 60 completion 120 package 240
    report 600 runs 240)
while(integration_timeouts)
  list(POP_FRONT integration_timeouts subject timeout)
  add_test(NAME integration_${subject}
           COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/integration/${subject}_test.py)
  set_tests_properties(integration_${subject} PROPERTIES
    ENVIRONMENT
    "FILEREEL=$<TARGET_FILE:filereel>;MAKE_REELS=$<TARGET_FILE:make_reels>;CALLS=${CMAKE_CURRENT_BINARY_DIR}/calls;BUILD=${PROJECT_BINARY_DIR};FILEREEL_SKIPPED=${PROJECT_BINARY_DIR}/Testing/skipped;PYTHONDONTWRITEBYTECODE=1"
    TIMEOUT ${timeout} COST ${timeout} LABELS integration)  # the longest first, to end together
  if(subject IN_LIST integration_alone)
    set_tests_properties(integration_${subject} PROPERTIES RUN_SERIAL ON)
  endif()
endwhile()

# Each says there what it skips, for tests/list_skipped.
foreach(storey ${storeys})
  set_property(TEST ${storey} APPEND PROPERTY ENVIRONMENT
               "FILEREEL_SKIPPED=${PROJECT_BINARY_DIR}/Testing/skipped")
endforeach()
