#include "filesets/ownership/output_stream.h"

#include <fstream>
#include <iterator>
#include <string>
#include <thread>

#include <boost/filesystem.hpp>
#include <doctest/doctest.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "filesets/ownership/atomic_file.h"
#include "filesets/system/error.h"
#include "tests/temp_dir.h"

namespace filereel {
namespace {

namespace fs = boost::filesystem;

std::string text_of(int descriptor) {
  std::string text(1000, '\0');
  const ssize_t size = read(descriptor, text.data(), text.size());
  text.resize(size < 0 ? 0 : static_cast<std::size_t>(size));
  return text;
}

std::string refusal(const std::string& path) {
  try {
    const AtomicFile file(path);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

struct Pipe {
  Pipe() {
    int ends[2];
    REQUIRE(pipe2(ends, O_CLOEXEC) == 0);
    reading.reset(ends[0]);
    writing.reset(ends[1]);
  }
  Descriptor reading, writing;
};

TEST_CASE("standard output and other descriptors are known by all of their names") {
  const TempDir temp;
  fs::create_symlink("/dev/stdout", temp / "link");
  fs::create_symlink("link", temp / "to_link");
  for (const std::string& name :
       {std::string("-"), std::string("/dev/stdout"), std::string("/dev/fd/1"),
        std::string("/proc/self/fd/1"), std::string("/proc/thread-self/fd/1"),
        fmt::format("/proc/{}/fd/1", getpid()), temp / "to_link"}) {
    CAPTURE(name);
    CHECK(own_descriptor(name) == 1);
    CHECK(names_stream(name));
  }
  CHECK(own_descriptor("/dev/fd/63") == 63);
  CHECK(own_descriptor("/dev/stderr") == 2);
  fs::create_symlink("loop", temp / "loop");
  for (const std::string& name :
       {temp / "missing", temp / "loop", temp.path(), std::string(), std::string("1"),
        std::string("/dev/fd/1x"), std::string("/proc/1/fd/1/x")}) {
    CAPTURE(name);
    CHECK_FALSE(own_descriptor(name));
    CHECK_FALSE(names_stream(name));
  }
  std::ofstream(temp / "file") << "x";
  CHECK_FALSE(names_stream(temp / "file"));
  CHECK(names_stream("/dev/null"));
}

TEST_CASE("a stream gets the whole content once, at the end") {
  const Pipe pipe;
  AtomicFile file(fmt::format("/dev/fd/{}", pipe.writing.get()));
  file.write("one ");
  file.write("two");
  CHECK(fcntl(pipe.reading.get(), F_SETFL, O_NONBLOCK) == 0);
  CHECK(text_of(pipe.reading.get()).empty());
  CHECK(file.commit().empty());
  CHECK(text_of(pipe.reading.get()) == "one two");
  AtomicFile(fmt::format("/dev/fd/{}", pipe.writing.get())).write("not committed");
  CHECK(text_of(pipe.reading.get()).empty());
}

TEST_CASE("a descriptor of a file goes on where it is, and a device takes everything") {
  const TempDir temp;
  const Descriptor out(open((temp / "a").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  REQUIRE(write(out.get(), "before ", 7) == 7);
  AtomicFile file(fmt::format("/proc/self/fd/{}", out.get()));
  file.write("after");
  CHECK(file.commit().empty());
  std::ifstream in(temp / "a");
  CHECK(std::string(std::istreambuf_iterator<char>(in), {}) == "before after");
  AtomicFile null("/dev/null");
  null.write("lost");
  CHECK(null.commit().empty());
  CHECK_FALSE(AtomicFile("/dev/null").commit_new());
}

TEST_CASE("a named pipe is opened only for the content") {
  const TempDir temp;
  REQUIRE(mkfifo((temp / "pipe").c_str(), 0600) == 0);
  {
    const AtomicFile check(temp / "pipe");
  }  // would wait for a reader
  std::string seen;
  std::thread reader([&] {
    const Descriptor in(open((temp / "pipe").c_str(), O_RDONLY | O_CLOEXEC));
    seen = text_of(in.get());
  });
  AtomicFile file(temp / "pipe");
  file.write("text");
  CHECK(file.commit().empty());
  reader.join();
  CHECK(seen == "text");
}

TEST_CASE("what cannot be written is refused before anything is written") {
  const TempDir temp;
  const Pipe pipe;
  CHECK(refusal(fmt::format("/dev/fd/{}", pipe.reading.get()))
            .ends_with("is not open for writing; name a file"));
  CHECK(refusal("/dev/fd/999").ends_with("descriptor 999 is not open; name a file"));
  const Descriptor socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un name{.sun_family = AF_UNIX, .sun_path = {}};
  const std::string path = temp / "socket";
  path.copy(name.sun_path, sizeof name.sun_path - 1);
  REQUIRE(bind(socket.get(), reinterpret_cast<const sockaddr*>(&name), sizeof name) == 0);
  CHECK(refusal(path).ends_with("is a socket, which cannot be opened; name a file or a pipe"));
  if (getuid() == 0 && mknod((temp / "block").c_str(), S_IFBLK | 0600, 0) == 0) {
    CHECK(refusal(temp / "block").find("is a block device") != std::string::npos);
  }
}

}  // namespace
}  // namespace filereel
