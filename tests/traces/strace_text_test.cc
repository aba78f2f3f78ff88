#include "traces/import/strace_text.h"

#include <cerrno>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "traces/import/strace_constants.h"

using namespace filereel;

namespace {

std::string unescaped(std::string_view text) {
  std::string out;
  strace_unescape(text, out);
  return out;
}

std::vector<std::string> items(std::string_view text) {
  std::vector<std::string> all;
  StraceItems from(text);
  for (std::string_view item; from.next(item);) all.emplace_back(item);
  return all;
}

struct Seen {
  int fd = 0;
  std::string path;
};

Seen descriptor(std::string_view text) {
  Seen seen;
  CHECK(strace_descriptor(text, seen.fd, seen.path));
  return seen;
}

}  // namespace

TEST_CASE("Escapes in strings are decoded to any bytes") {
  CHECK(unescaped("plain") == "plain");
  CHECK(unescaped(R"(f\n\"\\\t\377\0011x)") == "f\n\"\\\t\377\0011x");
  CHECK(unescaped(R"(\x66\x0a\xff)") == "f\n\xff");
  CHECK(unescaped(R"(zzz\0001)") == std::string("zzz\0001", 5));
  CHECK(unescaped(R"(\0)") == std::string(1, '\0'));
  CHECK(unescaped(R"(\v\f\r)") == "\v\f\r");
  CHECK(unescaped("end\\") == "end");
  CHECK(unescaped(R"(caf\303\251)") == "caf\303\251");
}

TEST_CASE("Truncated strings are marked") {
  std::string text;
  bool cut = true;
  CHECK(strace_string(R"("abc")", text, cut));
  CHECK(text == "abc");
  CHECK_FALSE(cut);
  CHECK(strace_string(R"("abc"...)", text, cut));
  CHECK(cut);
  CHECK_FALSE(strace_string("NULL", text, cut));
  CHECK_FALSE(strace_string("0x7ffe", text, cut));
  CHECK_FALSE(strace_string("\"abc", text, cut));
  CHECK_FALSE(strace_string("\"", text, cut));
}

TEST_CASE("Values are numbers in any base and flags by name") {
  CHECK(strace_value("0") == 0);
  CHECK(strace_value("-1") == UINT64_MAX);
  CHECK(strace_value("0644") == 0644);
  CHECK(strace_value("0x1000") == 0x1000);
  CHECK(strace_value("O_RDWR|O_CREAT") == (O_RDWR | O_CREAT));
  CHECK(strace_value("S_IFREG|04755") == (S_IFREG | 04755));
  CHECK(strace_value("O_RDONLY|0x10 /* O_??? */") == 0x10);
  CHECK(strace_value("0x241 /* O_WRONLY|O_CREAT|O_TRUNC */") == 0x241);
  CHECK_FALSE(strace_value("99999999999999999999999").has_value());
  CHECK_FALSE(strace_value("2013/01/01-12:00:00").has_value());
  CHECK(strace_value("MAP_PRIVATE|21<<MAP_HUGE_SHIFT") == (MAP_PRIVATE | 21 << 26));
  CHECK_FALSE(strace_value("").has_value());
  CHECK_FALSE(strace_value("{a=1}").has_value());
  bool known = true;
  CHECK(strace_value("O_RDWR|O_NEW_AND_UNKNOWN", known) == O_RDWR);
  CHECK_FALSE(known);
}

TEST_CASE("All names of errors are known, and kernel-internal ones are interruptions") {
  CHECK(strace_error("ENOENT") == ENOENT);
  CHECK(strace_error("EWOULDBLOCK") == EAGAIN);
  CHECK(strace_error("ENOTSUP") == EOPNOTSUPP);
  CHECK(strace_error("EOPNOTSUPP") == EOPNOTSUPP);
  CHECK(strace_error("EHWPOISON") == EHWPOISON);
  CHECK(strace_error("ERESTART_RESTARTBLOCK") == EINTR);
  CHECK(strace_error("ENOSUCHNAME") == 0);
}

TEST_CASE("Descriptors have the paths shown by -y") {
  CHECK(descriptor("3").fd == 3);
  CHECK(descriptor("3").path.empty());
  CHECK(descriptor("-1").fd == -1);
  CHECK(descriptor("AT_FDCWD").fd == AT_FDCWD);
  CHECK(descriptor("AT_FDCWD</tmp/d>").path == "/tmp/d");
  CHECK(descriptor(R"(4</tmp/a\76b\74c-/x\n->)").path == "/tmp/a>b<c-/x\n-");
  CHECK(descriptor("1</dev/null<char 1:3>>").path == "/dev/null");
  CHECK(descriptor("8<pipe:[418538]>").path == "pipe:[418538]");
  CHECK(descriptor("15<UNIX-STREAM:[418577->418578]>").path == "UNIX-STREAM:[418577->418578]");
  CHECK(descriptor("7</tmp/#10018884>(deleted)").path.empty());
  CHECK(descriptor("7</tmp/x (deleted)>").path.empty());
  int fd = 0;
  std::string path;
  CHECK_FALSE(strace_descriptor("NULL?", fd, path));
  CHECK_FALSE(strace_descriptor("", fd, path));
}

TEST_CASE("Members and items are found at their own depth") {
  const std::string_view text = R"({st_mode=S_IFREG|0644, in={st_size=1}, st_size=123, ...})";
  CHECK(strace_member(text, "st_size") == "123");
  CHECK(strace_member(text, "st_mode") == "S_IFREG|0644");
  CHECK(strace_member(text, "st_ino").empty());
  CHECK(strace_member("0x7ffe", "st_ino").empty());
  CHECK(items(R"([{a=1, b="x]"}, 2, ...])") ==
        std::vector<std::string>{R"({a=1, b="x]"})", "2", "..."});
  CHECK(items("[]").empty());
  CHECK(items("NULL").empty());
  CHECK(items("[1") == std::vector<std::string>{"1"});
  CHECK(items("").empty());
}
