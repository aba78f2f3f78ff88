#include "replay/volumes/name_rules.h"

#include <algorithm>
#include <array>
#include <memory>
#include <optional>

#include <fmt/format.h>
#include <locale.h>
#include <wctype.h>

#include "filesets/ownership/tree_walk.h"
#include "filesets/system/error.h"
#include "filesets/system/search.h"
#include "filesets/system/utf8.h"
#include "filesets/system/wording.h"

namespace filereel {
namespace {

constexpr std::string_view kRefused = "<>:\"|?*\\";
// Maximum name length: 255 UTF-16 units on NTFS, FAT and exFAT, 255 bytes elsewhere.
constexpr std::size_t kLongestName = 255;

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}

bool is_escape(std::string_view text) {  // starts with % and two digits, or %~
  return text.size() >= 2 && text[0] == '%' &&
         (text[1] == '~' ||
          (text.size() >= 3 && hex_digit(text[1]) >= 0 && hex_digit(text[2]) >= 0));
}

// The devices that a name means on Windows with any extension (Microsoft, "Naming Files, Paths, and
// Namespaces"): these, and COM and LPT with a digit, which may be a superscript.
constexpr std::array<std::string_view, 6> kDevices = {"CON", "PRN",    "AUX",
                                                      "NUL", "CONIN$", "CONOUT$"};
constexpr std::array<std::string_view, 3> kSuperscripts = {"\u00b9", "\u00b2", "\u00b3"};

bool is_port_number(std::string_view text) {
  if (text.size() == 1) return text[0] >= '0' && text[0] <= '9';
  return contains(kSuperscripts, text);
}

char upper_case(char c) {
  return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
}

// Bytes of the name of a device at the start of `name`; 0 if it means none. Windows ignores spaces
// before the extension.
std::size_t device_length(std::string_view name) {
  std::string stem(name.substr(0, name.find('.')));
  stem.erase(stem.find_last_not_of(' ') + 1);
  std::ranges::transform(stem, stem.begin(), upper_case);
  const bool port = (stem.starts_with("COM") || stem.starts_with("LPT")) &&
                    is_port_number(std::string_view(stem).substr(3));
  return port || contains(kDevices, stem) ? stem.size() : 0;
}

std::size_t utf16_units(std::string_view name) {
  std::size_t units = 0;
  for (std::size_t at = 0; at < name.size();) {
    const std::optional<Character> character = first_character(name.substr(at));
    units += character && character->code > 0xffff ? 2 : 1;
    at += character ? character->length : 1;
  }
  return units;
}

// Whether FAT may need no long name for it: eight characters and an extension of three.
bool is_short_name(std::string_view name) {
  const std::size_t dot = std::min(name.find('.'), name.size());
  const std::string_view extension = name.substr(std::min(dot + 1, name.size()));
  return dot >= 1 && dot <= 8 && extension.size() <= 3 &&
         std::ranges::all_of(name,
                             [](char c) {
                               return c > ' ' && c != '+' && c != ',' && c != ';' && c != '=' &&
                                      c != '[' && c != ']';
                             }) &&
         extension.find('.') == std::string_view::npos;
}

// Folds case like Windows, by the simple upper-case mapping of Unicode.
class CaseFolder {
 public:
  CaseFolder() : locale_(newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr), freelocale) {}

  std::string operator()(std::string_view name) const {
    std::string folded;
    for (std::size_t at = 0; at < name.size();) {
      const std::optional<Character> character = first_character(name.substr(at));
      if (!character) {
        folded += name[at++];
        continue;
      }
      at += character->length;
      const auto code = static_cast<wint_t>(character->code);
      if (code > 0 && code < 0x80) {  // most names have no others
        folded += upper_case(static_cast<char>(code));
        continue;
      }
      folded += '\0';
      folded += fmt::format("{:x}.", locale_ ? towupper_l(code, locale_.get()) : towupper(code));
    }
    return folded;
  }

 private:
  std::unique_ptr<std::remove_pointer_t<locale_t>, void (*)(locale_t)> locale_;
};

}  // namespace

std::string escape_name(std::string_view name, bool ascii_only) {
  const std::size_t device_end = device_length(name);
  std::string out;
  for (std::size_t at = 0; at < name.size();) {
    const std::optional<Character> character = first_character(name.substr(at));
    const std::size_t length = character ? character->length : 1;
    const auto byte = static_cast<unsigned char>(name[at]);
    const bool last = at + length == name.size();
    const bool refused = !character || byte < 0x20 || byte == 0x7f ||
                         kRefused.find(name[at]) != std::string_view::npos ||
                         (last && (byte == '.' || byte == ' ')) || is_escape(name.substr(at)) ||
                         (ascii_only && byte > 0x7e) ||
                         (device_end > 0 && at + length == device_end);
    if (refused) {
      for (std::size_t i = 0; i < length; ++i) {
        out += fmt::format("%{:02X}", static_cast<unsigned char>(name[at + i]));
      }
    } else {
      out += name.substr(at, length);
    }
    at += length;
  }
  return out;
}

bool exists_in_root(std::string_view name, const FileSystemLimits& limits) {
  if (name == kLostAndFound) return true;
  if (!limits.lists_label && limits.root_names.empty()) return false;
  const std::string folded = fold_case(name);
  return (limits.lists_label && folded == kVolumeLabel) || contains(limits.root_names, folded);
}

std::string fold_case(std::string_view name) {
  static const CaseFolder fold;
  return fold(name);
}

void check_name_length(std::string_view name, std::string_view original,
                       const FileSystemLimits& limits, std::string_view advice) {
  const std::size_t length = limits.windows_names ? utf16_units(name) : name.size();
  if (length <= kLongestName) return;
  throw Error(ErrorKind::failed,
              fmt::format("the name of {} has {} when escaped for this file system (limit: {}); {}",
                          original, counted(length, "character"), kLongestName, advice));
}

std::string map_components(std::string_view text,
                           const std::function<std::string(std::string_view)>& map) {
  std::string mapped;
  while (true) {
    const std::string_view component = text.substr(0, text.find('/'));
    mapped += component.empty() || component == "." ? std::string(component) : map(component);
    if (component.size() == text.size()) return mapped;
    mapped += '/';
    text.remove_prefix(component.size() + 1);
  }
}

std::string unescape_name(std::string_view name) {
  std::string out;
  for (std::size_t at = 0; at < name.size(); ++at) {
    if (!is_escape(name.substr(at))) {
      out += name[at];
    } else if (name[at + 1] == '~') {
      break;  // a case mark ends the name
    } else {
      out += static_cast<char>(hex_digit(name[at + 1]) * 16 + hex_digit(name[at + 2]));
      at += 2;
    }
  }
  return out;
}

std::uint32_t slots_needed(std::string_view name, const DirectorySlots& slots) {
  if (slots.short_names && is_short_name(name)) return 1;
  const auto units = static_cast<std::uint32_t>(utf16_units(name));
  return slots.fixed + (units + slots.units - 1) / slots.units;
}

std::uint64_t entries_needed(const FileSet& set, std::uint64_t copies) {
  std::uint64_t entries = 1;
  for (std::size_t i = 0; i < set.entries.size(); ++i) {
    if (set.entries.kind(i) != EntryKind::hard_link) ++entries;
  }
  return copies * entries;
}

std::uint64_t space_needed(const FileSet& set, const FileSystemLimits& limits,
                           std::uint64_t copies) {
  std::uint64_t bytes = 0;
  for (std::size_t i = 0; i < set.entries.size(); ++i) {
    // An inode, a name, a directory's first cluster: one cluster covers them everywhere.
    bytes += limits.cluster;
    if (set.entries.kind(i) != EntryKind::file) continue;
    bytes += (set.entries.file_size(i) + limits.cluster - 1) / limits.cluster * limits.cluster;
  }
  constexpr std::uint64_t kMarginPercent = 2;  // extent trees, allocation tables, checksums
  return copies * (bytes + bytes * kMarginPercent / 100);
}

std::uint64_t least_space(const FileSet& set, const FileSystemLimits& limits,
                          std::uint64_t copies) {
  const std::uint64_t directory =
      limits.entry_bytes + (limits.directory_clusters ? limits.cluster : 0);
  std::uint64_t bytes = directory;  // the root of the copy
  for (std::size_t i = 0; i < set.entries.size(); ++i) {
    const EntryKind kind = set.entries.kind(i);
    if (kind == EntryKind::hard_link) continue;
    bytes += kind == EntryKind::directory ? directory : limits.entry_bytes;
    if (kind != EntryKind::file) continue;
    std::uint64_t size = set.entries.file_size(i);
    if (limits.holes) {
      for (const Hole& hole : set.entries.holes(i)) size -= hole.length;
    }
    if (size <= limits.inline_bytes) continue;
    bytes += (size + limits.cluster - 1) / limits.cluster * limits.cluster;
  }
  return copies * bytes;
}

}  // namespace filereel
