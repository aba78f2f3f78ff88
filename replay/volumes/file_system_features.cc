#include "replay/volumes/file_system_features.h"

#include <algorithm>
#include <array>
#include <optional>
#include <sstream>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>

#include "filesets/system/error.h"
#include "filesets/system/limits.h"
#include "filesets/system/numbers.h"
#include "filesets/system/paths.h"
#include "filesets/system/programs.h"
#include "filesets/system/search.h"

namespace filereel {
namespace {

std::string trimmed(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r\n";
  const std::size_t begin = text.find_first_not_of(kBlank);
  if (begin == std::string_view::npos) return "";
  return std::string(text.substr(begin, text.find_last_not_of(kBlank) + 1 - begin));
}

std::optional<std::uint64_t> number_of(std::string_view text) {
  std::uint64_t number = 0;
  return take_number(text, number) ? std::optional(number) : std::nullopt;
}

constexpr std::string_view kJournalFeatures = "journal features";

// A name of a program's output, and ours.
using Renamed = std::pair<std::string_view, std::string_view>;

constexpr auto kExtNames = std::to_array<Renamed>({
    {"Filesystem features", kFeatureList},
    {"Default mount options", "default mount options"},
    {"Block size", "block size"},
    {"Cluster size", "cluster size"},
    {"Inode size", "inode size"},
    {"Inodes per group", "inodes per group"},
    {"Blocks per group", "blocks per group"},
    {"Flex block group size", "groups in a flex group"},
    {"Reserved block count", "reserved blocks"},
    {"Total journal size", "journal size"},
    {"Journal size", "journal size"},
    {"Journal features", kJournalFeatures},
    {"RAID stride", "stride"},
    {"RAID stripe width", "stripe width"},
    {"Checksum type", "checksums"},
});
// These say that it is or was in use, not how it was made.
constexpr auto kOfUse = std::to_array<std::string_view>(
    {"needs_recovery", "orphan_present", "journal_incompat_revoke"});

constexpr auto kBtrfsNames = std::to_array<Renamed>({
    {"csum_type", "checksums"},
    {"sectorsize", "sector size"},
    {"nodesize", "node size"},
    {"num_devices", "devices"},
});

// In the sections of the output; others follow from the size of the volume.
constexpr auto kXfsNames = std::to_array<Renamed>({
    {"meta-data isize", "inode size"},
    {"meta-data agcount", "groups"},
    {"meta-data sectsz", "sector size"},
    {"data bsize", "block size"},
    {"data imaxpct", "inode share"},
    {"data sunit", "stripe unit"},
    {"data swidth", "stripe width"},
    {"naming bsize", "directory block size"},
    {"naming version", "directory version"},
    {"log version", "log version"},
    {"log sunit", "log stripe unit"},
    {"realtime extsz", "realtime extent"},
});
// Flags of 0 and 1.
constexpr auto kXfsFlags = std::to_array<std::string_view>(
    {"crc", "finobt", "sparse", "rmapbt", "reflink", "bigtime", "inobtcount", "nrext64", "exchange",
     "metadir", "parent", "ascii-ci", "ftype", "lazy-count", "projid32bit"});

template <class Names>
std::optional<std::string> our_name(const Names& names, std::string_view name) {
  const Renamed* const found = find_or_null(names, name, &Renamed::first);
  return found ? std::optional<std::string>(found->second) : std::nullopt;
}

void add_word(std::string& list, std::string_view word) {
  if (!list.empty()) list += ' ';
  list += word;
}

// The values of one output of xfs_db, by section and name: "log blocks" → "16384".
FeatureValues pairs_of_xfs(std::string_view output) {
  FeatureValues pairs;
  std::istringstream lines{std::string(output)};
  std::string section;
  for (std::string line; std::getline(lines, line);) {
    const std::size_t first = line.find('=');
    if (first == std::string::npos) continue;
    const std::string begun = trimmed(line.substr(0, first));
    if (!begun.empty()) section = begun;
    std::istringstream words(line.substr(first + 1));
    for (std::string word; words >> word;) {
      const std::size_t equals = word.find('=');
      if (equals == std::string::npos) {
        std::string version;  // "version 2", without an equals sign
        if (word == "version" && words >> version) pairs[section + " version"] = version;
        continue;
      }
      std::string value = word.substr(equals + 1);
      if (value.ends_with(',')) value.pop_back();
      pairs[section + " " + word.substr(0, equals)] = value;
    }
  }
  return pairs;
}

// How btrfs stores each kind of data: the kernel lists it while it is mounted.
void add_profiles(std::string_view output, FeatureValues& values) {
  std::istringstream lines{std::string(output)};
  std::string id;
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string key;
    if (words >> key && key == "fsid") words >> id;
  }
  if (id.empty() || id.contains('/')) return;
  for (const char* const kind : {"data", "metadata"}) {
    const std::string folder = fmt::format("/sys/fs/btrfs/{}/allocation/{}", id, kind);
    std::vector<std::string> profiles = names_at(folder);
    std::erase_if(profiles,
                  [&](const std::string& name) { return !is_directory(folder + "/" + name); });
    std::ranges::sort(profiles);
    std::string& list = values[fmt::format("{} profile", kind)];
    for (const std::string& profile : profiles) add_word(list, profile);
  }
  std::erase_if(values, [](const auto& one) { return one.second.empty(); });
}

// A file system with a program that describes it. The device is the last argument.
struct Describer {
  std::string_view type;
  std::vector<std::string> command;
  FeatureValues (*read)(std::string_view output);
};

const std::vector<Describer>& describers() {
  static const std::vector<Describer> kDescribers = {
      {"ext2", {"dumpe2fs", "-h"}, features_of_ext},
      {"ext3", {"dumpe2fs", "-h"}, features_of_ext},
      {"ext4", {"dumpe2fs", "-h"}, features_of_ext},
      {"xfs", {"xfs_db", "-r", "-c", "info"}, features_of_xfs},
      {"btrfs", {"btrfs", "inspect-internal", "dump-super"}, features_of_btrfs},
  };
  return kDescribers;
}

FileSystemFeatures by_program(const Describer& describer, const std::string& source) {
  constexpr double kSeconds = 10;
  std::vector<std::string> command = describer.command;
  const std::string name = command.front();
  if (!find_program(name)) {
    return {{}, fmt::format("{} is missing: {}", name, install_advice(name))};
  }
  command.push_back(source);
  try {
    ChildProcess program(command);
    const std::optional<int> status = program.wait(kSeconds);
    if (status != 0) return {{}, fmt::format("{} failed on {}", name, source)};
    const std::string output = program.output();
    FileSystemFeatures features{describer.read(output), ""};
    if (describer.type == "btrfs") add_profiles(output, features.values);
    if (features.values.empty()) features.unknown = fmt::format("{} told nothing", name);
    return features;
  } catch (const Error& error) {
    return {{}, error.what()};
  }
}

// A little-endian number in a boot sector.
std::uint64_t number_at(std::string_view sector, std::size_t offset, std::size_t bytes) {
  std::uint64_t number = 0;
  for (std::size_t i = bytes; i-- > 0;) {
    number = number << 8 | static_cast<unsigned char>(sector[offset + i]);
  }
  return number;
}

// Sizes of records of NTFS: clusters, or if negative the logarithm of the bytes.
std::uint64_t record_size(std::string_view sector, std::size_t offset, std::uint64_t cluster) {
  const auto value = static_cast<signed char>(sector[offset]);
  return value < 0 ? std::uint64_t{1} << std::min(-value, 40)
                   : static_cast<std::uint64_t>(value) * cluster;
}

FeatureValues features_of_ntfs(std::string_view sector) {
  const std::uint64_t bytes = number_at(sector, 11, 2);
  // Above 128 sectors, the number is negative, and a logarithm.
  const auto sectors = static_cast<signed char>(sector[13]);
  const std::uint64_t cluster =
      sectors < 0 ? bytes << std::min(-sectors, 32) : bytes * static_cast<std::uint64_t>(sectors);
  return {{"sector size", fmt::format("{}", bytes)},
          {"cluster size", fmt::format("{}", cluster)},
          {"file record size", fmt::format("{}", record_size(sector, 64, cluster))},
          {"index record size", fmt::format("{}", record_size(sector, 68, cluster))}};
}

FeatureValues features_of_exfat(std::string_view sector) {
  const std::uint64_t bytes = std::uint64_t{1}
                              << std::min<std::uint64_t>(number_at(sector, 108, 1), 32);
  const std::uint64_t cluster = bytes << std::min<std::uint64_t>(number_at(sector, 109, 1), 30);
  return {{"sector size", fmt::format("{}", bytes)},
          {"cluster size", fmt::format("{}", cluster)},
          {"tables", fmt::format("{}", number_at(sector, 110, 1))},
          {"table offset", fmt::format("{}", number_at(sector, 80, 4) * bytes)},
          {"offset of clusters", fmt::format("{}", number_at(sector, 88, 4) * bytes)}};
}

FeatureValues features_of_fat(std::string_view sector) {
  const std::uint64_t bytes = number_at(sector, 11, 2);
  const bool is_32 = number_at(sector, 22, 2) == 0;  // sectors of a table of 12 or 16 bits
  return {{"sector size", fmt::format("{}", bytes)},
          {"cluster size", fmt::format("{}", bytes * number_at(sector, 13, 1))},
          {"reserved sectors", fmt::format("{}", number_at(sector, 14, 2))},
          {"tables", fmt::format("{}", number_at(sector, 16, 1))},
          {"table entries", is_32 ? "32 bits" : "12 or 16 bits"}};
}

}  // namespace

FeatureValues features_of_ext(std::string_view output) {
  FeatureValues values;
  std::istringstream lines{std::string(output)};
  for (std::string line; std::getline(lines, line);) {
    const std::size_t colon = line.find(':');
    if (colon == std::string::npos) continue;
    const std::optional<std::string> name = our_name(kExtNames, line.substr(0, colon));
    if (name) values[*name] = trimmed(line.substr(colon + 1));
  }
  if (!values.contains(std::string(kFeatureList))) return {};
  for (auto& [name, list] : values) {
    if (name != kFeatureList && name != kJournalFeatures) continue;
    std::istringstream words(list);
    std::string kept;
    for (std::string word; words >> word;) {
      if (!contains(kOfUse, word)) add_word(kept, word);
    }
    list = kept.empty() && name == kJournalFeatures ? "(none)" : kept;
  }
  return values;
}

FeatureValues features_of_xfs(std::string_view output) {
  const FeatureValues pairs = pairs_of_xfs(output);
  FeatureValues values;
  std::string flags;
  for (const auto& [name, value] : pairs) {
    if (const std::optional<std::string> ours = our_name(kXfsNames, name)) values[*ours] = value;
    const std::string flag = name.substr(name.rfind(' ') + 1);
    const bool is_flag = contains(kXfsFlags, flag);
    if (is_flag && value == "1") add_word(flags, flag);
  }
  const auto size = [&](const std::string& section) -> std::uint64_t {
    const auto blocks = pairs.find(section + " blocks"), bytes = pairs.find(section + " bsize");
    if (blocks == pairs.end() || bytes == pairs.end()) return 0;
    return number_of(blocks->second).value_or(0) * number_of(bytes->second).value_or(0);
  };
  if (values.empty()) return {};
  if (const std::uint64_t log = size("log")) values["log size"] = fmt::format("{}", log);
  values[std::string(kFeatureList)] = flags;
  return values;
}

FeatureValues features_of_btrfs(std::string_view output) {
  FeatureValues values;
  std::string flags;
  std::istringstream lines{std::string(output)};
  bool in_flags = false;  // names of flags, in parentheses below the number
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string first;
    if (!(words >> first)) continue;
    const bool continues = line.starts_with('\t') || line.starts_with(' ');
    if (!continues) in_flags = first.starts_with("incompat_flags") || first == "compat_ro_flags";
    if (continues && in_flags) {
      std::istringstream names(line);
      for (std::string name; names >> name;) {
        if (name != "(" && name != ")" && name != "|") add_word(flags, name);
      }
    }
    std::string rest;
    if (const auto name = continues ? std::nullopt : our_name(kBtrfsNames, first)) {
      std::getline(words, rest);
      values[*name] = trimmed(rest);
    }
  }
  if (values.empty()) return {};
  values[std::string(kFeatureList)] = flags;
  return values;
}

FeatureValues features_of_boot_sector(std::string_view sector) {
  constexpr std::size_t kSector = 512;
  if (sector.size() < kSector || number_at(sector, 510, 2) != 0xaa55) return {};
  const std::string_view name = sector.substr(3, 8);
  if (name == "NTFS    ") return features_of_ntfs(sector);
  if (name == "EXFAT   ") return features_of_exfat(sector);
  const bool is_fat = sector.substr(82, 5) == "FAT32" || sector.substr(54, 3) == "FAT";
  return is_fat ? features_of_fat(sector) : FeatureValues();
}

bool has_features(std::string_view type) {
  constexpr auto kWithBootSector = std::to_array<std::string_view>(
      {"vfat", "msdos", "fat32", "exfat", "ntfs", "ntfs3", "fuseblk"});
  return contains(describers(), type, &Describer::type) || contains(kWithBootSector, type);
}

FileSystemFeatures read_file_system_features(std::string_view type, const std::string& source,
                                             int fd, int error) {
  if (!has_features(type)) return {};
  const Describer* const describer = find_or_null(describers(), type, &Describer::type);
  if (fd < 0) return {{}, fmt::format("cannot read {}: {}", source, error_text(error))};
  if (describer) return by_program(*describer, source);
  std::array<char, 512> sector{};
  if (pread(fd, sector.data(), sector.size(), 0) != static_cast<ssize_t>(sector.size())) {
    return {{}, fmt::format("cannot read the boot sector of {}", source)};
  }
  return {features_of_boot_sector({sector.data(), sector.size()}), ""};
}

}  // namespace filereel
