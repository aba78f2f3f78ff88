# Script mode, or included by a script: writes OUT, a C++ source that defines filereel::NAME(), declared
# in HEADER, with the bytes of FILE, or with none if FILE is empty.
include(${CMAKE_CURRENT_LIST_DIR}/embed_bytes.cmake)
set(object "")
set(bounds "")
if(FILE)
  embed_bytes(object char filereel_${NAME} ${FILE})
  set(bounds "filereel_${NAME}, filereel_${NAME}_end")
endif()
file(WRITE ${OUT} "#include \"${HEADER}\"

${object}
namespace filereel {

std::string_view ${NAME}() {
  return {${bounds}};
}

}  // namespace filereel
")
