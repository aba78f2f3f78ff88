# Tests that are scripts.

find_package(Python3 REQUIRED COMPONENTS Interpreter)
add_test(NAME golden COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/golden/run.py
         $<TARGET_FILE:filereel>)
