#include <memory>

#include <doctest/doctest.h>
#include <unistd.h>

#include "replay/volumes/volume.h"
#include "tests/temp_dir.h"

namespace filereel {
namespace {

// On the image itself, which needs no privileges.
std::unique_ptr<Volume> open_image(const TempDir& temp) {
  Target target;
  target.kind = TargetKind::image;
  target.path = temp / "v.img";
  target.size = 4 << 20;
  VolumeOptions options;
  options.power = MountCapability::fuse_only;
  return open_volume(target, options);
}

TEST_CASE("an image that was written to and not formatted in the end can be used again") {
  const TempDir temp;
  {
    const std::unique_ptr<Volume> volume = open_image(temp);
    REQUIRE(volume->raw() >= 0);
    CHECK(pwrite(volume->raw(), "a baseline", 10, 4096) == 10);
  }
  CHECK_NOTHROW(open_image(temp));
}

}  // namespace
}  // namespace filereel
