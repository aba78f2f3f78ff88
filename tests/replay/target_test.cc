#include "replay/volumes/target.h"

#include <string>

#include <boost/filesystem.hpp>
#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/stat.h>
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

TEST_CASE("only commas before what would be an option are written twice in other names") {
  CHECK(parse_target("a,b,,c").path == "a,b,,c");
  const Target target = parse_target("dir,,size=4G");
  CHECK(target.path == "dir,size=4G");
  CHECK(target.text() == "dir,,size=4G");
  CHECK(parse_target("dir,,,,start=").path == "dir,,start=");
  CHECK(parse_target("a,size").path == "a,size");
  const Target names = parse_target(",,start=,x,,size=");
  CHECK(names.path == ",start=,x,size=");
  CHECK(parse_target(names.text()).path == names.path);
}

TEST_CASE("only block devices have parts") {
  const TempDir temp;
  for (const char* part : {",size=4G", ",start=0", ",start=1G,size=4G"}) {
    const std::string text = temp.path() + part;
    CHECK(refusal(text).find("not a block device") != std::string::npos);
    CHECK(refusal(text).find("twice") != std::string::npos);
  }
  CHECK(refusal(",size=4G").find("missing volume name") != std::string::npos);
  const auto refusal_of_device = [](const std::string& text) {
    try {
      parse_device(text);
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  for (const std::string& text : {temp.path(), std::string("/dev/null"), temp / "none",
                                  "image:" + (temp / "a"), temp.path() + ",size=1G"}) {
    CHECK(refusal_of_device(text).find("no such block device") != std::string::npos);
  }
}

// Any block device does: nothing is opened.
std::string block_device() {
  boost::system::error_code ignored;
  for (const auto& entry : boost::filesystem::directory_iterator("/dev", ignored)) {
    if (entry.status(ignored).type() == boost::filesystem::block_file) return entry.path().string();
  }
  return "";
}

TEST_CASE("a part of a block device has a start and a size" * doctest::skip(block_device() == "")) {
  const std::string device = block_device();
  const Target whole = parse_target(device);
  CHECK(whole.kind == TargetKind::block_device);
  CHECK_FALSE(whole.is_part());
  CHECK(whole.text() == device);
  const Target part = parse_target(device + ",start=32G,size=64 MiB");
  CHECK(part.kind == TargetKind::block_device);
  CHECK(part.path == device);
  CHECK(part.start == 32ULL << 30);
  CHECK(part.size == 64 << 20);
  CHECK(part.is_part());
  CHECK(part.text() == device + ",start=32GiB,size=64MiB");
  CHECK(parse_target(part.text()).start == part.start);
  CHECK(parse_target(device + ",size=1G,start=4096").start == 4096);
  CHECK(parse_target(device + ",size=1G").text() == device + ",start=0,size=1GiB");
  CHECK(parse_target(device + ",start=1M").text() == device + ",start=1MiB");
  CHECK_FALSE(parse_target(device + ",start=0").is_part());
  CHECK(parse_device(part.text()).size == part.size);

  CHECK(refusal(device + ",start=1000,size=1G").find("multiple of 4096") != std::string::npos);
  CHECK(refusal(device + ",size=1000000").find("multiple of 4096") != std::string::npos);
  CHECK(refusal(device + ",size=0").find("too small") != std::string::npos);
  CHECK(refusal(device + ",size=4096").find("too small") != std::string::npos);
  CHECK(refusal(device + ",size=").find("size") != std::string::npos);
  CHECK(refusal(device + ",start=x").find("start") != std::string::npos);
  for (const char* wrong : {",size=1G,size=2G", ",size=1G,", ",start=0,fs=ext4", ",size=1G,,x"}) {
    CHECK(refusal(device + wrong).find("invalid part") != std::string::npos);
  }
}

TEST_CASE("a name that says nothing is refused") {
  CHECK(refusal("").find("missing volume name") != std::string::npos);
  CHECK(refusal("image:").find("missing file name") != std::string::npos);
  CHECK(refusal("image:,size=4G").find("missing file name") != std::string::npos);
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

TEST_CASE("what holds no files is refused by its kind") {
  const TempDir temp;
  CHECK(refusal("/dev/null") ==
        "/dev/null is a character device; use a directory, image:FILE or a block device");
  CHECK(refusal("image:/dev/null") ==
        "image:/dev/null is a character device; name a file for the image");
  REQUIRE(mkfifo((temp / "pipe").c_str(), 0600) == 0);
  CHECK(refusal(temp / "pipe")
            .ends_with("pipe is a pipe; use a directory, image:FILE or a block device"));
  CHECK(refusal("image:" + temp.path()) == "image:" + temp.path() +
                                               " is a directory; for a volume on it, use " +
                                               temp.path() + " without image:");
  boost::filesystem::create_symlink("loop", temp / "loop");
  CHECK(refusal(temp / "loop").find("Too many levels of symbolic links; use a directory") !=
        std::string::npos);
  boost::filesystem::create_symlink("nothing", temp / "dangling");
  CHECK(refusal(temp / "dangling").find("is a symbolic link to nothing") != std::string::npos);
  CHECK(refusal(temp / "pipe/below").find("Not a directory; use a directory") != std::string::npos);
}

TEST_CASE("kinds of targets are called by their names") {
  CHECK(target_kind_name(TargetKind::directory) == "directory");
  CHECK(target_kind_name(TargetKind::image) == "image");
  CHECK(target_kind_name(TargetKind::block_device) == "block device");
}

}  // namespace
}  // namespace filereel
