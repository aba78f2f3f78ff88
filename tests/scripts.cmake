# Tests that are scripts.

find_package(Python3 REQUIRED COMPONENTS Interpreter)
add_test(NAME golden COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/golden/run.py
         $<TARGET_FILE:filereel>)

# Makes the reels that the integration tests and the peer scripts replay.
add_executable(make_reels ${CMAKE_CURRENT_SOURCE_DIR}/integration/make_reels.cc)
target_link_libraries(make_reels PRIVATE filereel_traces)

# Whole runs with real file systems. They skip what needs root, loop devices or a missing driver.
set(integration_timeouts measure 240 interrupt 240 volumes 120 names 60 trees 240 people 60
    programs 400 hostile 200 replay 120)
while(integration_timeouts)
  list(POP_FRONT integration_timeouts subject timeout)
  add_test(NAME integration_${subject}
           COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/integration/${subject}_test.py)
  set_tests_properties(integration_${subject} PROPERTIES
    ENVIRONMENT
    "FILEREEL=$<TARGET_FILE:filereel>;MAKE_REELS=$<TARGET_FILE:make_reels>;PYTHONDONTWRITEBYTECODE=1"
    TIMEOUT ${timeout} RUN_SERIAL ON LABELS integration)
endwhile()
