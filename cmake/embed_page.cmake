# Script mode: writes PAGE, the template FOLDER/page.html with its styles and scripts in place, and OUT,
# a C++ source that defines filereel::report_page() with it.
cmake_policy(VERSION 3.25)

# The SHA-256 of a text as a content security policy names it.
function(policy_hash text result)
  set(letters ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/)
  string(SHA256 digest "${text}")
  string(APPEND digest "00")  # 32 bytes are ten times three and two; the last letter stands for none
  set(base64 "")
  foreach(at RANGE 0 60 6)
    string(SUBSTRING ${digest} ${at} 6 bytes)
    foreach(shift 18 12 6 0)
      math(EXPR letter "(0x${bytes} >> ${shift}) & 63")
      string(SUBSTRING ${letters} ${letter} 1 letter)
      string(APPEND base64 ${letter})
    endforeach()
  endforeach()
  string(REGEX REPLACE ".$" "=" base64 ${base64})
  set(${result} "sha256-${base64}" PARENT_SCOPE)
endfunction()

set(script "'use strict';\n(() => {\n")
foreach(name elements format palette charts summary comparison indexes views cells over_time clients tails measurements environment main)
  file(READ ${FOLDER}/${name}.js text)
  string(APPEND script "${text}")
endforeach()
string(APPEND script "})();\n")
file(READ ${CHART_JS} chart_js)
file(READ ${FOLDER}/page.css style)
file(READ ${FOLDER}/chart_js_licence.txt licence)
file(READ ${FOLDER}/page.html page)
foreach(text chart_js script)
  if("${${text}}" MATCHES "</[Ss][Cc]|<!--")
    message(FATAL_ERROR "${text} cannot stand in a script element")
  endif()
endforeach()
policy_hash("${chart_js}" chart_js_hash)
policy_hash("${script}" script_hash)
policy_hash("${style}" style_hash)
foreach(name chart_js_hash script_hash style_hash style licence CHART_JS_VERSION chart_js script)
  string(TOUPPER "@${name}@" mark)
  string(REPLACE "${mark}" "${${name}}" page "${page}")
endforeach()
file(WRITE ${PAGE} "${page}")
file(WRITE ${OUT} "#include \"replay/report/report_page.h\"

// Hidden: see embed_reels.cmake.
extern \"C\" [[gnu::visibility(\"hidden\")]] const char filereel_report_page[], filereel_report_page_end[];
asm(\".pushsection .rodata\\nfilereel_report_page:\\n.incbin \\\"${PAGE}\\\"\\n\"
    \"filereel_report_page_end:\\n.byte 0\\n.popsection\\n\");

namespace filereel {

std::string_view report_page() {
  return {filereel_report_page, filereel_report_page_end};
}

}  // namespace filereel
")
