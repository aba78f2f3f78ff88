#include "replay/volumes/layer_state.h"

#include <algorithm>
#include <array>
#include <sstream>
#include <string_view>

#include <boost/filesystem/path.hpp>
#include <fcntl.h>
#include <fmt/format.h>
#include <linux/dm-ioctl.h>
#include <string.h>
#include <sys/ioctl.h>

#include "filesets/system/descriptor.h"
#include "filesets/system/numbers.h"
#include "filesets/system/paths.h"
#include "filesets/system/printable.h"
#include "filesets/system/read_file.h"
#include "filesets/system/search.h"
#include "filesets/system/units.h"
#include "filesets/system/wording.h"

namespace filereel {
namespace {

constexpr std::string_view kClean = "clean", kDegraded = "degraded";

std::string device_name(const std::string& folder) {
  return boost::filesystem::path(folder).filename().string();
}

// The number at the start of a text, or 0. "4 (5)" is the disk count of an array that is being
// reshaped from 5 to 4 disks.
std::uint64_t leading_number(std::string_view text) {
  std::uint64_t number = 0;
  take_number(text, number);
  return number;
}

// Parses "1536 / 196608" or "1536/196608"; nothing for "none" and "delayed".
std::optional<double> share_of(std::string_view text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  std::string_view whole_text = text.substr(slash + 1);
  whole_text.remove_prefix(std::min(whole_text.find_first_not_of(' '), whole_text.size()));
  const std::uint64_t done = leading_number(text), whole = leading_number(whole_text);
  if (whole == 0 || done > whole) return std::nullopt;
  return static_cast<double>(done) / static_cast<double>(whole);
}

// The state for a maintenance action of md or dm-raid; "" for none.
std::string_view action_text(std::string_view action) {
  struct Word {
    std::string_view action, text;
  };
  static constexpr std::array<Word, 5> kWords = {{{"recover", "recovering"},
                                                  {"resync", "resyncing"},
                                                  {"reshape", "reshaping"},
                                                  {"check", "checking"},
                                                  {"repair", "repairing"}}};
  const Word* const found = find_or_null(kWords, action, &Word::action);
  return found ? found->text : "";
}

// The states of an array with `missing` disks that performs `action`.
std::vector<LayerState> array_states(const std::string& name, std::uint64_t missing,
                                     std::string_view action, std::optional<double> done) {
  std::vector<LayerState> states;
  if (missing > 0) {
    states.push_back({name, std::string(kDegraded), static_cast<std::uint32_t>(missing)});
  }
  if (const std::string_view text = action_text(action); !text.empty()) {
    states.push_back({name, std::string(text), {}, done});
  }
  return states;
}

std::vector<std::string> words_of_line(const std::string& line) {
  std::istringstream in(line);
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

bool has_word(const std::vector<std::string>& words, std::string_view word) {
  return contains(words, word);
}

// "raid1 2 AA 100/100 idle 0": type, devices, health of each (D: failed, -: missing, a: alive but
// not in sync, A: in sync), progress of the action, action.
void add_raid_status(const std::string& name, const std::vector<std::string>& words, Layer& layer) {
  if (words.size() < 5) return;
  layer.text += fmt::format(" of {}", leading_number(words[1]));
  const auto missing = std::ranges::count(words[2], 'D') + std::ranges::count(words[2], '-');
  layer.states =
      array_states(name, static_cast<std::uint64_t>(missing), words[4], share_of(words[3]));
  if (layer.states.empty()) layer.states.push_back({name, std::string(kClean)});
}

// Adds the status of a target to the text and the states.
void add_target_status(const std::string& name, const DmTarget& target, Layer& layer) {
  const std::vector<std::string> words = words_of_line(target.status);
  const auto state = [&](const char* text) { layer.states.push_back({name, text}); };
  if (has_word(words, "Fail") || has_word(words, "Error")) return state("failed");
  if (target.type == "raid") return add_raid_status(name, words, layer);
  if (target.type == "cache") {
    for (const char* mode : {"writeback", "writethrough", "passthrough"}) {
      if (has_word(words, mode)) layer.text += fmt::format(", {}", mode);
    }
    if (has_word(words, "needs_check")) state("needs check");
  }
  if (target.type == "writecache" && !words.empty() && words[0] != "0") state("failed");
  if (target.type == "thin-pool") {
    if (has_word(words, "ro")) state("read-only");
    if (has_word(words, "out_of_data_space")) state("out of space");
  }
}

// The creator, such as "LVM", by the prefix of the UUID.
std::string creator_of(std::string_view uuid) {
  struct Prefix {
    std::string_view uuid, maker;
  };
  static constexpr std::array<Prefix, 4> kPrefixes = {
      {{"LVM-", "LVM"}, {"CRYPT-", "crypt"}, {"mpath-", "multipath"}, {"part", "partition"}}};
  for (const Prefix& prefix : kPrefixes) {
    if (uuid.starts_with(prefix.uuid)) return std::string(prefix.maker);
  }
  return "device mapper";
}

// The target's name, such as "raid1" or "cache"; "" for targets that only forward I/O.
std::string target_name(const DmTarget& target) {
  for (const char* plain : {"linear", "crypt", "multipath"}) {
    if (target.type == plain) return "";
  }
  const std::vector<std::string> words = words_of_line(target.status);
  return target.type == "raid" && !words.empty() ? printable(words[0]) : printable(target.type);
}

}  // namespace

std::vector<DmTarget> read_dm_targets(const std::string& name) {
  const Descriptor control(open("/dev/mapper/control", O_RDWR | O_CLOEXEC));
  dm_ioctl head{};
  if (!control || name.size() >= sizeof head.name) return {};
  std::vector<char> buffer(64 << 10);
  head.version[0] = DM_VERSION_MAJOR;
  head.data_size = static_cast<std::uint32_t>(buffer.size());
  head.data_start = sizeof head;
  head.flags = DM_NOFLUSH_FLAG;  // current status, without committing a thin pool
  name.copy(head.name, name.size());
  memcpy(buffer.data(), &head, sizeof head);
  if (ioctl(control.get(), DM_TABLE_STATUS, buffer.data()) != 0) return {};
  memcpy(&head, buffer.data(), sizeof head);
  std::vector<DmTarget> targets;
  // Each starts with a dm_target_spec; `next` is relative to data_start.
  std::size_t at = head.data_start;
  for (std::uint32_t i = 0; i < head.target_count; ++i) {
    dm_target_spec spec{};
    if (at + sizeof spec >= buffer.size()) break;
    memcpy(&spec, buffer.data() + at, sizeof spec);
    const char* status = buffer.data() + at + sizeof spec;
    targets.push_back({std::string(spec.target_type, strnlen(spec.target_type, DM_MAX_TYPE_NAME)),
                       std::string(status, strnlen(status, buffer.size() - at - sizeof spec))});
    at = head.data_start + spec.next;
  }
  return targets;
}

std::optional<Layer> read_md(const std::string& folder, std::size_t devices_below) {
  if (!path_exists(folder + "/md")) return std::nullopt;
  const auto read = [&](const char* file) { return read_sysfs(folder + "/md/" + file); };
  const std::string name = device_name(folder);
  const std::uint64_t disks = leading_number(read("raid_disks"));
  const std::uint64_t chunk = leading_number(read("chunk_size"));
  Layer layer;
  layer.text = fmt::format("{} ({} of {}", name, read("level"), disks > 0 ? disks : devices_below);
  if (chunk > 0) layer.text += fmt::format(", chunk {}", format_binary_size(chunk));
  layer.text += ")";
  const std::string array = read("array_state");
  layer.states = array_states(name, leading_number(read("degraded")), read("sync_action"),
                              share_of(read("sync_completed")));
  // The other states change with every write: clean, active, active-idle, write-pending, and
  // read-auto until the first write.
  for (const char* state : {"readonly", "suspended", "inactive", "broken"}) {
    if (array == state) layer.states.push_back({name, state});
  }
  if (layer.states.empty() && !array.empty()) layer.states.push_back({name, std::string(kClean)});
  return layer;
}

std::optional<Layer> read_bcache(const std::string& folder) {
  const auto read = [&](const char* file) { return read_sysfs(folder + "/bcache/" + file); };
  const std::string state = read("state"), modes = read("cache_mode");
  if (state.empty()) return std::nullopt;
  const std::string name = device_name(folder);
  // "writethrough [writeback] writearound none"
  const std::size_t open = modes.find('['), close = modes.find(']', open);
  const bool told = open != std::string::npos && close != std::string::npos;
  Layer layer;
  layer.text = fmt::format("{} (bcache{}{})", name, told ? ", " : "",
                           told ? printable(modes.substr(open + 1, close - open - 1)) : "");
  layer.states.push_back({name, printable(state)});
  return layer;
}

std::optional<Layer> read_dm(
    const std::string& folder,
    const std::function<std::vector<DmTarget>(const std::string& name)>& targets_of) {
  const std::string mapped = read_sysfs(folder + "/dm/name");
  if (mapped.empty()) return std::nullopt;
  const std::string name = printable(mapped);
  Layer layer;
  layer.text = fmt::format("{} ({}", name, creator_of(read_sysfs(folder + "/dm/uuid")));
  std::vector<std::string> told;
  for (const DmTarget& target : targets_of(mapped)) {
    const std::string type = target_name(target);
    if (type.empty() || contains(told, type)) continue;
    layer.text += " " + type;
    add_target_status(name, target, layer);
    told.push_back(type);
  }
  layer.text += ")";
  if (read_sysfs(folder + "/dm/suspended") == "1") layer.states.push_back({name, "suspended"});
  return layer;
}

}  // namespace filereel
