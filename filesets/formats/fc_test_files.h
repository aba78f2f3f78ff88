// The file lists of FC-Test 1.0: `.ptn` patterns and `.fls` lists.
//
// Known: a pattern says "100 files, 1 MB each" and the like; a list holds relative paths with
// subfolders and the size of each file, taken from a real Windows PC. Assumed, because the syntax
// was never published: everything else. So the readers accept whatever can only be meant one way.
#pragma once

#include <string_view>

#include "filesets/file_set.h"

namespace filereel {

// One group of equal files a line: "COUNT SIZE", where a blank, tab, 'x', '*', ',', ';' or the word
// "files" stands between the two: "100 x 1 MB", "100 files, 1 MB each". Sizes as parse_size has
// them. Each line's files lie in a directory of their own (p001, p002 ...), 100 to a subdirectory.
// Empty lines and lines that begin with ';', '#' or "//" are skipped. `scale` works as in a
// specification (filesets/specification/scaling.h). Throws Error(unusable_input) with the line
// number.
FileSet parse_ptn(std::string_view text, std::string_view file_name, double scale = 1.0);

// One file a line: "PATH SIZE" with a tab, '|', ';', ',' or blanks between; the path may be quoted
// and contain blanks; '\' and '/' both separate its components. A drive ("C:\") in front is
// dropped, ".." is refused. A line without a size is a directory if it ends in a separator, and the
// list's root, which is dropped, if it is the first and begins with a drive. Names are bytes in any
// 8-bit code page or UTF-8 and stay as they are. As on Windows, directories that differ in the case
// of ASCII letters are one. Missing directories are added. Comments as above.
FileSet parse_fls(std::string_view text, std::string_view file_name, double scale = 1.0);

}  // namespace filereel
