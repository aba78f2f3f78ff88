# The page of the HTML report: a template, styles and scripts of replay/report/page, and Chart.js of
# the distribution, become one file that is embedded in a library. filereel::report_page() gives it
# (replay/report/report_page.h).
find_file(FILEREEL_CHART_JS NAMES chart.min.js
          PATHS /usr/share/javascript/chart.js /usr/share/nodejs/chart.js/dist
          DOC "Chart.js 3, minified" NO_DEFAULT_PATH)
if(NOT FILEREEL_CHART_JS)
  message(FATAL_ERROR "Chart.js is missing, which draws the charts of reports: install libjs-chart.js, "
                      "or name a chart.min.js of version 3 with -DFILEREEL_CHART_JS=FILE")
endif()
file(STRINGS ${FILEREEL_CHART_JS} filereel_chart_js_version REGEX "Chart\\.js v[0-9]" LIMIT_COUNT 1)
string(REGEX REPLACE "^.*Chart\\.js v([0-9.]+).*$" "\\1" filereel_chart_js_version
       "${filereel_chart_js_version}")
if(filereel_chart_js_version VERSION_LESS 3.9 OR NOT filereel_chart_js_version VERSION_LESS 4)
  message(FATAL_ERROR "${FILEREEL_CHART_JS} is version '${filereel_chart_js_version}' of Chart.js: "
                      "reports need 3.9")
endif()

function(filereel_report_page target folder)
  file(GLOB parts CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${folder}/*)
  set(page ${PROJECT_BINARY_DIR}/generated/report_page.html)
  set(out ${PROJECT_BINARY_DIR}/generated/report_page.cc)
  add_custom_command(
    OUTPUT ${out} ${page}
    COMMAND ${CMAKE_COMMAND} -DOUT=${out} -DPAGE=${page} -DFOLDER=${PROJECT_SOURCE_DIR}/${folder}
            -DCHART_JS=${FILEREEL_CHART_JS} -DCHART_JS_VERSION=${filereel_chart_js_version}
            -P ${PROJECT_SOURCE_DIR}/cmake/embed_page.cmake
    DEPENDS ${parts} ${FILEREEL_CHART_JS} ${PROJECT_SOURCE_DIR}/cmake/embed_page.cmake
            ${PROJECT_SOURCE_DIR}/cmake/embed_text.cmake ${PROJECT_SOURCE_DIR}/cmake/embed_bytes.cmake
    VERBATIM)
  target_sources(${target} PRIVATE ${out})
  # As in catalogue.cmake.
  set_source_files_properties(${out} PROPERTIES OBJECT_DEPENDS ${page} COMPILE_OPTIONS -fno-lto)
endfunction()
