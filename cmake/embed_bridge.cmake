# Script mode: writes OUT, a C++ source that defines filereel::bridge_program() with the bytes of FILE,
# or with none if FILE is empty. Its names are hidden as in embed_reels.cmake.
if(FILE)
  set(text "#include \"replay/bridge/bridge_program.h\"

extern \"C\" [[gnu::visibility(\"hidden\")]] const char filereel_bridge[], filereel_bridge_end[];
asm(\".pushsection .rodata\\nfilereel_bridge:\\n.incbin \\\"${FILE}\\\"\\n\"
    \"filereel_bridge_end:\\n.popsection\\n\");

namespace filereel {

std::string_view bridge_program() {
  return {filereel_bridge, filereel_bridge_end};
}

}  // namespace filereel
")
else()
  set(text "#include \"replay/bridge/bridge_program.h\"

namespace filereel {

std::string_view bridge_program() {
  return {};
}

}  // namespace filereel
")
endif()
file(WRITE ${OUT} "${text}")
