#include "replay/history/history.h"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "filesets/system/error.h"
#include "replay/results/result_json.h"
#include "tests/sample_result.h"
#include "tests/temp_dir.h"

namespace filereel {
namespace {

Result result_of(const std::string& firmware, const std::string& started) {
  Result result = sample_result();
  result.started = started;
  for (VolumeDescription& volume : result.volumes) {
    if (volume.role == Role::near) volume.drives.at(0).firmware = firmware;
  }
  return result;
}

DeviceIdentity drive_of(const std::string& name, const std::string& model = "",
                        const std::string& serial = "", const std::string& firmware = "") {
  DeviceIdentity drive;
  drive.name = name;
  drive.model = model;
  drive.serial = serial;
  drive.firmware = firmware;
  return drive;
}

std::string model_name(const std::string& model) {
  Result result = sample_result();
  for (VolumeDescription& volume : result.volumes) {
    for (DeviceIdentity& drive : volume.drives) drive = drive_of("", model);
  }
  return entry_name(result);
}

std::string content(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::size_t files_below(const std::string& folder) {
  std::size_t files = 0;
  for (const auto& one : std::filesystem::recursive_directory_iterator(folder)) {
    files += one.is_regular_file() ? 1 : 0;
  }
  return files;
}

TEST_CASE("a file too large for a result is ignored in a history") {
  const TempDir folder;
  add_to_history(folder.path(), sample_result(), result_to_json(sample_result()));
  std::ofstream(folder.path() + "/sparse.json").put('x');
  std::filesystem::resize_file(folder.path() + "/sparse.json", std::uintmax_t{1} << 40);
  const HistoryDirectory history = read_history(folder.path());
  CHECK(history.entries.size() == 1);
  REQUIRE(history.others.size() == 1);
  CHECK(history.others[0].find("larger than 256 MB") != std::string::npos);
}

TEST_CASE("a result is called by its drive, firmware, time and plan") {
  CHECK(entry_name(sample_result()) == "Fast-Disk-3-S123/1.07/2024-02-29T12-00-00Z-fc-test");
  CHECK(entry_name(sample_replay()).ends_with("/2024-02-29T12-00-00Z-app.reel"));
}

TEST_CASE("without a drive the label names a result, without a label the kernel's name") {
  Result result = sample_result();
  for (VolumeDescription& volume : result.volumes) volume.drives = {drive_of("vda")};
  CHECK(entry_name(result) == "vda/no-firmware/2024-02-29T12-00-00Z-fc-test");
  result.label = "the old one";
  CHECK(entry_name(result) == "the-old-one/no-firmware/2024-02-29T12-00-00Z-fc-test");
  result.label.clear();
  for (VolumeDescription& volume : result.volumes) volume.drives.clear();
  CHECK(tested_device(result).name == "unknown");
}

TEST_CASE("the user's name of a drive overrides its own") {
  Result result = sample_result();
  set_tested_device(result, {});
  CHECK(tested_device(result).name == "Fast Disk 3 S123");
  set_tested_device(result, {.name = "Stick 64G", .firmware = ""});
  CHECK(entry_name(result) == "Stick-64G/1.07/2024-02-29T12-00-00Z-fc-test");
  set_tested_device(result, {.name = "", .firmware = "1.08 beta"});
  CHECK(entry_name(result) == "Stick-64G/1.08-beta/2024-02-29T12-00-00Z-fc-test");
  // Of an array, and where nothing says anything.
  result.volumes.at(0).drives = {drive_of("sdb", "A", "1", "x"), drive_of("sdc", "A", "2", "y")};
  set_tested_device(result, {.name = "Array", .firmware = "3"});
  CHECK(tested_device(result).name == "Array");
  CHECK(tested_device(result).firmware == "3");
  for (VolumeDescription& volume : result.volumes) volume.drives.clear();
  set_tested_device(result, {.name = "Stick", .firmware = "4"});
  CHECK(entry_name(result).starts_with("Stick/4/"));
  result.volumes.clear();
  CHECK_THROWS_AS(set_tested_device(result, {.name = "Stick", .firmware = "4"}), Error);
}

TEST_CASE("a share is called by its source, unless the user names it") {
  Result result = sample_result();
  result.volumes = {network_volume()};
  result.label = "a label";
  CHECK(tested_device(result).name == "nas.example.org:/data");
  CHECK(entry_name(result).starts_with("nas.example.org-data/no-firmware/"));
  set_tested_device(result, {.name = "", .firmware = "7.1"});
  CHECK(entry_name(result).starts_with("nas.example.org-data/7.1/"));
  set_tested_device(result, {.name = "NAS 4", .firmware = "7.2"});
  CHECK(entry_name(result).starts_with("NAS-4/7.2/"));
}

TEST_CASE("all drives of an array name it, each once") {
  Result result = sample_result();
  result.volumes.at(0).drives.push_back(drive_of("sdc", "Fast Disk 3", "S124", "1.08"));
  const TestedDevice device = tested_device(result);
  CHECK(device.name == "Fast Disk 3 S123 + Fast Disk 3 S124");
  CHECK(device.firmware == "1.07 + 1.08");
}

TEST_CASE("a drive's identity never leads out of the directory") {
  CHECK(model_name("../../etc/passwd").starts_with("_.-..-etc-passwd/"));
  CHECK(model_name("..").starts_with("unknown/"));
  CHECK(model_name("/").starts_with("unknown/"));
  CHECK(model_name("a\nb\x1b[31m\x7f").starts_with("a-b-31m/"));
  CHECK(model_name("-rf").starts_with("rf/"));
  CHECK(model_name("d\u00fcse").starts_with("d\u00fcse/"));
  CHECK(model_name("\xff\xfe").starts_with("unknown/"));
  CHECK(file_name_of(std::string("a\0b", 3)) == "a-b");
}

TEST_CASE("names that are too long are cut between characters and stay different") {
  std::string name;
  for (int i = 0; i < 100; ++i) name += "\u00fc";
  const std::string one = file_name_of(name + "1"), other = file_name_of(name + "2");
  CHECK(one.size() <= 100);
  CHECK(one != other);
  CHECK(one.contains("\u00fc-"));
}

TEST_CASE("the same result twice is one, a different one of the same second is another") {
  const TempDir folder;
  const std::string history = folder / "drives";
  Result result = sample_result();
  const std::string text = result_to_json(result);
  const AddedResult first = add_to_history(history, result, text);
  CHECK_FALSE(first.already_existed);
  CHECK(content(history + "/" + first.name + ".json") == text);
  CHECK(add_to_history(history, result, text).already_existed);
  result.note = "again";
  const AddedResult second = add_to_history(history, result, result_to_json(result));
  CHECK_FALSE(second.already_existed);
  CHECK(second.name == first.name + "-2");
  CHECK(add_to_history(history, result, result_to_json(result)).name == second.name);
  CHECK(content(history + "/" + first.name + ".json") == text);
  CHECK(files_below(history) == 2);
}

TEST_CASE("existing files are never overwritten") {
  const TempDir folder;
  const Result result = sample_result();
  const std::string name = entry_name(result);
  std::filesystem::create_directories((folder / name) + ".json");
  CHECK_THROWS_AS(add_to_history(folder.path(), result, "x"), Error);
  std::filesystem::remove((folder / name) + ".json");
  std::ofstream((folder / name) + ".json") << "mine";
  CHECK(add_to_history(folder.path(), result, "x").name == name + "-2");
  CHECK(content((folder / name) + ".json") == "mine");
}

TEST_CASE("results are numbered by time, and other files are listed") {
  const TempDir folder;
  const Result late = result_of("2.0", "2024-03-01T00:00:00Z"),
               early = result_of("1.0", "2024-02-01T00:00:00Z");
  add_to_history(folder.path(), late, result_to_json(late));
  add_to_history(folder.path(), early, result_to_json(early));
  std::ofstream(folder / "notes.txt") << "mine";
  std::ofstream(folder / "other.json") << "{}";
  std::filesystem::create_directory_symlink("/", folder / "link");
  const HistoryDirectory history = read_history(folder.path());
  REQUIRE(history.entries.size() == 2);
  CHECK(history.entries[0].number == 1);
  CHECK(history.entries[0].firmware == "1.0");
  CHECK(history.entries[0].device == "Fast Disk 3 S123");
  CHECK(history.entries[1].started == "2024-03-01T00:00:00Z");
  REQUIRE(history.others.size() == 3);
  CHECK(history.others[0].ends_with("link: not a result"));
  CHECK(history.others[1].ends_with("notes.txt: not a result"));
  CHECK(history.others[2].contains("other.json: "));
}

TEST_CASE("drives without a serial number that have several labels may be several") {
  const auto labelled = [](const std::string& label, const std::string& serial) {
    Result result = result_of("1.0", "2026-11-21T10:00:00Z");
    for (VolumeDescription& volume : result.volumes) {
      volume.drives = {drive_of("sda", "QEMU HARDDISK", serial)};
    }
    result.label = label;
    return result;
  };
  const auto history_of = [](std::vector<Result> results) {
    HistoryDirectory history;
    for (Result& one : results) {
      HistoryEntry& entry = history.entries.emplace_back();
      entry.device = tested_device(one).name;
      entry.label = one.label;
      entry.result = std::move(one);
    }
    return history;
  };
  const Result slow = labelled("slow", ""), fast = labelled("fast", "");
  CHECK(doubt_of_device(history_of({slow, fast}), fast) ==
        "the results labelled fast, slow count as those of one drive, QEMU HARDDISK, which reports "
        "no serial number; if there are several drives, remove these results from the history, and "
        "add those of each drive with --device NAME");
  CHECK(doubt_of_device(history_of({slow, slow}), slow) == "");
  CHECK(doubt_of_device(history_of({slow, labelled("", "")}), slow) == "");
  const Result one = labelled("before", "S1"), same = labelled("after", "S1");
  CHECK(doubt_of_device(history_of({one, same}), same) == "");
}

TEST_CASE("results are found by number, by name, and by the folder they are in") {
  const TempDir folder;
  for (const char* started :
       {"2024-02-01T00:00:00Z", "2024-02-02T00:00:00Z", "2024-02-03T00:00:00Z"}) {
    const Result result =
        result_of(started == std::string("2024-02-03T00:00:00Z") ? "2.0" : "1.0", started);
    add_to_history(folder.path(), result, result_to_json(result));
  }
  const HistoryDirectory history = read_history(folder.path());
  const auto numbers = [&](std::string_view which) {
    std::vector<std::uint32_t> found;
    for (const HistoryEntry& entry : find_entries(history, which)) found.push_back(entry.number);
    return found;
  };
  using Numbers = std::vector<std::uint32_t>;
  CHECK(numbers("2") == Numbers{2});
  CHECK(numbers("Fast-Disk-3-S123/2.0/2024-02-03T00-00-00Z-fc-test") == Numbers{3});
  CHECK(numbers("Fast-Disk-3-S123/2.0/2024-02-03T00-00-00Z-fc-test.json") == Numbers{3});
  CHECK(numbers("Fast-Disk-3-S123/1.0") == Numbers{1, 2});
  CHECK(numbers("Fast-Disk-3-S123/1.0/") == Numbers{1, 2});
  CHECK(numbers("Fast-Disk-3-S123") == Numbers{1, 2, 3});
  for (const char* nothing : {"0", "4", "", "Fast", "1.0", "99999999999999999999", "/"}) {
    CHECK_THROWS_AS(numbers(nothing), Error);
  }
}

TEST_CASE("a missing directory is not a history") {
  const TempDir folder;
  CHECK_THROWS_AS(read_history(folder / "none"), Error);
  CHECK(read_history(folder.path()).entries.empty());
}

}  // namespace
}  // namespace filereel
