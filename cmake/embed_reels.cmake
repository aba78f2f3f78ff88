# Script mode: writes OUT, a C++ source that defines filereel::reel_catalog() with the bytes of FILES,
# which the assembler takes in: megabytes of numbers would keep the compiler busy for minutes. The names
# are hidden: on arm64 the compiler otherwise loads addresses from the global offset table, where the
# linker has one entry for all names of a section.
set(objects "")
set(entries "")
set(number 0)
foreach(file IN LISTS FILES)
  get_filename_component(name ${file} NAME)
  set(symbol filereel_catalog_reel_${number})
  math(EXPR number "${number} + 1")
  string(APPEND objects
    "extern \"C\" [[gnu::visibility(\"hidden\")]] const std::byte ${symbol}[], ${symbol}_end[];\n"
    "asm(\".pushsection .rodata\\n.balign 16\\n${symbol}:\\n.incbin \\\"${file}\\\"\\n\"\n"
    "    \"${symbol}_end:\\n.byte 0\\n.popsection\\n\");\n")
  string(APPEND entries "      {\"${name}\", {${symbol}, ${symbol}_end}},\n")
endforeach()
set(text "#include <array>\n\n#include \"traces/catalog_reel.h\"\n\n${objects}\nnamespace filereel {\n\n")
string(APPEND text "std::span<const CatalogReel> reel_catalog() {\n")
string(APPEND text "  static const std::array<CatalogReel, ${number}> kReels = {{\n${entries}  }};\n")
string(APPEND text "  return kReels;\n}\n\n}  // namespace filereel\n")
file(WRITE ${OUT} "${text}")
