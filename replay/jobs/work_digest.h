// Identifies what is done by its content: by the parsed recipe, files or trace instead of their
// names. A comment, the order of keys and the way a size is written make no difference. Digests
// are stored in results and compared between versions of filereel, so they must not change for
// unchanged work (tests/replay/work_digest_test.cc).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "filesets/file_set.h"
#include "replay/json_fwd.h"
#include "traces/workload/recipe.h"

namespace filereel {

// --- A recipe as JSON, for `filereel show --json` and for the digest of work: sizes in bytes,
// times in seconds, shares from 0 to 1.

// A list of groups, and one of phases. A new member is left out at its default value, so that
// digests of older recipes stay as they are.
Json files_to_json(const Recipe& recipe);
Json phases_to_json(const Recipe& recipe);

// 16 hexadecimal digits.
std::string digest_text(std::uint64_t hash);
std::string digest_of(std::string_view text);

// The JSON in one line; bytes that are not UTF-8 are replaced.
std::string text_of_json(const Json& json);

// Files, phases and all that changes them, or the database server. File sets count by their
// content. Not for a recipe of a reel. Throws Error as load_file_set does.
std::string recipe_digest(const Recipe& recipe);

// Names, kinds, permissions, sizes and content of all entries.
std::string file_set_digest(const FileSet& set);

}  // namespace filereel
