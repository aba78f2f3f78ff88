#include <doctest/doctest.h>

#include "filesets/system/wording.h"

namespace filereel {
namespace {

TEST_CASE("words agree with their numbers") {
  CHECK(counted(0, "file") == "0 files");
  CHECK(counted(1, "file") == "1 file");
  CHECK(counted(2, "file") == "2 files");
  CHECK(counted(1, "entry", "entries") == "1 entry");
  CHECK(counted(12, "entry", "entries") == "12 entries");
  CHECK(counted(1, "result differs", "results differ") == "1 result differs");
  CHECK(counted(2, "result differs", "results differ") == "2 results differ");
  CHECK(agreeing(1, "is", "are") == "is");
  CHECK(agreeing(0, "is", "are") == "are");
}

TEST_CASE("the noun of a share agrees with the whole") {
  CHECK(counted_of(1, 3, "result") == "1 of 3 results");
  CHECK(counted_of(1, 1, "result") == "1 of 1 result");
  CHECK(counted_of(0, 0, "result") == "0 of 0 results");
}

TEST_CASE("a message is about a name that it begins with, quotes or ends its subject with") {
  CHECK(is_about("mp3: no space", "mp3"));
  CHECK(is_about("no space for 'mp3'", "mp3"));
  CHECK(is_about("--verify tree does not apply to mp3: it removes files", "mp3"));
  CHECK_FALSE(is_about("a file has 5 GB: too large", "as"));
  CHECK_FALSE(is_about("files/a has 5 GB: too large", "a"));
}

}  // namespace
}  // namespace filereel
