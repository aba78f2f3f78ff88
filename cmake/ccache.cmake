# Compiles through ccache where that is installed. Paths are relative to the project, so that another
# clone of it hits.
find_program(FILEREEL_CCACHE ccache DOC "Caches what was compiled; set it to OFF to do without")
if(FILEREEL_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(launcher ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_NOHASHDIR=1
      ${FILEREEL_CCACHE})
  set(CMAKE_C_COMPILER_LAUNCHER ${launcher})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${launcher})
endif()
