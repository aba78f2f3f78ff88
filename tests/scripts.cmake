# Tests that are scripts.

find_package(Python3 REQUIRED COMPONENTS Interpreter)
add_test(NAME golden COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/golden/run.py
         $<TARGET_FILE:filereel>)

# Whole runs with real file systems. They skip what needs root, loop devices or a missing driver.
set(integration_timeouts measure 240 interrupt 240 volumes 120 names 60 trees 240 people 60)
while(integration_timeouts)
  list(POP_FRONT integration_timeouts subject timeout)
  add_test(NAME integration_${subject}
           COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/integration/${subject}_test.py)
  set_tests_properties(integration_${subject} PROPERTIES
    ENVIRONMENT "FILEREEL=$<TARGET_FILE:filereel>;PYTHONDONTWRITEBYTECODE=1"
    TIMEOUT ${timeout} RUN_SERIAL ON LABELS integration)
endwhile()
