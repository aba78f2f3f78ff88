#include <memory>
#include <string>

#include <boost/filesystem/operations.hpp>
#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "replay/volumes/volume.h"
#include "tests/temp_dir.h"

namespace filereel {
namespace {

// On the image itself, which needs no privileges.
std::unique_ptr<Volume> open_image(const TempDir& temp, const std::string& name = "v.img",
                                   std::uint64_t size = 4 << 20) {
  Target target;
  target.kind = TargetKind::image;
  target.path = temp / name;
  target.size = size;
  VolumeOptions options;
  options.power = MountCapability::fuse_only;
  std::unique_ptr<Volume> volume = open_volume(target, options);
  volume->take();
  return volume;
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

ino_t file_of(const Volume& volume) {
  struct stat info{};
  REQUIRE(fstat(volume.raw(), &info) == 0);
  return info.st_ino;
}

TEST_CASE("images of one size in one directory exchange their files, as often as they are told") {
  const TempDir temp;
  const std::unique_ptr<Volume> a = open_image(temp, "a.img"), b = open_image(temp, "b.img");
  const ino_t first = file_of(*a), second = file_of(*b);
  REQUIRE(first != second);
  CHECK(a->exchange_place(*b));
  CHECK(file_of(*a) == second);
  CHECK(file_of(*b) == first);
  CHECK(b->exchange_place(*a));
  CHECK(file_of(*a) == first);
  CHECK(file_of(*b) == second);
}

TEST_CASE("volumes that are not alike keep their places") {
  const TempDir temp, elsewhere;
  const std::unique_ptr<Volume> image = open_image(temp), larger = open_image(temp, "b", 8 << 20),
                                far_away = open_image(elsewhere);
  Target target;
  target.path = temp / "directory";
  const std::unique_ptr<Volume> directory = open_volume(target, {});
  directory->take();
  directory->prepare({});
  REQUIRE(mkdirat(directory->root(), "kept", 0755) == 0);
  const ino_t file = file_of(*image);
  for (Volume* other : {image.get(), larger.get(), far_away.get(), directory.get()}) {
    CHECK_FALSE(image->exchange_place(*other));
    CHECK_FALSE(other->exchange_place(*image));
  }
  CHECK(file_of(*image) == file);
  CHECK(faccessat(directory->root(), "kept", F_OK, 0) == 0);
}

TEST_CASE("images that were exchanged and not formatted after that do not stay") {
  const TempDir temp;
  const std::unique_ptr<Volume> a = open_image(temp, "a.img"), b = open_image(temp, "b.img");
  CHECK(a->exchange_place(*b));
  a->finish(true);
  b->finish(true);
  CHECK(boost::filesystem::is_empty(temp.path()));
  CHECK_NOTHROW(open_image(temp, "a.img"));
}

}  // namespace
}  // namespace filereel
