#include "replay/volumes/name_rules.h"

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "filesets/system/error.h"
#include "filesets/system/random.h"
#include "replay/jobs/fitting.h"
#include "tests/entries.h"

namespace filereel {
namespace {

std::string escaped(std::string_view name) {
  return escape_name(name, false);
}

const FileSystemLimits& limits_of(FileSystemKind kind) {
  return file_system_info(kind).limits;
}

FittedSet fit(std::vector<Entry> entries, FileSystemKind kind) {
  const FileSet set = set_of(std::move(entries));
  check_file_set(set);
  const FittedSet fitted = fit_file_set(set, {limits_of(kind)});
  check_file_set(fitted.set);
  return fitted;
}

std::vector<std::string> paths(const FittedSet& fitted) {
  std::vector<std::string> out;
  for (const Entry& entry : fitted.set.entries) out.push_back(entry.path);
  return out;
}

std::string refusal(std::vector<Entry> entries, FileSystemKind kind) {
  try {
    fit(std::move(entries), kind);
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::failed);
    return error.what();
  }
  return "";
}

TEST_CASE("characters that Windows refuses are escaped") {
  CHECK(escaped("a:b") == "a%3Ab");
  CHECK(escaped("<>:\"|?*\\") == "%3C%3E%3A%22%7C%3F%2A%5C");
  CHECK(escaped("tab\there") == "tab%09here");
  CHECK(escaped("\x01\x1f\x7f") == "%01%1F%7F");
  CHECK(escaped("new\nline") == "new%0Aline");
}

TEST_CASE("names of devices are escaped in any case and with any extension") {
  CHECK(escaped("CON") == "CO%4E");
  CHECK(escaped("con.txt") == "co%6E.txt");
  CHECK(escaped("NUL") == "NU%4C");
  CHECK(escaped("nul.tar.gz") == "nu%6C.tar.gz");
  CHECK(escaped("Aux") == "Au%78");
  CHECK(escaped("prn") == "pr%6E");
  CHECK(escaped("COM1") == "COM%31");
  CHECK(escaped("lpt9.log") == "lpt%39.log");
  CHECK(escaped("COM\u00b9") == "COM%C2%B9");
  CHECK(escaped("lpt\u00b3.txt") == "lpt%C2%B3.txt");
  CHECK(escaped("conin$") == "conin%24");
  CHECK(escaped("CONOUT$.x") == "CONOUT%24.x");
  CHECK(escaped("NUL .txt") == "NU%4C .txt");
}

TEST_CASE("names that only look like devices stay") {
  for (const char* name :
       {"CONSOLE", "CO", "COM", "COM10", "COMX", "xCON", "LPT", "nul_", "a.con", ".con", "null",
        "COM\u2074", "COM\u00b9\u00b2", " CON", "CONIN", "LPT\u00b9x"}) {
    CHECK(escaped(name) == name);
  }
}

TEST_CASE("a dot or a space at the end is escaped, elsewhere it stays") {
  CHECK(escaped("a.") == "a%2E");
  CHECK(escaped("a ") == "a%20");
  CHECK(escaped("a..") == "a.%2E");
  CHECK(escaped("a. ") == "a.%20");
  CHECK(escaped("...") == "..%2E");
  CHECK(escaped(" a . b") == " a . b");
  CHECK(escaped(".hidden") == ".hidden");
}

TEST_CASE("a per cent sign is escaped only where it could be taken for an escape") {
  CHECK(escaped("%41") == "%2541");
  CHECK(escaped("%4a") == "%254a");
  CHECK(escaped("%~1") == "%25~1");
  CHECK(escaped("100%") == "100%");
  CHECK(escaped("5%x") == "5%x");
  CHECK(escaped("%%41") == "%%2541");
  CHECK(unescape_name("100%") == "100%");
}

TEST_CASE("what is not UTF-8 is escaped byte by byte, what is stays") {
  CHECK(escaped("\xc3\xa4.txt") == "\xc3\xa4.txt");
  CHECK(escaped("\xf0\x9f\x98\x80") == "\xf0\x9f\x98\x80");
  CHECK(escaped("\xe4.txt") == "%E4.txt");
  CHECK(escaped("\xff\xfe") == "%FF%FE");
  CHECK(escaped("a\xc3") == "a%C3");                     // cut off
  CHECK(escaped("\xc0\xaf") == "%C0%AF");                // longer than it needs to be
  CHECK(escaped("\xed\xa0\x80") == "%ED%A0%80");         // half of a surrogate pair
  CHECK(escaped("\xf4\x90\x80\x80") == "%F4%90%80%80");  // beyond Unicode
  CHECK(escaped("\xe2\x82z") == "%E2%82z");
}

TEST_CASE("a driver that takes ASCII alone gets nothing else") {
  CHECK(escape_name("\xc3\xa4\xe2\x82\xac.txt", true) == "%C3%A4%E2%82%AC.txt");
  CHECK(escape_name("plain.txt", true) == "plain.txt");
  CHECK(escape_name("~", true) == "~");
}

TEST_CASE("names that need nothing stay as they are, escaped or unescaped") {
  for (const std::string name : {"a", "README.md", "a b", "x-1_2+3,4;5=6[7]8{9}", "50% off", "~"}) {
    CHECK(escaped(name) == name);
    CHECK(unescape_name(name) == name);
  }
}

TEST_CASE("an escaped name is one that needs nothing but its own escapes") {
  // Escaping it once more touches the per cent signs only, so that this too can be undone.
  for (const std::string name : {"a:b", "CON", "a. ", "%41", "\xff"}) {
    const std::string once = escaped(name);
    const std::string twice = escaped(once);
    CHECK(twice != once);
    CHECK(unescape_name(twice) == once);
    CHECK(unescape_name(once) == name);
  }
}

// Of the pieces that the rules are about, so that they meet in every order.
std::string random_name(Random& random) {
  static const std::vector<std::string> kPieces = {"a",
                                                   "Z",
                                                   "CON",
                                                   "nul",
                                                   "COM1",
                                                   ".",
                                                   " ",
                                                   "%",
                                                   "%4",
                                                   "%41",
                                                   "%~",
                                                   "%~1",
                                                   ":",
                                                   "*",
                                                   "\\",
                                                   "\n",
                                                   "\x7f",
                                                   "\xc3\xa4",
                                                   "\xc3",
                                                   "\xff",
                                                   "\xf0\x9f\x98\x80",
                                                   "\xed\xa0\x80",
                                                   "txt",
                                                   "~",
                                                   "1",
                                                   "E"};
  std::string name;
  const std::uint64_t pieces = 1 + random.below(6);
  for (std::uint64_t i = 0; i < pieces; ++i) {
    name += random.below(8) == 0 ? std::string(1, static_cast<char>(1 + random.below(255)))
                                 : kPieces[random.below(kPieces.size())];
  }
  std::erase(name, '/');
  return name.empty() || name == "." || name == ".." ? "x" : name;
}

TEST_CASE("every escaped name can be undone and holds nothing that is refused") {
  Random random(8);
  for (int i = 0; i < 50'000; ++i) {
    const std::string name = random_name(random);
    for (const bool ascii : {false, true}) {
      CAPTURE(name);
      const std::string out = escape_name(name, ascii);
      CHECK(unescape_name(out) == name);
      CHECK(out.find_first_of("<>:\"|?*\\/") == std::string::npos);
      CHECK(out.back() != '.');
      CHECK(out.back() != ' ');
      CHECK(std::ranges::none_of(out, [&](char c) {
        const auto byte = static_cast<unsigned char>(c);
        return byte < 0x20 || byte == 0x7f || (ascii && byte > 0x7f);
      }));
    }
  }
}

TEST_CASE("different names of one directory stay different, in every case") {
  Random random(21);
  for (int round = 0; round < 200; ++round) {
    std::set<std::string> names;
    while (names.size() < 60) names.insert(random_name(random));
    std::vector<Entry> entries;
    for (const std::string& name : names) entries.push_back(file(name, 1));
    const FittedSet fitted = fit(entries, FileSystemKind::ntfs);
    std::set<std::string> folded;
    for (std::size_t i = 0; i < entries.size(); ++i) {
      std::string out = fitted.set.entries[i].path;
      CHECK(unescape_name(out) == entries[i].path);
      std::ranges::transform(out, out.begin(), [](char c) {
        return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c;
      });
      CHECK(folded.insert(out).second);
    }
  }
}

std::string target(const FittedSet& fitted, std::string_view path) {
  for (const Entry& entry : fitted.set.entries) {
    if (entry.path == path) return entry.target;
  }
  return "missing";
}

TEST_CASE("links lead to the escaped names") {
  const auto link = [](const char* path, const char* text) {
    return link_to(EntryKind::symlink, path, text);
  };
  const FittedSet fitted =
      fit({directory("a:b"), file("a:b/x?", 1), directory("Lib"), file("Lib/f", 1),
           directory("lib"), file("lib/F", 1), file("lib/f", 1), link("1", "a:b/x?"),
           link("2", "lib/f"), link("lib/3", "../a:b/./x?"), link("lib/4", "f"),
           link("5", "../a:b//lib"), link("6", "/lib/c:"), link("7", "\xff"),
           link("8", "nowhere/lib"), link("9", "Lib"), link("b", "50%41/")},
          FileSystemKind::ntfs);
  CHECK(target(fitted, "1") == "a%3Ab/x%3F");
  CHECK(target(fitted, "2") == "lib%~1/f%~1");
  CHECK(target(fitted, "lib%~1/3") == "../a%3Ab/./x%3F");
  CHECK(target(fitted, "lib%~1/4") == "f%~1");
  CHECK(target(fitted, "5") == "../a%3Ab//lib");  // outside
  CHECK(target(fitted, "6") == "/lib/c%3A");
  CHECK(target(fitted, "7") == "%FF");
  CHECK(target(fitted, "8") == "nowhere/lib");
  CHECK(target(fitted, "9") == "Lib");
  CHECK(target(fitted, "b") == "50%2541/");
  CHECK(fitted.texts_changed == 8);
  CHECK(fit({link("7", "\xff:")}, FileSystemKind::xfs).texts_changed == 0);
}

TEST_CASE("a text that is too long is refused with the name of the link") {
  const auto link = [](std::size_t length) {
    return std::vector{directory("d"),
                       link_to(EntryKind::symlink, "d/l", std::string(length, 't'))};
  };
  CHECK(refusal(link(1023), FileSystemKind::xfs).empty());
  CHECK(refusal(link(1024), FileSystemKind::xfs) ==
        "the text of the symbolic link d/l has 1024 bytes, more than the file system's limit of "
        "1023: remove it, use --scale, or choose another file system");
  CHECK(refusal(link(4095), FileSystemKind::ext4).empty());
  CHECK(refusal({link_to(EntryKind::symlink, "l", std::string(2000, ':'))}, FileSystemKind::ntfs)
            .contains("l has 6000 bytes"));
  CHECK(refusal(link(4095), FileSystemKind::fat32).empty());  // left out
}

TEST_CASE("a file with too many hard links is refused and named") {
  std::vector<Entry> entries = {file("f", 1)};
  for (int i = 1; i < 65'000; ++i) {
    entries.push_back(link_to(EntryKind::hard_link, std::to_string(i), "f"));
  }
  CHECK(refusal(entries, FileSystemKind::ext4).empty());
  entries.push_back(link_to(EntryKind::hard_link, "one", "f"));
  CHECK(refusal(entries, FileSystemKind::ext4).contains("f has 65001 hard links"));
  CHECK(refusal(entries, FileSystemKind::btrfs).empty());
  CHECK(refusal(entries, FileSystemKind::xfs).empty());
}

TEST_CASE("a directory of FAT has a limited number of entries") {
  const auto names = [](int files, const std::string& more) {
    std::vector<Entry> entries = {directory("d")};
    for (int i = 0; i < files; ++i) entries.push_back(file(fmt::format("d/{}{}", i, more), 1));
    return entries;
  };
  // 21 for 255 units, 2 for up to 13.
  CHECK(refusal(names(3120, std::string(251, 'n')), FileSystemKind::fat32).empty());
  CHECK(refusal(names(3130, std::string(251, 'n')), FileSystemKind::fat32)
            .contains("the names in the directory d take 65730 directory entries"));
  CHECK(refusal(names(3130, std::string(251, 'n')), FileSystemKind::exfat).empty());
  CHECK(refusal(names(65'536, ""), FileSystemKind::fat32).empty());
  CHECK_FALSE(refusal(names(65'537, ""), FileSystemKind::fat32).empty());
  CHECK_FALSE(refusal(names(32'769, ".long"), FileSystemKind::fat32).empty());
}

TEST_CASE("names that differ in case only are told apart by a mark") {
  const FittedSet fitted = fit({file("Makefile", 1), file("makefile", 1), file("MAKEFILE", 1),
                                directory("d"), file("d/makefile", 1)},
                               FileSystemKind::fat32);
  CHECK(paths(fitted) ==
        std::vector<std::string>{"Makefile", "makefile%~1", "MAKEFILE%~2", "d", "d/makefile"});
  REQUIRE(fitted.escaped.size() == 2);
  CHECK(fitted.escaped[0].original == "makefile");
  CHECK(fitted.escaped[0].escaped == "makefile%~1");
}

TEST_CASE("cases are folded beyond ASCII too") {
  const FittedSet fitted = fit({file("\xc3\x84.txt", 1), file("\xc3\xa4.txt", 1),  // Ä ä
                                file("\xd0\x96", 1), file("\xd0\xb6", 1),          // Ж ж
                                file("\xce\xa9", 1), file("\xcf\x89", 1)},         // Ω ω
                               FileSystemKind::ntfs);
  CHECK(paths(fitted) == std::vector<std::string>{"\xc3\x84.txt", "\xc3\xa4.txt%~1", "\xd0\x96",
                                                  "\xd0\xb6%~1", "\xce\xa9", "\xcf\x89%~1"});
}

TEST_CASE("directories that collide keep their files apart") {
  const FittedSet fitted = fit({directory("Lib"), file("Lib/a", 1), directory("lib"),
                                file("lib/a", 2), link_to(EntryKind::hard_link, "lib/h", "lib/a")},
                               FileSystemKind::ntfs);
  CHECK(paths(fitted) ==
        std::vector<std::string>{"Lib", "Lib/a", "lib%~1", "lib%~1/a", "lib%~1/h"});
  CHECK(fitted.set.entries[4].target == "lib%~1/a");
  CHECK(fitted.escaped.size() == 1);  // only the directory's own name was changed
}

TEST_CASE("an escaped directory is in the path of everything below it") {
  const FittedSet fitted =
      fit({directory("a:b"), directory("a:b/c"), file("a:b/c/d?", 1)}, FileSystemKind::fat32);
  CHECK(paths(fitted) == std::vector<std::string>{"a%3Ab", "a%3Ab/c", "a%3Ab/c/d%3F"});
  CHECK(fitted.escaped.size() == 2);
}

TEST_CASE("a file system that takes any name gets it unchanged") {
  const std::vector<Entry> entries = {file("a:b", 1), file("CON", 1), file("con", 1),
                                      file("\xff%41. ", 1)};
  const FittedSet fitted = fit(entries, FileSystemKind::ext4);
  for (std::size_t i = 0; i < entries.size(); ++i) CHECK(paths(fitted)[i] == entries[i].path);
  CHECK(fitted.escaped.empty());
}

TEST_CASE("a name that is too long once escaped is refused and named") {
  const std::string fits(255, 'x');
  CHECK(refusal({file(fits, 1)}, FileSystemKind::ntfs).empty());
  const std::string text = refusal({file(std::string(254, 'x') + ":", 1)}, FileSystemKind::ntfs);
  CHECK(text.find("257") != std::string::npos);
  CHECK(text.find("255") != std::string::npos);
  CHECK(text.find("xxx:") != std::string::npos);
  CHECK(refusal({file(std::string(254, 'x') + ":", 1)}, FileSystemKind::ext4).empty());
  std::string upper = fits;
  upper[0] = 'X';
  CHECK_FALSE(refusal({file(fits, 1), file(upper, 1)}, FileSystemKind::ntfs).empty());
}

TEST_CASE("lengths count as the file system counts them, in UTF-16") {
  std::string umlauts;
  for (int i = 0; i < 127; ++i) umlauts += "\xc3\xa4";  // 254 bytes, 127 units
  const FileSet set = set_of({file(umlauts + ":", 1)});
  const FittedSet fitted = fit_file_set(set, {limits_of(FileSystemKind::ntfs)});
  CHECK(paths(fitted) == std::vector<std::string>{umlauts + "%3A"});  // 257 bytes
}

TEST_CASE("a file that is too large is refused with its name and what the limit is") {
  const std::uint64_t gib = 1ULL << 30;
  const std::string text =
      refusal({file("small", 1), file("d.iso", 5 * gib)}, FileSystemKind::fat32);
  CHECK(text.find("d.iso") != std::string::npos);
  CHECK(text.find("4294967295 bytes") != std::string::npos);
  CHECK(refusal({file("f", 4 * gib)}, FileSystemKind::fat32).find("f has") == 0);
  CHECK(refusal({file("f", 4 * gib - 1)}, FileSystemKind::fat32).empty());
  CHECK(refusal({file("f", 5 * gib)}, FileSystemKind::exfat).empty());
  CHECK(refusal({file("f", 5 * gib)}, FileSystemKind::ntfs).empty());
}

TEST_CASE("links that the file system has not are left out and counted") {
  const std::vector<Entry> entries = {file("f", 1), link_to(EntryKind::symlink, "s", "f"),
                                      link_to(EntryKind::symlink, "t", "x"),
                                      link_to(EntryKind::hard_link, "h", "f")};
  const FittedSet fat = fit(entries, FileSystemKind::fat32);
  CHECK(paths(fat) == std::vector<std::string>{"f"});
  CHECK(fat.symlinks_left_out == 2);
  CHECK(fat.hard_links_left_out == 1);
  const FittedSet ext4 = fit(entries, FileSystemKind::ext4);
  CHECK(ext4.set.entries.size() == 4);
  CHECK(ext4.symlinks_left_out + ext4.hard_links_left_out == 0);
}

TEST_CASE("files with holes are counted where they will be filled") {
  const std::vector<Entry> entries = {sparse_file("a", 100, {{0, 50}, {60, 10}}), file("b", 100),
                                      sparse_file("c", 100, {{0, 100}})};
  CHECK(fit(entries, FileSystemKind::fat32).holes_filled == 2);
  CHECK(fit(entries, FileSystemKind::ntfs).holes_filled == 0);
}

TEST_CASE("a set for two volumes obeys the rules of both") {
  const FileSet set =
      set_of({file("a:b", 1), link_to(EntryKind::symlink, "s", "x"), file("\xc3\xa4", 1)});
  const FittedSet fitted =
      fit_file_set(set, {limits_of(FileSystemKind::ext4), limits_of_mounted("fuse.fusefat")});
  CHECK(paths(fitted) == std::vector<std::string>{"a%3Ab", "%C3%A4"});
  CHECK(fitted.symlinks_left_out == 1);
}

TEST_CASE("what the set says of itself and of its entries is kept") {
  FileSet set = set_of({file("a", 10, {5, 300, 20})});
  set.description = "d";
  set.source = "s";
  set.entries.change(0, [](Entry& entry) { entry.mode = 0600; });
  const FittedSet fitted = fit_file_set(set, {limits_of(FileSystemKind::fat32)});
  CHECK(fitted.set.name == set.name);
  CHECK(fitted.set.description == "d");
  CHECK(fitted.set.source == "s");
  CHECK(fitted.set.seed == set.seed);
  CHECK(fitted.set.entries[0].content == set.entries[0].content);
  CHECK(fitted.set.entries[0].mode == 0600);
}

TEST_CASE("the space that a set needs covers whole clusters, each name, and every copy") {
  const FileSystemLimits limits{.cluster = 4096};
  const FileSet set = set_of({directory("d"), file("d/a", 1), file("d/b", 8192), file("c", 0)});
  const std::uint64_t clusters = 4 + 1 + 2;
  CHECK(space_needed(set, limits, 1) >= clusters * 4096);
  CHECK(space_needed(set, limits, 1) < (clusters + 1) * 4096);
  CHECK(space_needed(set, limits, 2) == 2 * space_needed(set, limits, 1));
  CHECK(space_needed(set, {.cluster = 32768}, 1) >= 6 * 32768);
}

}  // namespace
}  // namespace filereel
