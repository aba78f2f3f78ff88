# A package of Debian: `cpack --config build/release/CPackConfig.cmake`, or the target `package`.
# What it contains is what `cmake --install` installs, laid out as Debian wants it
# (debian_layout.cmake).
set(FILEREEL_MAINTAINER "The filereel developers <filereel@example.org>" CACHE STRING
    "Who made the package, with address")
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME ${PROJECT_NAME})
set(CPACK_PACKAGE_VENDOR filereel)
set(CPACK_PACKAGE_CONTACT "${FILEREEL_MAINTAINER}")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "tests storage with whole files through a file system")
set(CPACK_PACKAGE_DESCRIPTION
"Makes, reads, copies and deletes sets of files on fresh volumes with a
stopwatch, runs workloads, records what programs do to files and does it
again elsewhere. Compares results, say before and after an update of a
drive's firmware, and makes reports of them.")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_PRE_BUILD_SCRIPTS ${CMAKE_CURRENT_LIST_DIR}/debian_layout.cmake)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_SECTION utils)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
# What formats and mounts the file systems of FC-Test, records, and measures block devices.
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS
    "mount, e2fsprogs, ntfs-3g, dosfstools, fusefat, strace, fio")
set(CPACK_DEBIAN_PACKAGE_SUGGESTS
    "xfsprogs, btrfs-progs, exfatprogs, exfat-fuse, openmpi-bin, bash-completion")
include(CPack)
