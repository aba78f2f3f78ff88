#include <cerrno>
#include <initializer_list>
#include <string>

#include <doctest/doctest.h>
#include <sys/stat.h>

#include "tests/traces/recorded_calls.h"
#include "traces/calls/file_calls.h"

namespace filereel {
namespace {

struct ListEntry {
  char tag, permissions;
  std::string id = "\xff\xff\xff\xff";
};

std::string list_of(std::initializer_list<ListEntry> entries) {
  std::string value("\x02\0\0\0", 4);
  for (const ListEntry& entry : entries) {
    value += std::string{entry.tag, '\0', entry.permissions, '\0'} + entry.id;
  }
  return value;
}

const std::string kPlain = list_of({{1, 6}, {4, 4}, {32, 0}});
const std::string kNamed =
    list_of({{1, 7}, {2, 7, std::string("\xe8\x03\0\0", 4)}, {4, 5}, {16, 4}, {32, 1}});

SystemCall set_list(const std::string& name, const std::string& value, std::int64_t result = 0) {
  SystemCall call = on_file(Call::setxattr, 3, result);
  call.text = name;
  call.value = value;
  call.length = value.size();
  return call;
}

}  // namespace

TEST_CASE("the mode of an access control list is that of user, group or mask, and others") {
  REQUIRE(mode_of_access_list(kPlain));
  CHECK(mode_of_access_list(kPlain)->mode == 0640);
  CHECK(mode_of_access_list(kPlain)->is_all);
  REQUIRE(mode_of_access_list(kNamed));
  CHECK(mode_of_access_list(kNamed)->mode == 0741);
  CHECK(!mode_of_access_list(kNamed)->is_all);
}

TEST_CASE("values that are no access control list have no mode") {
  CHECK(!mode_of_access_list(""));
  CHECK(!mode_of_access_list(std::string("\x02\0\0\0", 4)));
  CHECK(!mode_of_access_list(kPlain.substr(0, 20)));
  CHECK(!mode_of_access_list(kPlain.substr(0, 27)));
  CHECK(!mode_of_access_list("\x03" + kPlain.substr(1)));
  CHECK(!mode_of_access_list(list_of({{1, 6}, {4, 4}})));
  CHECK(!mode_of_access_list(list_of({{1, 8}, {4, 4}, {32, 0}})));
  CHECK(!mode_of_access_list(list_of({{1, 6}, {4, 4}, {32, 0}, {64, 0}})));
}

TEST_CASE("access control lists are recorded as modes, and what they hold besides is counted") {
  RecordedCalls calls;
  calls.run(open_at("/a", O_RDWR, 3))
      .run(set_list("system.posix_acl_access", kPlain))
      .run(set_list("system.posix_acl_access", kNamed));
  CHECK(calls.text() ==
        "0 open a #0 flags 2\n"
        "0 chmod #0 mode 640\n"
        "0 chmod #0 mode 741\n");
  CHECK(calls.approximated("access control lists (only their mode is replayed)") == 1);
}

TEST_CASE("access control lists that have no mode remain attributes of the system") {
  RecordedCalls calls;
  calls.run(open_at("/a", O_RDWR, 3))
      .run(set_list("system.posix_acl_access", kPlain, -EOPNOTSUPP))
      .run(set_list("system.posix_acl_access", ""))
      .run(set_list("system.posix_acl_default", kNamed))
      .run(set_list("user.x", kPlain));
  CHECK(calls.text() ==
        "0 open a #0 flags 2\n"
        "0 setxattr #0 +28 'system.posix_acl_access' = -95 loose\n"
        "0 setxattr #0 +0 'system.posix_acl_access'\n"
        "0 setxattr #0 +44 'system.posix_acl_default'\n"
        "0 setxattr #0 +28 'user.x'\n");
  CHECK(calls.approximated("access control lists with unknown content (without effect)") == 1);
  CHECK(calls.approximated("default access control lists (without effect in a replay)") == 1);
}

TEST_CASE("a default access control list takes the place of the umask") {
  RecordedCalls calls;
  SystemCall umask = call_of(Call::umask, 022);
  umask.mode = 022;
  SystemCall open = open_at("/a", O_RDWR | O_CREAT, 3);
  open.mode = 0666;
  open.created = true;
  open.stat = SeenStat{.mode = S_IFREG | 0664, .size = 0};
  SystemCall other = open;  // a file system whose files have a fixed mode
  other.path = "/b";
  other.result = 4;
  other.stat->mode = S_IFREG | 0755;
  calls.run(umask).run(open).run(other);
  CHECK(calls.text() ==
        "0 open a #0 flags 102 mode 664\n"
        "0 open b #1 flags 102 mode 644\n");
}

}  // namespace filereel
