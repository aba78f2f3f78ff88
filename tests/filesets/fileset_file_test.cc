#include "filesets/formats/fileset_file.h"

#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <boost/filesystem.hpp>
#include <doctest/doctest.h>
#include <zstd.h>

#include "filesets/system/error.h"

namespace filereel {
namespace {

namespace fs = boost::filesystem;

struct Folder {
  Folder() { fs::create_directories(path); }
  ~Folder() { fs::remove_all(path); }
  std::string file(const char* name) const { return (path / name).string(); }
  fs::path path = fs::temp_directory_path() / fs::unique_path("filereel-test-%%%%%%%%");
};

bool same(const FileSet& a, const FileSet& b) {
  const auto equal = [](const Entry& x, const Entry& y) {
    return x.path == y.path && x.kind == y.kind && x.mode == y.mode && x.size == y.size &&
           x.mtime_ns == y.mtime_ns && x.content == y.content && x.target == y.target &&
           x.holes == y.holes;
  };
  return a.name == b.name && a.description == b.description && a.source == b.source &&
         a.seed == b.seed &&
         std::equal(a.entries.begin(), a.entries.end(), b.entries.begin(), b.entries.end(), equal);
}

// One of everything that an entry can carry.
FileSet rich_set() {
  FileSet set;
  set.name = "rich";
  set.description = "has\nlines, \\ and blanks ";
  set.seed = UINT64_MAX;
  std::string all_bytes;
  for (int byte = 1; byte < 256; ++byte) {
    if (byte != '/') all_bytes += static_cast<char>(byte);
  }
  Entry entry;
  entry.path = all_bytes;
  entry.kind = EntryKind::directory;
  entry.mode = 01777;
  set.entries.push_back(entry);
  entry = Entry{};
  entry.path = all_bytes + "/file with blanks";
  entry.size = 1u << 20;
  entry.mtime_ns = -1;
  entry.content = {0xfedcba9876543210, 0, 1000};
  entry.holes = {{0, 4096}, {8192, 1}};
  set.entries.push_back(entry);
  entry = Entry{};
  entry.path = "hard";
  entry.kind = EntryKind::hard_link;
  entry.target = all_bytes + "/file with blanks";
  set.entries.push_back(entry);
  entry = Entry{};
  entry.path = "soft";
  entry.kind = EntryKind::symlink;
  entry.target = "/../" + all_bytes;
  entry.mtime_ns = 1'083'827'289'123'456'789;
  set.entries.push_back(entry);
  entry = Entry{};
  entry.path = "plain";
  entry.mode = 0;
  set.entries.push_back(entry);
  return set;
}

std::vector<std::byte> bytes_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  const std::string text(std::istreambuf_iterator<char>(in), {});
  const auto view = std::as_bytes(std::span(text));
  return {view.begin(), view.end()};
}

std::vector<std::byte> packed(std::string_view text) {
  std::vector<std::byte> out(ZSTD_compressBound(text.size()));
  out.resize(ZSTD_compress(out.data(), out.size(), text.data(), text.size(), 3));
  return out;
}

std::string complaint(std::span<const std::byte> bytes) {
  try {
    parse_fileset(bytes, "x");
  } catch (const Error& e) {
    CHECK(e.kind() == ErrorKind::unusable_input);
    return e.what();
  }
  return {};
}

TEST_CASE("what is written is read back, byte for byte") {
  const Folder folder;
  const FileSet set = rich_set();
  write_fileset_file(set, folder.file("a.fileset"));
  CHECK(same(read_fileset_file(folder.file("a.fileset")), set));
  CHECK(same(parse_fileset(bytes_of(folder.file("a.fileset")), "x"), set));
}

TEST_CASE("a flipped bit anywhere is noticed or makes no difference") {
  const Folder folder;
  const FileSet set = rich_set();
  write_fileset_file(set, folder.file("a"));
  const auto good = bytes_of(folder.file("a"));
  int refused = 0;
  for (std::size_t i = 0; i < good.size(); ++i) {
    for (const int mask : {1, 128, 255}) {
      auto bad = good;
      bad[i] ^= static_cast<std::byte>(mask);
      bool good_enough = false;
      try {
        good_enough = same(parse_fileset(bad, "x"), set);
      } catch (const Error&) {
        good_enough = true;
        ++refused;
      }
      CHECK(good_enough);
    }
  }
  CHECK(static_cast<std::size_t>(refused) > good.size() * 2);
}

TEST_CASE("a file that was cut off anywhere is refused") {
  const Folder folder;
  write_fileset_file(rich_set(), folder.file("a"));
  const auto good = bytes_of(folder.file("a"));
  for (std::size_t size = 0; size < good.size(); ++size) {
    CHECK(complaint(std::span(good).first(size)) != "");
  }
  CHECK(complaint(std::span(good).first(good.size() - 1)).find("truncated") != std::string::npos);
}

TEST_CASE("text that lost its end, has a wrong checksum or goes on is refused with its line") {
  CHECK(complaint(packed("filereel-fileset 1\nseed 1\nfile a 0644 5\n")) ==
        "x: line 4 (byte 40 of the uncompressed text): unexpected end of file before the 'end' "
        "line; copy the file again from its source, or capture the tree again");
  CHECK(complaint(packed("filereel-fileset 1\nseed 1\nfile a 0644 5\nend 1 0123456789abcdef\n"))
            .find("checksum") != std::string::npos);
  CHECK(complaint(packed("filereel-fileset 1\nseed 1\nend 7 0123456789abcdef\n"))
            .find("has 0 entries") != std::string::npos);
  CHECK(complaint(packed("filereel-fileset 2\n")).find("newer filereel") != std::string::npos);
  CHECK(complaint(packed("something else\n")).find("not a .fileset") != std::string::npos);
  CHECK(complaint(std::as_bytes(std::span("plain text"))).find("not a .fileset") !=
        std::string::npos);
  const Folder folder;
  write_fileset_file(rich_set(), folder.file("a"));
  auto twice = bytes_of(folder.file("a"));
  const auto more = packed("file b 0644 5\n");
  twice.insert(twice.end(), more.begin(), more.end());
  CHECK(complaint(twice).find("after the 'end' line") != std::string::npos);
}

TEST_CASE("lines that the format does not have are refused") {
  for (const std::string line :
       {"", "seed 2", "pipe a 0644", "file", "file a", "file a 0644", "file a 0844 1",
        "file a 0644 -1", "file a 0644 1 mtime=", "file a 0644 1 colour=1", "dir a 0755 key=1",
        "file a\\q 0644 1", "file a\\x41 0644 1", "file a\\x0 0644 1", "hole 0 1", "symlink a 0777",
        "file a 0644 5 compressed=70000"}) {
    CAPTURE(line);
    const std::string text = complaint(
        packed(std::string("filereel-fileset 1\nseed 1\n") + line + "\nend 1 0000000000000000\n"));
    CHECK(text.find("checksum") == std::string::npos);
    CHECK(text != "");
  }
}

TEST_CASE("text that unpacks to endless lines is refused early") {
  CHECK(complaint(packed(std::string(50u << 20, 'x'))).find("longer than 64 KiB") !=
        std::string::npos);
}

TEST_CASE("a writer that does not finish leaves nothing, and one that does leaves one file") {
  const Folder folder;
  {
    FileSetWriter writer(folder.file("a"), {"n", "", "", 1});
    writer.add(rich_set().entries[4]);
  }
  CHECK(fs::is_empty(folder.path));
  FileSetWriter writer(folder.file("a"), {"n", "", "", 1});
  Entry outside;
  outside.path = "../x";
  CHECK_THROWS_AS(writer.add(outside), Error);
  writer.finish();
  CHECK(std::distance(fs::directory_iterator(folder.path), fs::directory_iterator()) == 1);
  CHECK(read_fileset_file(folder.file("a")).name == "n");
  CHECK_THROWS_AS(read_fileset_file(folder.file("b")), Error);
}

TEST_CASE("a hundred thousand entries are written and read back the same") {
  FileSet set;
  set.name = "many";
  for (int i = 0; i < 100'000; ++i) {
    Entry entry;
    entry.path = "file-" + std::to_string(i);
    entry.size = static_cast<std::uint64_t>(i) * 977;
    entry.content.key = static_cast<std::uint64_t>(i) * 0x9e3779b97f4a7c15;
    set.entries.push_back(entry);
  }
  const Folder folder;
  write_fileset_file(set, folder.file("a"));
  CHECK(same(read_fileset_file(folder.file("a")), set));
}

}  // namespace
}  // namespace filereel
