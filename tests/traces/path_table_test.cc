#include "traces/path_table.h"

#include <string>
#include <vector>

#include <doctest/doctest.h>

namespace filereel {
namespace {

TEST_CASE("a path gets one number however often it is added") {
  PathTable table;
  const PathId id = table.add(Role::near, "a/b/c");
  CHECK(table.add(Role::near, "a/b/c") == id);
  CHECK(table.add(Role::near, "a/b/d") != id);
  CHECK(table.add(Role::near, "a/b") == table.node(id).parent);
}

TEST_CASE("the parents of a path are interned with it") {
  PathTable table;
  const std::size_t before = table.size();
  const PathId id = table.add(Role::near, "a/b/c");
  CHECK(table.size() == before + 3);
  CHECK(table.node(id).name == "c");
  CHECK(table.relative(table.node(id).parent) == "a/b");
  CHECK(table.node(table.add(Role::near, "a")).parent == PathTable::root(Role::near));
}

TEST_CASE("the same path on the two volumes is two paths") {
  PathTable table;
  const PathId near = table.add(Role::near, "x/y");
  const PathId far = table.add(Role::far, "x/y");
  CHECK(near != far);
  CHECK(table.node(near).role == Role::near);
  CHECK(table.node(far).role == Role::far);
  CHECK(table.node(table.node(far).parent).role == Role::far);
  CHECK(table.relative(near) == table.relative(far));
}

TEST_CASE("a root is its own parent and written as a dot") {
  const PathTable table;
  for (const Role role : {Role::near, Role::far}) {
    const PathId root = PathTable::root(role);
    CHECK(table.node(root).parent == root);
    CHECK(table.node(root).role == role);
    CHECK(table.node(root).name.empty());
    CHECK(table.relative(root) == ".");
  }
}

TEST_CASE("a number yields its path") {
  PathTable table;
  const std::vector<std::string> paths = {
      "a", "a/b", "ab", "a b/\n/\xff", "%2e%2e/x", std::string(255, 'n') + "/" + "deep/er"};
  std::vector<PathId> ids;
  for (const std::string& path : paths) ids.push_back(table.add(Role::far, path));
  for (std::size_t i = 0; i < paths.size(); ++i) CHECK(table.relative(ids[i]) == paths[i]);
}

TEST_CASE("names keep their addresses while thousands more are added") {
  PathTable table;
  const PathId first = table.add(Role::near, "d/first");
  const char* const name = table.node(first).name.data();
  std::vector<PathId> ids;
  for (int i = 0; i < 20'000; ++i) {
    ids.push_back(table.add(Role::near, "d/" + std::to_string(i % 100) + "/" + std::to_string(i)));
  }
  CHECK(table.node(first).name.data() == name);
  CHECK(table.size() == 2 + 2 + 100 + 20'000);
  CHECK(table.relative(ids[12'345]) == "d/45/12345");
  CHECK(table.add(Role::near, "d/45/12345") == ids[12'345]);
}

TEST_CASE("roles are called near, far, far-2 and so on, and are found by these names") {
  CHECK(role_name(Role::near) == "near");
  CHECK(role_name(Role::far) == "far");
  CHECK(role_name(Role::far_7) == "far-7");
  for (std::size_t i = 0; i < kRoles; ++i) {
    const auto role = static_cast<Role>(i);
    CHECK(parse_role(role_name(role)) == role);
  }
  CHECK_FALSE(parse_role("far-8"));
  CHECK_FALSE(parse_role(""));
}

TEST_CASE("an unlisted path has a name and a parent but is not found") {
  PathTable table;
  const PathId top = table.append_unlisted(PathTable::root(Role::far), "top");
  const PathId file = table.append_unlisted(top, "file");
  const PathId other = table.append_unlisted(PathTable::root(Role::near), "other");
  const PathId same = table.append_unlisted(other, file);
  CHECK(table.relative(file) == "top/file");
  CHECK(table.node(file).role == Role::far);
  CHECK(table.relative(same) == "other/file");
  CHECK(table.node(same).role == Role::near);
  CHECK(table.node(same).name.data() == table.node(file).name.data());
  CHECK(table.find(top, "file") == PathTable::kNone);
  CHECK(table.add(top, "file") != file);
}

}  // namespace
}  // namespace filereel
