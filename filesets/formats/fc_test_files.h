// Readers for the file lists of FC-Test 1.0: `.ptn` patterns and `.fls` lists.
//
// Known: a pattern says "100 files, 1 MB each" and the like. A list holds relative paths with
// subfolders and the size of each file, taken from a real Windows PC. The rest is assumed, because
// the syntax was never published. The readers therefore accept everything that is unambiguous.
#pragma once

#include <string_view>

#include "filesets/file_set.h"

namespace filereel {

// One group of equal files per line: "COUNT SIZE", separated by a blank, tab, 'x', '*', ',', ';' or
// the word "files": "100 x 1 MB", "100 files, 1 MB each". Sizes are those of parse_size. The files
// of a line are placed in a separate directory (p001, p002 ...), 100 per subdirectory. Empty lines
// and lines that start with ';', '#' or "//" are skipped. `scale` works as in a specification
// (filesets/specification/scaling.h). Throws Error(unusable_input) with the line number.
FileSet parse_ptn(std::string_view text, std::string_view file_name, double scale = 1.0);

// One file per line: "PATH SIZE", separated by a tab, '|', ';', ',' or blanks. The path may be
// quoted and contain blanks; '\' and '/' both separate components. A leading drive ("C:\") is
// dropped, ".." is rejected. A line without a size is a directory if it ends in a separator. If it
// is the first line and starts with a drive, it is the root of the list and is dropped. Names are
// bytes in any 8-bit code page or UTF-8 and are not changed. As on Windows, directories that differ
// only in the case of ASCII letters are the same. Missing directories are added. Comments as above.
FileSet parse_fls(std::string_view text, std::string_view file_name, double scale = 1.0);

}  // namespace filereel
