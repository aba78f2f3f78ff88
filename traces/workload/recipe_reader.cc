#include "traces/workload/recipe_reader.h"

#include <algorithm>
#include <iterator>

#include "filesets/catalogue/catalogue.h"
#include "filesets/system/error.h"
#include "filesets/system/printable.h"
#include "filesets/system/search.h"
#include "filesets/system/units.h"
#include "filesets/system/wording.h"
#include "traces/workload/thread_streams.h"
#include "traces/workload/threads_reader.h"

namespace filereel {
namespace {

void read_statements(const YamlValue& value, Sweep& sweep, MysqlMixOptions& options) {
  std::array<std::string_view, kStatements> names;
  for (std::size_t i = 0; i < kStatements; ++i) {
    names[i] = statement_name(static_cast<Statement>(i));
  }
  const SweptMap map(value.map(names), sweep);
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < kStatements; ++i) {
    options.shares[i] = 0;
    map.read_share(names[i], options.shares[i]);
    sum += options.shares[i];
  }
  check_share_sum(value, sum);
}

}  // namespace

MysqlMixOptions read_mysql(const YamlValue& value, Sweep& sweep) {
  const SweptMap map(value.map({"connections", "transactions", "rows", "row_bytes", "buffer_pool",
                                "statements", "flush_log_at_commit", "sync_binlog", "doublewrite",
                                "native_aio", "fulltext", "block"}),
                     sweep);
  MysqlMixOptions options;
  map.read_number("connections", options.connections, 1, options.kMostConnections);
  map.read_number("transactions", options.transactions, 1, 1'000'000'000);
  map.read_number("rows", options.rows, 1, options.kMostRows);
  map.read_number("row_bytes", options.row_bytes, 1, options.kMostRowBytes);
  map.read_size("buffer_pool", options.buffer_pool, options.kLeastPool);
  if (options.buffer_pool > options.kMostPool) {
    map.one("buffer_pool")->fail("must be at most 256 GiB");
  }
  if (map.whole("statements")) read_statements(*map.whole("statements"), sweep, options);
  map.read_number("flush_log_at_commit", options.flush_log_at_commit, 0, 2);
  map.read_number("sync_binlog", options.sync_binlog, 0, 1'000'000);
  map.read_truth("doublewrite", options.doublewrite);
  map.read_truth("native_aio", options.native_aio);
  map.read_truth("fulltext", options.fulltext);
  map.read_size("block", options.block, 512);
  if (options.block != 512 && options.block != 4096) {
    map.one("block")->fail("must be 512 B or 4 KiB, the block sizes of drives");
  }
  return options;
}

namespace {

constexpr std::array<std::string_view, 11> kWholeKeys = {
    "description", "source", "notes", "file_systems", "runs",    "seed",
    "fresh",       "phases", "mysql", "reel",         "analysis"};
constexpr std::array<std::string_view, 8> kPhaseKeys = {"measured", "caches", "threads", "stop",
                                                        "warm_up",  "engine", "poll",    "idle"};
constexpr const char* kOnlyPhase = "run";  // of a workload without a list of phases
constexpr std::size_t kMostGroups = 100, kMostPhases = 1000, kMostThreadGroups = 1000;
constexpr std::uint64_t kMostFileSize = 1ull << 44, kMostBytes = 1ull << 60;

using Keys = std::vector<std::string_view>;
Keys keys_of(std::initializer_list<std::span<const std::string_view>> parts) {
  Keys keys;
  for (const auto part : parts) std::ranges::copy(part, std::back_inserter(keys));
  return keys;
}

// Entries of sets are counted when the sets are loaded.
std::uint64_t entries_of(const RecipeFiles& files) {
  if (!files.set.empty()) return 0;
  const std::uint64_t each = files.per_directory;
  return files.count + (each > 0 ? (files.count + each - 1) / each : 0);
}

// Maximum number of volumes of the group.
std::uint64_t volumes_of(const RecipeFiles& files) {
  return files.volumes.empty() ? kRoles : files.volumes.size();
}

// Bytes of the largest read or write.
std::uint64_t largest_transfer(const RecipeThreads& threads) {
  std::uint64_t largest = largest_block(threads);
  if (!threads.access) return largest;
  for (const SizeShare& share : threads.access->sizes) largest = std::max(largest, share.size);
  return largest;
}

class Reader {
 public:
  Reader(const YamlValue& document, Sweep& sweep)
      : keys_(workload_keys(document)), map_(keys_, sweep), sweep_(sweep) {}

  Recipe read() {
    if (map_.whole("reel")) {
      refuse_with_files("reel");
      recipe_.reel = map_.whole("reel")->text();
      return std::move(recipe_);
    }
    map_.read_number("seed", recipe_.seed, 0, UINT64_MAX);
    constexpr std::array<Words<bool>, 2> kFresh = {{{"point", true}, {"run", false}}};
    map_.read("fresh", recipe_.fresh,
              [&](const YamlValue& value) { return meaning_of(value, kFresh); });
    if (map_.whole("mysql")) {
      refuse_with_files("mysql");
      recipe_.mysql = read_mysql(*map_.whole("mysql"), sweep_);
      recipe_.mysql->seed = recipe_.seed;
      return std::move(recipe_);
    }
    if (!map_.whole("files")) map_.self().fail("lacks the key 'files'");
    read_groups(*map_.whole("files"));
    // In a phase, `files` is the name of a group; here it is the list of groups.
    const SweptMap phase(keys_.without("files"), sweep_);
    if (const YamlValue* const phases = map_.whole("phases")) {
      for (const std::string_view key : keys_of({kPhaseKeys, kThreadKeys})) {
        if (phase.whole(key)) {
          phase.whole(key)->fail("must be in a phase: move it there, or remove 'phases'");
        }
      }
      for (const YamlValue& item : phases->list(kMostPhases)) read_phase(item);
      if (recipe_.phases.empty()) phases->fail("is empty: add at least one phase");
      if (std::ranges::none_of(recipe_.phases, &RecipePhase::measured)) {
        phases->fail("has no measured phase");
      }
    } else {
      const Sweep::Scope scope(sweep_, kOnlyPhase);
      add_phase(phase, kOnlyPhase);
    }
    check_phase_names();
    return std::move(recipe_);
  }

 private:
  // The measurement of a phase on one of several volumes is "PHASE VOLUME".
  void check_phase_names() const {
    for (const RecipePhase& phase : recipe_.phases) {
      for (std::size_t role = 0; role < kRoles; ++role) {
        const std::string name =
            fmt::format("{} {}", phase.name, role_name(static_cast<Role>(role)));
        if (!contains(recipe_.phases, name, &RecipePhase::name)) {
          continue;
        }
        map_.whole("phases")->fail(
            fmt::format("has the phases '{}' and '{}': the second name is reserved for the first "
                        "phase on one volume",
                        printable(phase.name), printable(name)));
      }
    }
  }

  void refuse_with_files(std::string_view key) const {
    const std::array<std::string_view, 3> whole = {"phases", "mysql", "reel"};
    for (const std::string_view other : keys_of({whole, kPhaseKeys, kThreadKeys})) {
      if (other != key && map_.whole(other)) {
        map_.whole(other)->fail(
            fmt::format("cannot be combined with '{}', which defines the whole workload", key));
      }
    }
  }

  void read_groups(const YamlValue& value) {
    if (!value.is_list()) {
      read_group(value);
    } else {
      for (const YamlValue& item : value.list(kMostGroups)) read_group(item);
    }
    if (recipe_.files.empty()) value.fail("is empty: add at least one group of files");
  }

  void read_group(const YamlValue& value) {
    RecipeFiles files;
    const YamlMap keys = value.map(
        {"name", "count", "size", "fill", "set", "content", "per_directory", "exist", "volumes"});
    files.name = keys.find("name") ? keys.find("name")->text() : "files";
    const Sweep::Scope scope(sweep_, files.name, Sweep::ScopeKind::files);
    const SweptMap map(keys, sweep_);
    check_name(keys.find("name") ? *keys.find("name") : value, files.name);
    const int sizes = (map.whole("size") != nullptr) + (map.whole("fill") != nullptr) +
                      (map.whole("set") != nullptr);
    if (sizes != 1) value.fail("needs exactly one of 'size', 'fill' and 'set'");
    if (map.whole("set")) {
      files.set = map.one("set")->text();
      if (map.whole("count")) map.whole("count")->fail("applies to files of one size, not to sets");
      for (const std::string_view key : {"content", "per_directory"}) {
        if (map.whole(key)) map.whole(key)->fail("is defined by the set: remove it");
      }
    } else {
      read_made_files(value, map, files);
    }
    if (map.whole("volumes")) files.volumes = read_volumes(*map.whole("volumes"));
    entries_ += entries_of(files) * volumes_of(files);
    if (entries_ > kMostEntries) {
      value.fail(fmt::format("brings the total to {}: at most {} are allowed",
                             counted(entries_, "file or directory", "files and directories"),
                             kMostEntries));
    }
    map.read_truth("exist", files.exist);
    states_.push_back(files.exist ? GroupState::present : GroupState::absent);
    recipe_.files.push_back(std::move(files));
  }

  static void read_made_files(const YamlValue& value, const SweptMap& map, RecipeFiles& files) {
    map.read_number("count", files.count, 1, kMostEntries);
    if (map.whole("size")) map.read_size("size", files.size);
    if (files.size > kMostFileSize) map.one("size")->fail("must be at most 16 TiB");
    if (files.size > 0 && files.count > kMostBytes / files.size) {
      value.fail("exceeds 1 EiB in total: no volume can hold that");
    }
    if (map.whole("fill")) files.fill = map.one("fill")->share() / 100'000.0;
    if (map.whole("fill") && !(files.fill > 0 && files.fill <= 0.98)) {
      map.one("fill")->fail("must be over 0 % and at most 98 %: the file system needs the rest");
    }
    map.read("content", files.compressed_permille, read_content);
    map.read_number("per_directory", files.per_directory, 1, kMostEntries);
  }

  static std::vector<Role> read_volumes(const YamlValue& value) {
    if (!value.is_list() && value.text() == "all") return {};
    std::vector<Role> volumes;
    const auto add = [&](const YamlValue& one) {
      const std::optional<Role> role = parse_role(one.text());
      if (!role) {
        one.fail(
            fmt::format("must be near, far or far-2 to {} (or all instead of a list), not '{}'",
                        role_name(static_cast<Role>(kRoles - 1)), printable(one.text())));
      }
      if (contains(volumes, *role)) one.fail("is a duplicate");
      volumes.push_back(*role);
    };
    if (value.is_list()) {
      std::ranges::for_each(value.list(kRoles), add);
    } else {
      add(value);
    }
    if (volumes.empty()) value.fail("is empty: add at least one volume");
    std::ranges::sort(volumes);
    return volumes;
  }

  // The name is also that of a directory.
  void check_name(const YamlValue& value, const std::string& name) const {
    const bool usable = !name.empty() && name.size() <= 64 && std::ranges::all_of(name, [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
             c == '-' || c == '_';
    });
    if (!usable) value.fail("must be 1 to 64 letters, digits, - or _");
    if (contains(recipe_.files, name, &RecipeFiles::name)) {
      value.fail(fmt::format("duplicates the group name '{}'", printable(name)));
    }
  }

  static std::uint16_t read_content(const YamlValue& value) {
    const std::string text = value.text();
    if (text == "incompressible") return 1000;
    if (text == "zeros") return 0;
    if (!text.ends_with('%')) {
      value.fail(
          fmt::format("must be incompressible, zeros, or the compressed size as a percentage, such "
                      "as 45 %, not '{}'",
                      printable(text)));
    }
    return value.permille();
  }

  void read_phase(const YamlValue& value) {
    const std::string number = fmt::format("phase-{}", recipe_.phases.size() + 1);
    const Keys keys = keys_of({kPhaseKeys, kThreadKeys, std::array<std::string_view, 1>{"name"}});
    const YamlMap map = value.map(keys);
    const std::string name = map.find("name") ? map.find("name")->text() : number;
    if (contains(recipe_.phases, name, &RecipePhase::name)) {
      map.require("name").fail("duplicates the name of another phase");
    }
    if (name.empty()) map.require("name").fail("must not be empty");
    const Sweep::Scope scope(sweep_, name);
    add_phase(SweptMap(map, sweep_), name);
  }

  void add_phase(const SweptMap& map, const std::string& name) {
    RecipePhase phase;
    phase.name = name;
    map.read_truth("measured", phase.measured);
    constexpr std::array<Words<Caches>, 3> kCaches = {
        {{"cold", Caches::cold}, {"keep", Caches::keep}, {"warm", Caches::warm}}};
    map.read("caches", phase.caches,
             [&](const YamlValue& value) { return meaning_of(value, kCaches); });
    map.read_duration("idle", phase.idle_ns);
    map.read_duration("warm_up", phase.warm_up_ns);
    constexpr std::array<Words<RequestEngine>, 3> kEngines = {
        {{"auto", RequestEngine::automatic},
         {"blocking", RequestEngine::blocking},
         {"io_uring", RequestEngine::io_uring}}};
    map.read("engine", phase.engine,
             [&](const YamlValue& value) { return meaning_of(value, kEngines); });
    map.read_truth("poll", phase.poll);
    if (map.whole("stop")) phase.stop = read_stop(*map.whole("stop"));
    const StopRule& stop = phase.stop;
    if (phase.warm_up_ns > 0 &&
        (stop.time_ns == 0 || stop.operations > 0 || stop.bytes > 0 || stop.passes > 0)) {
      map.one("warm_up")->fail(
          "needs a time limit as the only stop: other limits could end the phase during the "
          "warm-up");
    }
    const YamlValue* const groups = map.whole("threads");
    if (!groups) {
      phase.threads.push_back(read_threads(map, recipe_, phase, states_));
      check_threads(map.self(), phase);
    } else {
      read_thread_groups(map, *groups, phase);
    }
    check_polling(map, phase);
    recipe_.phases.push_back(std::move(phase));
  }

  // Totals of all threads so far, because they run concurrently.
  void check_threads(const YamlValue& last, const RecipePhase& phase) const {
    std::uint64_t threads = 0, requests = 0, largest = 0;
    for (const RecipeThreads& group : phase.threads) {
      const std::uint64_t count = group.count * volumes_of(recipe_.files[group.files]);
      const std::uint64_t in_flight = count * group.depth;
      threads += phase.engine == RequestEngine::blocking ? in_flight : count;
      requests += in_flight;
      largest = std::max(largest, largest_transfer(group));
    }
    const auto at_most = [&last](std::uint64_t number, std::uint64_t most, std::string_view what) {
      if (number <= most) return;
      last.fail(
          fmt::format("brings the phase to {} {}: at most {} are allowed", number, what, most));
    };
    at_most(threads, kMostPhaseThreads, "threads");
    at_most(requests, kMostInFlight, "requests in flight");
    if (requests > 0 && largest > kMostBuffers / requests) {
      last.fail(
          fmt::format("brings the phase to {} in flight, whose buffers of {} exceed {}: "
                      "use smaller or fewer requests",
                      counted(requests, "request"), format_binary_size(largest),
                      format_binary_size(kMostBuffers)));
    }
  }

  // Concurrent threads must not interfere.
  void check_neighbours(const YamlValue& last, const RecipePhase& phase) const {
    const RecipeThreads& threads = phase.threads.back();
    for (std::size_t i = 0; i + 1 < phase.threads.size(); ++i) {
      const RecipeThreads& other = phase.threads[i];
      if (threads.files != other.files || !(disturbs_others(threads) || disturbs_others(other)))
        continue;
      last.fail(
          fmt::format("uses '{}' together with other threads, and some of them create, remove, "
                      "rename or truncate files: use separate groups of files",
                      printable(recipe_.files[threads.files].name)));
    }
  }

  // Polling is a property of the engine, so all its operations must support it.
  static void check_polling(const SweptMap& map, const RecipePhase& phase) {
    const auto polls = [](const RecipeThreads& threads) {
      return threads.access && threads.direct;
    };
    if (!phase.poll || std::ranges::all_of(phase.threads, polls)) return;
    map.one("poll")->fail("needs direct: true in all threads: page cache I/O cannot be polled");
  }

  void read_thread_groups(const SweptMap& map, const YamlValue& groups, RecipePhase& phase) {
    for (const std::string_view key : kThreadKeys) {
      if (map.whole(key)) {
        map.whole(key)->fail("must be in an item of 'threads': move it there, or remove 'threads'");
      }
    }
    for (const YamlValue& item : groups.list(kMostThreadGroups)) {
      const Keys keys = keys_of({kThreadKeys, std::array<std::string_view, 1>{"name"}});
      const YamlMap own = item.map(keys);
      const Sweep::Scope scope(sweep_, own.find("name")
                                           ? own.find("name")->text()
                                           : fmt::format("threads-{}", phase.threads.size() + 1));
      phase.threads.push_back(read_threads(SweptMap(own, sweep_), recipe_, phase, states_));
      check_threads(item, phase);
      check_neighbours(item, phase);
    }
    if (phase.threads.empty()) groups.fail("is empty: add at least one group of threads");
  }

  StopRule read_stop(const YamlValue& value) const {
    const SweptMap map(value.map({"time", "operations", "bytes", "passes"}), sweep_);
    StopRule stop;
    map.read_duration("time", stop.time_ns);
    if (map.whole("time") && stop.time_ns == 0) map.one("time")->fail("must be more than 0");
    map.read_number("operations", stop.operations, 1, UINT64_MAX / 2);
    map.read_size("bytes", stop.bytes);
    map.read_number("passes", stop.passes, 1, UINT32_MAX);
    return stop;
  }

  YamlMap keys_;
  SweptMap map_;
  Sweep& sweep_;
  Recipe recipe_;
  std::uint64_t entries_ = 0;       // of the groups
  std::vector<GroupState> states_;  // by group, after the phases read so far
};

}  // namespace

YamlMap workload_keys(const YamlValue& document) {
  return document.map(keys_of({kWholeKeys, kPhaseKeys, kThreadKeys}));
}

Recipe read_recipe(const YamlValue& document, Sweep& sweep) {
  return Reader(document, sweep).read();
}

}  // namespace filereel
