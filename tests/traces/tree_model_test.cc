// Which files exist, before, now and after; their sizes are in file_data_test.cc.
#include "traces/model/tree_model.h"

#include <cerrno>
#include <string>

#include <doctest/doctest.h>
#include <linux/fs.h>
#include <unistd.h>

#include "tests/entries.h"
#include "tests/traces/tale.h"
#include "traces/open_flags.h"

namespace filereel {
namespace {

using enum TreeModel::Presence;

std::uint32_t mode_of(const FileSet& set, std::string_view path) {
  for (const Entry& entry : set.entries) {
    if (entry.path == path) return entry.mode;
  }
  return 0;
}

TEST_CASE("an opened file existed before, with its parent directories") {
  Tale tale;
  tale.open(0, "a/b/f", O_RDONLY);
  CHECK(tale.initial() == "a/ a/b/ a/b/f=0");
  CHECK(tale.final() == tale.initial());
  CHECK(tale.model().is_directory(tale.path("a/b")));
  CHECK_FALSE(tale.model().is_directory(tale.path("a/b/f")));
}

TEST_CASE("kinds of initial files follow from operations on them") {
  Tale tale;
  tale.chdir("changed");
  tale.open(0, "opened", O_RDONLY | open_flags::kDirectory);
  tale.open(1, "listed", O_RDONLY);
  tale.add(Tale::on_file(OperationKind::list, 1));
  tale.open(2, "refused", O_RDONLY);
  tale.read(2, 0, 10, -EISDIR);
  tale.open(3, "written", O_WRONLY);
  tale.exec("run");
  tale.readlink("link", "there");
  tale.stat("seen", S_IFDIR | 0755);
  tale.stat("shown", S_IFLNK | 0777);
  tale.access("touched", R_OK);
  CHECK(tale.initial() ==
        "changed/ link>there listed/ opened/ refused/ run=0 seen/ shown>filereel-unknown "
        "touched=0 written=0");
}

TEST_CASE("something of unknown kind turns into a directory when a path runs through it") {
  Tale tale;
  tale.open(0, "d", O_RDONLY);
  tale.stat("d/f", S_IFREG | 0644, 7);
  CHECK(tale.initial() == "d/ d/f=7");
}

TEST_CASE("a name found missing is absent, and its directory is not invented") {
  Tale tale;
  CHECK(tale.model().presence(tale.path("a/b")) == unknown);
  tale.stat_missing("a/b");
  CHECK(tale.model().presence(tale.path("a/b")) == absent);
  CHECK(tale.model().presence(tale.path("a/b/c")) == absent);
  CHECK(tale.model().presence(tale.path("a/c")) == unknown);
  CHECK(tale.model().presence(tale.path("a")) == unknown);
  CHECK(tale.initial().empty());
  CHECK(tale.builder.trees().absent == 1);
}

TEST_CASE("a name found missing stays absent when its directory is found") {
  Tale tale;
  tale.stat_missing("a/b/c");
  tale.chdir("a/b");
  CHECK(tale.model().presence(tale.path("a/b/c")) == absent);
  tale.open(0, "a/b/c", O_WRONLY | O_CREAT);
  CHECK(tale.initial() == "a/ a/b/");
  CHECK(tale.final() == "a/ a/b/ a/b/c=0");
}

TEST_CASE("a name that cannot be created without its directory leaves the directory absent") {
  Tale tale;
  tale.open(0, "a/f", O_WRONLY | O_CREAT, -ENOENT);
  CHECK(tale.model().presence(tale.path("a")) == absent);
  tale.mkdir("b/d", -ENOENT);
  CHECK(tale.model().presence(tale.path("b")) == absent);
  tale.mkdir("a");
  tale.open(0, "a/f", O_WRONLY | O_CREAT);
  CHECK(tale.initial().empty());
  CHECK(tale.final() == "a/ a/f=0");
}

TEST_CASE("files created by the trace did not exist before") {
  Tale tale;
  tale.mkdir("d");
  tale.open(0, "d/f", O_WRONLY | O_CREAT | O_EXCL);
  tale.symlink("f", "d/l");
  CHECK(tale.initial().empty());
  CHECK(tale.final() == "d/ d/f=0 d/l>f");
  CHECK(tale.builder.trees().absent == 1);  // what lies below d cannot be there
}

TEST_CASE("a directory created by the trace contains only what the trace created in it") {
  Tale tale;
  tale.mkdir("d");
  CHECK(tale.model().presence(tale.path("d/f")) == absent);
  CHECK(tale.model().presence(tale.path("d/e/f")) == absent);
  CHECK(tale.model().presence(tale.path("f")) == unknown);
  tale.rename("d", "e");
  CHECK(tale.model().presence(tale.path("e/f")) == absent);
  CHECK(tale.model().presence(tale.path("d")) == absent);
}

TEST_CASE("failing to create a name with EEXIST shows that it exists") {
  Tale tale;
  tale.mkdir("d", -EEXIST);
  tale.open(0, "f", O_WRONLY | O_CREAT | O_EXCL, -EEXIST);
  tale.symlink("x", "s", -EEXIST);
  tale.open(0, "old", O_RDONLY);
  tale.link("old", "l", -EEXIST);
  tale.rename("old", "r", RENAME_NOREPLACE, -EEXIST);
  CHECK(tale.initial() == "d/ f=0 l=0 old=0 r=0 s=0");
}

TEST_CASE("the assumption that mkdir found a directory is replaced by evidence") {
  Tale tale;
  tale.mkdir("d", -EEXIST);
  CHECK(tale.model().is_directory(tale.path("d")));
  tale.open(0, "d", O_RDWR);
  CHECK(tale.initial() == "d=0");
}

TEST_CASE("a call overlapping the creation of its file does not make the file initial") {
  Tale tale;
  tale.mkdir("d", -EEXIST);
  tale.mkdir("d");
  tale.access("f", R_OK);
  const FileId file = tale.open(0, "f", O_WRONLY | O_CREAT | O_EXCL).entry;
  CHECK(tale.kept.operations[2].operation.entry == file);
  CHECK(tale.initial().empty());
  CHECK(tale.final() == "d/ f=0");
}

TEST_CASE("a file of unknown existence opened with O_CREAT was created by the trace") {
  Tale tale;
  tale.open(0, "f", O_RDWR | O_CREAT);
  tale.stat_file(0, S_IFREG | 0644, 0);
  tale.read(0, 0, 100, 0);
  tale.write(0, 0, 10);
  tale.read(0, 0, 10);
  CHECK(tale.initial().empty());
  CHECK(tale.final() == "f=10");
}

TEST_CASE("a file opened with O_CREAT existed before if it contains unwritten bytes") {
  Tale tale;
  tale.open(0, "read", O_RDWR | O_CREAT);
  tale.read(0, 0, 100);
  tale.open(1, "seen", O_RDWR | O_CREAT);
  tale.stat_file(1, S_IFREG | 0600, 500);
  tale.open(2, "appended", O_WRONLY | O_CREAT | O_APPEND);
  tale.write(2, 70, 10);
  tale.open(3, "truncated", O_RDWR | O_CREAT | O_TRUNC);
  tale.stat_file(3, S_IFREG | 0600, 500);
  CHECK(tale.initial() == "appended=70 read=100 seen=500");
}

TEST_CASE("a file that turns out to be initial was at its first path") {
  Tale tale;
  tale.open(0, "a/f", O_RDWR | O_CREAT);
  tale.rename("a/f", "a/g");
  tale.read(0, 0, 100);
  CHECK(tale.initial() == "a/ a/f=100");
  CHECK(tale.final() == "a/ a/g=100");
}

TEST_CASE("a removed or renamed file existed before and is absent now") {
  Tale tale;
  tale.unlink("f");
  tale.rmdir("d");
  tale.rename("a", "b");
  CHECK(tale.initial() == "a=0 d/ f=0");
  CHECK(tale.final() == "b=0");
  for (const char* name : {"f", "d", "a"}) {
    CHECK(tale.model().presence(tale.path(name)) == absent);
  }
}

TEST_CASE("renaming a directory moves everything known below it") {
  Tale tale;
  tale.mkdir("a");
  tale.mkdir("a/d");
  const FileId file = tale.open(0, "a/d/f", O_WRONLY | O_CREAT).entry;
  tale.stat_missing("a/none");
  tale.rename("a", "z/b");
  CHECK(tale.model().file_of(tale.path("z/b/d/f")) == file);
  CHECK(tale.model().presence(tale.path("z/b/none")) == absent);
  CHECK(tale.model().presence(tale.path("a/d/f")) == absent);
  CHECK(tale.final() == "z/ z/b/ z/b/d/ z/b/d/f=0");
  tale.mkdir("a");
  CHECK(tale.model().presence(tale.path("a/d")) == absent);
}

TEST_CASE("unknown children of a renamed directory were where it was before") {
  Tale tale;
  tale.rename("d1", "d2");
  CHECK(tale.model().presence(tale.path("d2/f")) == unknown);
  tale.open(0, "d2/f", O_RDONLY);
  tale.rename("d2", "d3");
  tale.open(1, "d3/sub/g", O_RDONLY);
  CHECK(tale.initial() == "d1/ d1/f=0 d1/sub/ d1/sub/g=0");
  CHECK(tale.final() == "d3/ d3/f=0 d3/sub/ d3/sub/g=0");
}

TEST_CASE("names can rotate in a cycle") {
  Tale tale;
  tale.open(0, "a/f", O_RDONLY);
  tale.open(1, "b/g", O_RDONLY);
  tale.rename("a", "t");
  tale.rename("b", "a");
  tale.rename("t", "b");
  CHECK(tale.initial() == "a/ a/f=0 b/ b/g=0");
  CHECK(tale.final() == "a/ a/g=0 b/ b/f=0");
}

TEST_CASE("renaming over a file or a directory replaces it") {
  Tale tale;
  tale.open(0, "f", O_RDONLY);
  const FileId over = tale.open(1, "g", O_RDONLY).entry;
  tale.rename("g", "f");
  CHECK(tale.model().file_of(tale.path("f")) == over);
  tale.mkdir("d");
  tale.mkdir("e");
  tale.open(2, "e/x", O_WRONLY | O_CREAT);
  tale.rename("e", "d");
  CHECK(tale.initial() == "f=0 g=0");
  CHECK(tale.final() == "d/ d/x=0 f=0");
}

TEST_CASE("renaming to itself, or to another name of the same file, does nothing") {
  Tale tale;
  tale.open(0, "f", O_RDONLY);
  tale.rename("f", "f");
  tale.link("f", "g");
  tale.rename("f", "g");
  CHECK(tale.final() == "f=0 g~f");
}

TEST_CASE("an exchange swaps files, and directories with their content") {
  Tale tale;
  tale.open(0, "d/f", O_RDONLY);
  tale.open(1, "e/g", O_RDONLY);
  tale.rename("d", "e", RENAME_EXCHANGE);
  CHECK(tale.final() == "d/ d/g=0 e/ e/f=0");
  tale.rename("d/g", "e", RENAME_EXCHANGE);
  CHECK(tale.final() == "d/ d/g/ d/g/f=0 e=0");
  tale.open(2, "d/g/new", O_RDONLY);
  CHECK(tale.initial() == "d/ d/f=0 d/new=0 e/ e/g=0");
}

TEST_CASE("a directory never moves into itself") {
  Tale tale;
  tale.mkdir("a");
  tale.mkdir("a/b");
  tale.rename("a", "a/b/c");
  CHECK(tale.final() == "a/ a/b/");
  tale.rename("a", "a/b", RENAME_EXCHANGE);
  CHECK(tale.final() == "a/ a/b/");
  tale.rename("a/b", "a");
  CHECK(tale.final() == "a/ a/b/");
}

TEST_CASE("hard links share a file across renames") {
  Tale tale;
  const FileId file = tale.open(0, "f", O_RDWR | O_CREAT | O_EXCL).entry;
  CHECK(tale.link("f", "g").entry == file);
  tale.unlink("f");
  tale.write(0, 0, 5);
  tale.rename("g", "h");
  tale.link("h", "i");
  CHECK(tale.model().file_of(tale.path("i")) == file);
  CHECK(tale.final() == "h=5 i~h");
}

TEST_CASE("a file without a name gets one by a link") {
  Tale tale;
  const FileId file = tale.open(0, "d", open_flags::kTemporary | O_RDWR).entry;
  tale.write(0, 0, 9);
  CHECK(tale.final() == "d/");
  CHECK(tale.link_file(0, "d/f").entry == file);
  CHECK(tale.initial() == "d/");
  CHECK(tale.final() == "d/ d/f=9");
}

TEST_CASE("a removed file lives on while it is open") {
  Tale tale;
  const FileId file = tale.open(0, "f", O_RDWR | O_CREAT | O_EXCL).entry;
  tale.unlink("f");
  tale.write(0, 0, 100);
  CHECK(tale.model().size(file) == 100);
  CHECK(tale.model().file_of_slot(0) == file);
  CHECK(tale.open(1, "f", O_RDWR | O_CREAT).entry == file + 1);
  tale.close(0);
  CHECK(tale.model().size(file) == 0);
  CHECK(tale.final() == "f=0");
}

TEST_CASE("a directory found not empty gets a child") {
  Tale tale;
  tale.rmdir("d", -ENOTEMPTY);
  tale.rename("x", "e", 0, -ENOTEMPTY);
  CHECK(tale.initial() == "d/ d/filereel-filler=0 e/ e/filereel-filler=0");
  CHECK(tale.final() == tale.initial());
}

TEST_CASE("no child is invented if one is known or found later") {
  Tale tale;
  tale.open(0, "a/f", O_RDONLY);
  tale.rmdir("a", -ENOTEMPTY);
  tale.rmdir("b", -ENOTEMPTY);
  tale.unlink("b/g");
  tale.rmdir("b");
  tale.rmdir("c", -ENOTEMPTY);
  tale.rmdir("c");
  CHECK(tale.initial() == "a/ a/f=0 b/ b/g=0 c/");
  CHECK(tale.final() == "a/ a/f=0");
}

TEST_CASE("errors reveal kinds") {
  Tale tale;
  tale.open(0, "dir", O_WRONLY, -EISDIR);
  tale.open(0, "file", O_RDONLY | open_flags::kDirectory, -ENOTDIR);
  tale.stat("under/x", 0);
  tale.simple(OperationKind::stat, "under/file/x", -ENOTDIR);
  tale.open(0, "link", O_RDONLY | open_flags::kNoFollow, -ELOOP);
  tale.simple(OperationKind::read_link, "plain", -EINVAL);
  tale.simple(OperationKind::get_xattr, "bare", -ENODATA);
  tale.access("locked", X_OK, -EACCES);
  CHECK(tale.initial() ==
        "bare=0 dir/ file=0 link>filereel-unknown locked=0 plain=0 under/ under/file=0 under/x=0");
}

TEST_CASE("a name found missing that exists later was created unseen") {
  Tale tale;
  tale.stat_missing("f");
  tale.open(0, "f", O_RDONLY);
  CHECK(tale.initial() == "f=0");
  CHECK(tale.builder.trees().absent == 0);
  tale.mkdir("d");
  tale.open(1, "d/g", O_RDONLY);  // nothing can have been in d before there was d
  CHECK(tale.initial() == "f=0");
  CHECK(tale.final() == "d/ d/g=0 f=0");
}

TEST_CASE("a failed operation does not remove known files") {
  Tale tale;
  tale.open(0, "f", O_RDONLY);
  tale.stat_missing("f");
  tale.unlink("f", -ENOENT);
  CHECK(tale.final() == "f=0");
}

TEST_CASE("the target of a symbolic link is known") {
  Tale tale;
  CHECK_FALSE(tale.model().link_text(tale.path("s")).has_value());
  tale.model().learn_link(tale.path("s"), tale.text("to/there"));
  CHECK(tale.model().link_text(tale.path("s")) == tale.text("to/there"));
  tale.symlink("elsewhere", "made");
  CHECK(tale.model().link_text(tale.path("made")) == tale.text("elsewhere"));
  tale.rename("s", "t");
  CHECK(tale.model().link_text(tale.path("t")) == tale.text("to/there"));
  CHECK_FALSE(tale.model().link_text(tale.path("s")).has_value());
  CHECK(tale.initial() == "s>to/there");
  CHECK(tale.final() == "made>elsewhere t>to/there");
}

TEST_CASE("the last change of a name includes the state before") {
  Tale tale;
  CHECK_FALSE(tale.model().last_change(tale.path("f")).has_value());
  tale.open(0, "f", O_RDONLY);
  CHECK_FALSE(tale.model().last_change(tale.path("f")).has_value());
  tale.unlink("f");
  REQUIRE(tale.model().last_change(tale.path("f")).has_value());
  CHECK(tale.model().last_change(tale.path("f"))->position == 1);
  CHECK(tale.model().last_change(tale.path("f"))->before == present);
  tale.mkdir("f");
  CHECK(tale.model().last_change(tale.path("f"))->position == 2);
  CHECK(tale.model().last_change(tale.path("f"))->before == absent);
  tale.rename("f", "g");
  CHECK(tale.model().last_change(tale.path("f"))->before == present);
  CHECK(tale.model().last_change(tale.path("g"))->before == unknown);
  CHECK(tale.model().last_change(tale.path("g/x"))->position == 3);
}

TEST_CASE("FileIds are dense in the order in which files appear") {
  Tale tale;
  CHECK(tale.open(0, "d/f", O_RDONLY).entry == 1);  // d is 0
  CHECK(tale.open(1, "g", O_WRONLY | O_CREAT).entry == 2);
  CHECK(tale.open(2, "d/f", O_RDONLY).entry == 1);
  tale.mkdir("e");
  CHECK(tale.stat("e", S_IFDIR).entry == 3);
  CHECK(tale.model().files() == 4);
  CHECK(tale.builder.trees().initial.entries[1].content.key == 1);
  CHECK(tale.builder.trees().initial.entries[1].content.compressed_permille ==
        kTraceCompressedPermille);
}

TEST_CASE("operations name the file that they work on") {
  Tale tale;
  const FileId file = tale.open(4, "f", O_RDWR).entry;
  for (const OperationKind kind : {OperationKind::sync, OperationKind::lock, OperationKind::seek}) {
    CHECK(tale.add(Tale::on_file(kind, 4)).entry == file);
  }
  for (const OperationKind kind : {OperationKind::stat, OperationKind::set_times,
                                   OperationKind::get_xattr, OperationKind::change_mode}) {
    CHECK(tale.simple(kind, "f").entry == file);
    CHECK(tale.add(Tale::on_file(kind, 4)).entry == file);
  }
  CHECK(tale.map(2, 4, 1, 1, 0, 4096).entry == file);
  CHECK(tale.on_mapping(OperationKind::fault, 2, 0, 0, 4096).entry == file);
  CHECK(tale.on_mapping(OperationKind::sync_map, 2).entry == file);
  CHECK(tale.on_mapping(OperationKind::unmap, 2).entry == file);
  CHECK(tale.on_mapping(OperationKind::unmap, 2).entry == kNoFileId);
  CHECK(tale.rename("f", "g").entry == file);
  CHECK(tale.open(5, "g", O_WRONLY | O_CREAT | O_EXCL, -EEXIST).entry == file);
  CHECK(tale.stat_missing("f").entry == kNoFileId);
  CHECK(tale.unlink("g").entry == file);
  CHECK(tale.close(4).entry == file);
  CHECK(tale.close(4).entry == kNoFileId);
}

TEST_CASE("operations on closed slots change nothing") {
  Tale tale;
  tale.read(3, 0, 100);
  tale.write(3, 0, 100);
  tale.truncate(3, 7);
  tale.copy(3, 0, 4, 0, 10);
  tale.close(UINT32_MAX - 1);
  tale.open(UINT32_MAX - 1, "f", O_RDONLY);
  tale.on_mapping(OperationKind::fault, 99, 1, 0, 10);
  CHECK(tale.initial().empty());
  CHECK(tale.model().files() == 0);
}

TEST_CASE("modes are those seen before the first change, and always permit the owner") {
  Tale tale;
  tale.stat("seen", S_IFREG | 04755, 1);
  tale.chmod("seen", 0400);
  tale.stat("seen", S_IFREG | 0400, 1);
  tale.stat("dir", S_IFDIR | 01555);
  tale.exec("program");
  tale.chmod("changed", 0444);
  tale.stat("changed", S_IFREG | 0444);
  tale.open(0, "plain/f", O_RDONLY);
  tale.open(1, "made", O_WRONLY | O_CREAT | O_EXCL, 0, 0640);
  const TraceTrees trees = tale.builder.trees();
  CHECK(mode_of(trees.initial, "seen") == 0755);
  CHECK(mode_of(trees.final, "seen") == 0600);
  CHECK(mode_of(trees.initial, "dir") == 0755);
  CHECK(mode_of(trees.initial, "program") == 0755);
  CHECK(mode_of(trees.initial, "changed") == 0644);
  CHECK(mode_of(trees.initial, "plain") == 0755);
  CHECK(mode_of(trees.initial, "plain/f") == 0644);
  CHECK(mode_of(trees.final, "made") == 0640);
}

TEST_CASE("a known tree exists from the start") {
  Tale tale;
  tale.model().begin_with(
      set_of({directory("d"), file("d/f", 100), file("d/g", 5),
              link_to(EntryKind::hard_link, "h", "d/f"), link_to(EntryKind::symlink, "s", "d/f")}));
  CHECK(tale.model().files() == 4);
  CHECK(tale.model().file_of(tale.path("d/g")) == 2);
  CHECK(tale.model().size_is_exact(1));
  CHECK(tale.model().size(1) == 100);
  CHECK(tale.model().presence(tale.path("d/other")) == unknown);
  CHECK(tale.initial() == "d/ d/f=100 d/g=5 h~d/f s>d/f");
  CHECK(tale.open(0, "h", O_WRONLY).entry == 1);
  tale.write(0, 100, 50);
  tale.unlink("d/f");
  CHECK(tale.initial() == "d/ d/f=100 d/g=5 h~d/f s>d/f");
  CHECK(tale.final() == "d/ d/g=5 h=150 s>d/f");
}

TEST_CASE("a path with a missing child is a directory") {
  Tale tale;
  tale.simple(OperationKind::read_link, "lib32", -EINVAL);
  tale.simple(OperationKind::stat, "lib32/x", -ENOENT);
  CHECK(tale.initial() == "lib32/");
}

TEST_CASE("a known tree can be in a directory") {
  Tale tale;
  tale.model().begin_with(
      set_of({directory("d"), file("d/f", 100), link_to(EntryKind::hard_link, "h", "d/f")}),
      tale.path("srv/data"));
  CHECK(tale.model().is_directory(tale.path("srv")));
  CHECK(tale.model().size(tale.model().file_of(tale.path("srv/data/h"))) == 100);
  CHECK(tale.initial() == "srv/ srv/data/ srv/data/d/ srv/data/d/f=100 srv/data/h~srv/data/d/f");
}

TEST_CASE("the start of a known tree is never replaced") {
  Tale tale;
  tale.model().begin_with(set_of({directory("d")}));
  tale.mkdir("d");
  CHECK(tale.initial() == "d/");
}

TEST_CASE("holes of a known tree are kept and are not data") {
  Tale tale;
  tale.model().begin_with(set_of({sparse_file("f", 1000, {{100, 200}})}));
  tale.open(0, "f", O_RDONLY);
  CHECK_FALSE(tale.read(0, 0, 100).hole);
  CHECK(tale.read(0, 50, 100).hole);
  CHECK_FALSE(tale.read(0, 300, 700).hole);
  CHECK(tale.builder.trees().initial.entries[0].holes == std::vector<Hole>{{100, 200}});
}

TEST_CASE("device nodes are omitted from trees") {
  Tale tale;
  tale.simple(OperationKind::make_node, "d/null");
  CHECK(tale.final() == "d/");
  CHECK(tale.model().presence(tale.path("d/null")) == present);
}

TEST_CASE("names that no file system accepts are omitted from trees") {
  Tale tale;
  for (const std::string& name : {std::string(".."), std::string("."), std::string("a/b"),
                                  std::string("a\0b", 3), std::string(256, 'n')}) {
    Operation operation = tale.on_path(OperationKind::open, "");
    operation.path = tale.tables.paths.add(tale.tables.paths.append(0, name), "below");
    operation.file = 0;
    tale.add(operation);
  }
  CHECK(tale.initial().empty());
}

TEST_CASE("the total size of a tree never exceeds the limit") {
  Tale tale;
  for (FileSlot slot = 0; slot < 3; ++slot) {
    tale.open(slot, "f" + std::to_string(slot), O_RDWR);
    tale.read(slot, std::uint64_t{1} << 62, 100);
  }
  CHECK_NOTHROW(check_file_set(tale.builder.trees().initial));
  CHECK_NOTHROW(check_file_set(tale.builder.trees().final));
}

TEST_CASE("paths of absurd depth are not followed") {
  Tale tale;
  PathId at = 0;
  for (int i = 0; i < 100'000; ++i) at = tale.tables.paths.append(at, "d");
  Operation operation = tale.on_path(OperationKind::make_directory, "");
  operation.path = at;
  tale.add(operation);
  CHECK(tale.initial().empty());
  CHECK(tale.model().presence(at) == unknown);
}

}  // namespace
}  // namespace filereel
