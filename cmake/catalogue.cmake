# Embeds the YAML files of a catalogue folder in a library, so that the one executable needs no data
# files: filereel_catalogue(TARGET FOLDER NAME) generates filereel::NAME(), a span of CatalogueFile
# (filesets/catalogue_file.h) in file-name order.
function(filereel_catalogue target folder name)
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

# The same for the recorded traces of a folder: generates filereel::reel_catalogue()
# (traces/catalogue_reel.h).
function(filereel_reel_catalogue target folder)
  file(GLOB files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${folder}/*.reel)
  set(out ${PROJECT_BINARY_DIR}/generated/reel_catalogue.cc)
  add_custom_command(
    OUTPUT ${out}
    COMMAND ${CMAKE_COMMAND} -DOUT=${out} "-DFILES=${files}"
            -P ${PROJECT_SOURCE_DIR}/cmake/embed_reels.cmake
    DEPENDS ${files} ${PROJECT_SOURCE_DIR}/cmake/embed_reels.cmake
            ${PROJECT_SOURCE_DIR}/cmake/embed_bytes.cmake
    VERBATIM)
  target_sources(${target} PRIVATE ${out})
  # What the assembler defines is not seen by other parts of a link-time optimisation.
  set_source_files_properties(${out} PROPERTIES OBJECT_DEPENDS "${files}" COMPILE_OPTIONS -fno-lto)
endfunction()
