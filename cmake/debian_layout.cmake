# Run by CPack between installing and packing: what Debian's policy wants otherwise than
# `cmake --install` does it.
set(root ${CPACK_TEMPORARY_INSTALL_DIRECTORY}${CPACK_PACKAGING_INSTALL_PREFIX}/share)
if(NOT EXISTS ${root})
  set(root ${CPACK_TEMPORARY_INSTALL_DIRECTORY}/share)
endif()
set(doc ${root}/doc/${CPACK_PACKAGE_NAME})

file(MAKE_DIRECTORY ${root}/zsh)
file(RENAME ${root}/zsh/site-functions ${root}/zsh/vendor-completions)

file(REMOVE ${doc}/LICENSE)
file(COPY_FILE ${CMAKE_CURRENT_LIST_DIR}/debian_copyright ${doc}/copyright)
file(RENAME ${doc}/CHANGELOG.md ${doc}/changelog)
string(TIMESTAMP date "%a, %d %b %Y %H:%M:%S +0000" UTC)
file(WRITE ${doc}/changelog.Debian
"${CPACK_PACKAGE_NAME} (${CPACK_PACKAGE_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE}) unstable; urgency=medium

  * Version ${CPACK_PACKAGE_VERSION}; changelog.gz says what is new.

 -- ${CPACK_PACKAGE_CONTACT}  ${date}
")
file(GLOB packed ${doc}/changelog ${doc}/changelog.Debian ${root}/man/man1/*.1)
execute_process(COMMAND gzip -n9 ${packed} COMMAND_ERROR_IS_FATAL ANY)

file(CHMOD_RECURSE ${root}
     FILE_PERMISSIONS OWNER_READ OWNER_WRITE GROUP_READ WORLD_READ
     DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE
                           WORLD_READ WORLD_EXECUTE)
