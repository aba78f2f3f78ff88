# Embeds the YAML files of a catalogue folder in a library, so that the one executable needs no data
# files: filereel_catalog(TARGET FOLDER NAME) generates filereel::NAME(), a span of CatalogFile
# (filesets/catalog_file.h) in file-name order.
function(filereel_catalog target folder name)
  file(GLOB files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${folder}/*.yaml)
  set(out ${PROJECT_BINARY_DIR}/generated/${name}.cc)
  add_custom_command(
    OUTPUT ${out}
    COMMAND ${CMAKE_COMMAND} -DOUT=${out} -DNAME=${name} "-DFILES=${files}"
            -P ${PROJECT_SOURCE_DIR}/cmake/embed.cmake
    DEPENDS ${files} ${PROJECT_SOURCE_DIR}/cmake/embed.cmake
    VERBATIM)
  target_sources(${target} PRIVATE ${out})
endfunction()
