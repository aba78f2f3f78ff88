#include "tools/cli/table.h"

#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "tests/kept_file.h"
#include "tests/sample_result.h"
#include "tools/cli/result_table.h"

namespace filereel {
namespace {

std::string plain(const std::string& text) {
  return text;
}

TEST_CASE(
    "columns are as wide as their widest cell, the first to the left, the others to the right") {
  CHECK(format_columns({{"set", "files", "MB"}, {"iso", "3", "1600"}, {"programs", "8504", "1"}}) ==
        "set       files    MB\n"
        "iso           3  1600\n"
        "programs   8504     1\n");
}

TEST_CASE("widths count characters, not bytes") {
  CHECK(format_columns({{"\u00fcber", "1\u20132"}, {"abcdef", "x"}}) ==
        "\u00fcber    1\u20132\n"
        "abcdef    x\n");
}

TEST_CASE("wide characters take two columns, combining marks none, as in the progress line") {
  CHECK(format_columns({{"\u65e5\u672c", "1"}, {"e\u0301x", "22"}, {"abcd", "\U0001f600"}}) ==
        "\u65e5\u672c   1\n"
        "e\u0301x    22\n"
        "abcd  \U0001f600\n");
}

TEST_CASE("rows may be of different lengths") {
  CHECK(format_columns({{"a"}, {"bb", "c"}}) == "a\nbb  c\n");
  CHECK(format_columns({}).empty());
}

TEST_CASE("no line ends in blanks") {
  CHECK(format_columns({{"a", "long heading", "b"}, {"x", "", ""}, {"", "", "y"}, {"", "", ""}}) ==
        "a  long heading  b\nx\n                 y\n\n");
}

TEST_CASE("a table that is too wide becomes blocks of columns, each with the first one") {
  CHECK(format_columns({{"set", "files", "MB", "time"}, {"iso", "3", "1600", "2.5 s"}}, {}, 19) ==
        "set  files    MB\n"
        "iso      3  1600\n"
        "set   time\n"
        "iso  2.5 s\n");
}

TEST_CASE("of a table that is too wide, names that are long stand above their figures") {
  const std::string name = "fc-test programs copy-near ext4";
  CHECK(format_columns({{"measurement", "base", "new"}, {name, "2.00 s", "1.99 s"}}, {}, 40) ==
        "measurement\n"
        "    base     new\n" +
            name + "\n" + "  2.00 s  1.99 s\n");
  CHECK(format_columns({{"measurement", "base", "new"}, {name, "2.00 s", "1.99 s"}}, {}, 9) ==
        "measurement\n    base\n" + name + "\n  2.00 s\n" + "measurement\n     new\n" + name +
            "\n  1.99 s\n");
}

TEST_CASE("whether a table is broken is told before it is formatted") {
  const Rows rows = {{"a", "b", "c"}, {"1", "22", "333"}};
  CHECK(is_broken(rows, 7));
  CHECK_FALSE(is_broken(rows, 80));
}

TEST_CASE("each line of a table is styled as its row") {
  const auto style = [](std::size_t row, const std::string& line) {
    return std::to_string(row) + ":" + line;
  };
  CHECK(format_columns({{"a", "b", "c"}, {"1", "22", "333"}}, style, 7) ==
        "0:a   b\n1:1  22\n0:a    c\n1:1  333\n");
}

TEST_CASE("a result is shown as in the golden file") {
  CHECK(format_result(sample_result(), plain) == kept_file("tools/golden/table.txt"));
}

TEST_CASE("the head of a table names a far directory with its own file system") {
  Result result;
  const auto add = [&](Role role, const char* target, const char* kind, const char* file_system,
                       const char* driver) {
    VolumeDescription& volume = result.volumes.emplace_back();
    volume.role = role;
    volume.target = target;
    volume.target_kind = kind;
    volume.file_system = file_system;
    volume.driver = driver;
  };
  add(Role::near, "share", "directory", "fuse.sshfs", "fuse.sshfs");
  add(Role::far, "/home/local", "directory", "ext4", "kernel");
  CHECK(describe_volumes(result, "fuse.sshfs") ==
        "fuse.sshfs (FUSE), near share, far /home/local (ext4)");
  result.volumes.clear();
  for (const char* file_system : {"ext4", "xfs"}) {
    add(Role::near, "image:a.img", "image", file_system, "kernel");
    add(Role::far, "image:b.img", "image", file_system, "kernel");
  }
  CHECK(describe_volumes(result, "xfs") ==
        "xfs (kernel driver), near image:a.img, far image:b.img");
}

TEST_CASE("headings are made bold, figures are not") {
  const std::string text = format_result(
      sample_result(), [](const std::string& heading) { return "<" + heading + ">"; });
  CHECK(text.contains("<ext4 (kernel driver), near /dev/sdb1 on Fast Disk 3 1.07"));
  CHECK(text.contains("<MB/s "));
  CHECK_FALSE(text.contains("<  iso"));
}

TEST_CASE("a copy that moved no data has no speed in the table") {
  const std::string text = format_result(sample_result(), plain);
  CHECK(text.contains("no data moved"));
  CHECK_FALSE(text.contains("247500"));  // its bytes in its time
}

TEST_CASE("a result without samples and one that is not complete say so") {
  Result result = sample_result();
  result.complete = false;
  for (Measurement& measurement : result.measurements) measurement.samples.clear();
  const std::string text = format_result(result, plain);
  CHECK(text.contains("INCOMPLETE"));
  CHECK_FALSE(text.contains("MB/s until"));
  CHECK(text.contains("no runs"));
}

TEST_CASE("drives alike are counted, and what lies between is named") {
  VolumeDescription volume = volume_of(Role::near, "ext4", "kernel");
  CHECK(describe_drives(volume) == "Fast Disk 3 1.07");
  volume.drives.push_back(volume.drives[0]);
  volume.layers = {"vg-data (LVM)", "md0 (raid1 of 2)", "sda1 (partition)",
                   "file on ext4 (loop device)"};
  CHECK(describe_drives(volume) ==
        "2 \u00d7 Fast Disk 3 1.07 through vg-data (LVM), md0 (raid1 of 2)");
  volume.drives[1].firmware = "1.08";
  volume.layers.clear();
  CHECK(describe_drives(volume) == "Fast Disk 3 1.07 + Fast Disk 3 1.08");
  volume.drives[0].model = "\x1b[31m";
  CHECK(describe_drives(volume) == "\\x1b[31m 1.07 + Fast Disk 3 1.08");
  CHECK(describe_drives(volume_of(Role::far, "ext4", "kernel")).empty());
  CHECK(describe_drives(network_volume()) ==
        "nas.example.org:/data through nfs 4.2 over tcp, eth0 1000 Mbit/s");
}

TEST_CASE("what is below the tables of all results comes once, at the end") {
  Result result = sample_result(), other = result;
  other.label = "other";
  other.warn({"odd", "only here", "look"});
  const std::array<const Result*, 2> both = {&result, &other};
  const std::string text = format_results(both, plain);
  const auto times = [&](const std::string& part) {
    std::size_t count = 0;
    for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; ++at) ++count;
    return count;
  };
  CHECK(times("MB/s (elapsed)  ") == 4);
  CHECK(times("ntfs was served by ntfs-3g") == 1);
  CHECK(times("only here") == 1);
  CHECK(text.find("only here") < text.find("ntfs was served by ntfs-3g"));
}

TEST_CASE("the label and the note stand below the table, safe for a terminal") {
  Result result = sample_result();
  CHECK_FALSE(remarks(result).front().contains("label"));
  result.label = "new\x1b[31m\nfirmware";
  result.note = std::string(2000, 'n');
  const std::vector<std::string> lines = remarks(result);
  CHECK(lines[0] == "label: new\\x1b[31m\\x0afirmware\n");
  CHECK(lines[1].starts_with("note:\n  nnn"));
  CHECK(lines[1].ends_with("...\n"));
  CHECK(lines[2].starts_with("A Processor"));
}

}  // namespace
}  // namespace filereel
