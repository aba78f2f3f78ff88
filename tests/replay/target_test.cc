#include "replay/volumes/target.h"

#include <string>

#include <doctest/doctest.h>
#include <fcntl.h>
#include <unistd.h>

#include "filesets/system/descriptor.h"
#include "filesets/system/error.h"
#include "tests/temp_dir.h"

namespace filereel {
namespace {

std::string refusal(const std::string& text) {
  try {
    parse_target(text);
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::usage);
    return error.what();
  }
  return "";
}

TEST_CASE("a directory is a volume, whether it is there yet or not") {
  const TempDir temp;
  const Target there = parse_target(temp.path());
  CHECK(there.kind == TargetKind::directory);
  CHECK(there.path == temp.path());
  const Target made = parse_target(temp / "new");
  CHECK(made.kind == TargetKind::directory);
  CHECK(::access(made.path.c_str(), F_OK) != 0);  // parsing makes nothing
}

TEST_CASE("an image has a file and perhaps a size") {
  const Target plain = parse_target("image:a.img");
  CHECK(plain.kind == TargetKind::image);
  CHECK(plain.path == "a.img");
  CHECK(plain.size == 0);
  CHECK_FALSE(plain.temporary);
  CHECK(parse_target("image:/x/a,size=4G").size == 4ULL << 30);
  CHECK(parse_target("image:/x/a,size=4G").path == "/x/a");
  CHECK(parse_target("image:a,size=64 MiB").size == 64 << 20);
  CHECK(parse_target("image:a,size=1MiB").size == 1 << 20);
}

TEST_CASE("a comma in the name of an image is written twice") {
  CHECK(parse_target("image:a,,b").path == "a,b");
  const Target target = parse_target("image:a,,,,b,,,size=4G");
  CHECK(target.path == "a,,b,");
  CHECK(target.size == 4ULL << 30);
}

TEST_CASE("a target is shown as it is written on the command line") {
  CHECK(parse_target("image:a.img,size=4G").text() == "image:a.img");
  CHECK(parse_target("some/dir").text() == "some/dir");
  CHECK(parse_target("with,comma").text() == "with,comma");
  const Target commas = parse_target("image:a,,b");
  CHECK(commas.text() == "image:a,,b");
  CHECK(parse_target(commas.text()).path == commas.path);
}

TEST_CASE("a name that says nothing is refused") {
  CHECK(refusal("").find("needs a name") != std::string::npos);
  CHECK(refusal("image:").find("needs a file name") != std::string::npos);
  CHECK(refusal("image:,size=4G").find("needs a file name") != std::string::npos);
}

TEST_CASE("options that an image has not are refused and named") {
  CHECK(refusal("image:a,fs=ext4").find("'fs=ext4'") != std::string::npos);
  CHECK(refusal("image:a,").find("size=4G") != std::string::npos);
  CHECK(refusal("image:a,b").find("twice") != std::string::npos);
}

TEST_CASE("sizes that are none or too small are refused") {
  CHECK(refusal("image:a,size=").find("size") != std::string::npos);
  CHECK(refusal("image:a,size=big").find("size") != std::string::npos);
  CHECK(refusal("image:a,size=-1").find("size") != std::string::npos);
  CHECK(refusal("image:a,size=4G,size=5G").find("size") != std::string::npos);
  CHECK(refusal("image:a,size=99999999999T").find("size") != std::string::npos);
  CHECK(refusal("image:a,size=4").find("too small") != std::string::npos);
  CHECK(refusal("image:a,size=0").find("too small") != std::string::npos);
}

TEST_CASE("a plain file is refused and the way to use it as an image shown") {
  const TempDir temp;
  const Descriptor made(::open((temp / "f").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  CHECK(refusal(temp / "f").find("image:" + (temp / "f")) != std::string::npos);
  CHECK_FALSE(refusal("/dev/null").empty());  // a character device is no volume
}

TEST_CASE("kinds of targets are called by their names") {
  CHECK(target_kind_name(TargetKind::directory) == "directory");
  CHECK(target_kind_name(TargetKind::image) == "image");
  CHECK(target_kind_name(TargetKind::block_device) == "block device");
}

}  // namespace
}  // namespace filereel
