# Completion scripts, printed by the binary itself and installed where the shells look for them.
if(CMAKE_CROSSCOMPILING AND NOT CMAKE_CROSSCOMPILING_EMULATOR)
  return()
endif()
set(folder ${PROJECT_BINARY_DIR}/completion)
file(MAKE_DIRECTORY ${folder})
set(scripts "")
foreach(shell bash zsh fish)
  add_custom_command(
    OUTPUT ${folder}/filereel.${shell}
    COMMAND filereel completion ${shell} > ${folder}/filereel.${shell}
    DEPENDS filereel
    VERBATIM)
  list(APPEND scripts ${folder}/filereel.${shell})
endforeach()
add_custom_target(completion ALL DEPENDS ${scripts})
install(FILES ${folder}/filereel.bash RENAME filereel
        DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
install(FILES ${folder}/filereel.zsh RENAME _filereel
        DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
install(FILES ${folder}/filereel.fish
        DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
