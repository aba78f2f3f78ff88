#include "traces/check/content_check.h"

#include <string>

#include <doctest/doctest.h>
#include <fcntl.h>
#include <unistd.h>

#include "filesets/system/descriptor.h"
#include "tests/temp_dir.h"

namespace filereel {
namespace {

TEST_CASE("a file whose content cannot be compared is not taken for compared") {
  const TempDir dir;
  const Descriptor directory(open(dir.path().c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  const Descriptor file(
      openat(directory.get(), "file", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  REQUIRE(write(file.get(), "abc", 3) == 3);
  const ContentSamples::OfFile samples = {{0, {.length = 3, .hash = ContentSamples::hash("abc")}}};
  const auto compare = [&](const std::string& name, bool is_late) {
    return content_difference(directory.get(), name, samples, [is_late] { return is_late; });
  };
  const ContentDifference compared = compare("file", false);
  CHECK(compared.complete);
  CHECK(compared.writes == 1);
  for (const ContentDifference& not_compared :
       {compare("file", true), compare("missing", false), compare(".", false)}) {
    CHECK_FALSE(not_compared.complete);
    CHECK(not_compared.writes == 0);
    CHECK(not_compared.text == "");
  }
}

}  // namespace
}  // namespace filereel
