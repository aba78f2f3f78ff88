// One workload at one point of its sweeps, as plain data: what docs/workloads.md describes, read,
// checked and without lists of values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "traces/mysql/mysql_mix.h"
#include "traces/operation.h"
#include "traces/path_table.h"

namespace filereel {

// What one workload may ask for at the most, at each of its points; each thread takes some 250 kB
// of memory and each file 2 kB.
inline constexpr std::uint64_t kMostPhaseThreads = 4'096;  // of all groups of a phase
inline constexpr std::uint64_t kMostInFlight = 65'536;     // requests of all threads of a phase
inline constexpr std::uint64_t kMostBuffers = 1ull << 34;  // bytes of the requests in flight
inline constexpr std::uint64_t kMostEntries = 2'000'000;   // files and directories of all groups

// Files that phases work on. Either `count` files of `size` bytes each, or the entries of a file
// set.
struct RecipeFiles {
  std::string name;  // how phases refer to it, and the directory that the files lie in
  std::string set;   // a file set (load_file_set), or empty
  std::uint64_t count = 1;
  std::uint64_t size = 0;                    // bytes of each
  double fill = 0;                           // share of what is free on the volume, instead of size
  std::uint16_t compressed_permille = 1000;  // Content::compressed_permille; 0: zeros
  std::uint64_t per_directory = 0;           // 0: all in one directory
  bool exist = true;                         // before the first phase; else a phase makes them
  // The group is on each of these, in the order of roles; empty: on all that there are.
  std::vector<Role> volumes = {Role::near};
};

struct SizeShare {
  std::uint64_t size = 0;   // bytes
  std::uint32_t share = 0;  // thousandths of a percent; all of a mix add up to 100'000
};

// Where in the zone random accesses go.
struct HotSpots {
  enum class Kind : std::uint8_t {
    uniform,
    zipf,    // `parameter`: the exponent, over 0 to 5; spots are dealt over the zone by a hash
    normal,  // `parameter`: standard deviation as a share of the zone, around its middle
  };
  Kind kind = Kind::uniform;
  double parameter = 0;
};

enum class SyncKind : std::uint8_t { none, sync, sync_data };

// The operation that does it; there is one.
constexpr OperationKind operation_of(SyncKind kind) {
  return kind == SyncKind::sync_data ? OperationKind::sync_data : OperationKind::sync;
}

struct SyncPolicy {
  std::uint64_t every = 0;  // accesses of the thread; 0: never while it runs
  SyncKind kind = SyncKind::sync;
  bool all_files = false;  // every file of the group, one after another, else the one written
  bool at_end = false;
};

// Reads and writes at positions. The files of the group are one space, in their order; no access
// reaches over the end of a file.
struct AccessMix {
  std::vector<SizeShare> sizes;   // at least one
  std::uint32_t reads = 100'000;  // share of reads, thousandths of a percent
  double ratio = 0;               // instead, if above 0: reads per write, in fixed turns
  std::uint32_t random = 0;       // share of accesses that do not go on where the last one ended
  std::uint64_t align = 0;        // bytes, of random positions; 0: the size of each access
  double zone_begin = 0, zone_end = 1;  // shares of the space
  bool disjoint = false;                // each thread of the group has its own part of the zone
  HotSpots hot;
  bool truncate = false;  // files are made anew when they are opened, and grow
};

enum class StepKind : std::uint8_t {
  create,     // make the file and write it whole
  read,       // whole
  overwrite,  // whole, in place
  rewrite,    // cut to nothing, then write whole
  append,     // `size` bytes at the end
  replace,    // write a new file beside it, rename it over the old one
  rename,     // to its other name, and back the next time
  copy,       // read it and write a copy into the directory NAME.copy beside the group
  stat,
  list,  // the directory it lies in
  remove,
};

// Whether the step reads or writes.
constexpr bool moves_content(StepKind kind) {
  return kind != StepKind::rename && kind != StepKind::stat && kind != StepKind::list &&
         kind != StepKind::remove;
}

// What is done to one file.
struct FileStep {
  StepKind kind = StepKind::read;
  std::uint64_t block = 128 << 10;  // bytes of one read or write
  std::uint64_t size = 0;           // append
  SyncKind sync = SyncKind::none;   // of what was written, before it is closed
};

// Steps that are done to one file one after another.
struct StepChoice {
  std::uint32_t share = 100'000;  // thousandths of a percent; all of a thread add up to 100'000
  std::vector<FileStep> steps;
};

enum class FileOrder : std::uint8_t { given, shuffled, random };

// Threads that do the same.
struct RecipeThreads {
  std::uint32_t count = 1;          // on each volume of the group
  std::uint32_t files = 0;          // number of the group in Recipe::files
  std::optional<AccessMix> access;  // or
  std::vector<StepChoice> choices;  // what is done to the files, each of which is one thread's
  FileOrder order = FileOrder::given;
  std::uint32_t depth = 1;     // requests in flight of each thread; access only
  bool direct = false;         // past the page cache
  bool write_through = false;  // O_DSYNC
  SyncPolicy sync;
  std::uint64_t think_ns = 0;  // pause after each access, or file
  double rate = 0;             // accesses (or files) a second of each thread; 0: as fast as it goes
};

// When a phase ends: at whatever comes first. Nothing: after one pass.
struct StopRule {
  std::uint64_t time_ns = 0;     // 0: no limit; at most 30 days
  std::uint64_t operations = 0;  // accesses or files of all threads together
  std::uint64_t bytes = 0;       // of all threads together
  std::uint64_t passes = 0;      // of each thread over its files or its zone
};

// How requests get to the kernel.
enum class RequestEngine : std::uint8_t {
  automatic,  // by io_uring where threads have several in flight
  blocking,   // by calls, of as many threads as requests are in flight
  io_uring,
};

// What becomes of the caches before a phase, or another step.
enum class Caches : std::uint8_t {
  cold,  // emptied
  keep,  // left as they are
  warm,  // the files that it works on are read until the page cache holds them
};

struct RecipePhase {
  std::string name;
  RequestEngine engine = RequestEngine::automatic;
  bool poll = false;  // for completions of direct requests, in the place of interrupts
  bool measured = true;
  Caches caches = Caches::cold;
  std::vector<RecipeThreads> threads;
  StopRule stop;
  std::uint64_t warm_up_ns = 0;  // not measured; the time counts from its end
};

struct Recipe {
  std::vector<RecipeFiles> files;
  std::vector<RecipePhase> phases;
  std::uint64_t seed = 1;
  double scale = 1;   // of the file sets that groups name
  bool fresh = true;  // volumes are made anew for every point, else for every repetition
  // Instead of files and phases:
  std::optional<MysqlMixOptions> mysql;
  std::string reel;  // of the catalogue, or a file
};

// Groups that are on all volumes are on the first `count` then.
void name_volumes(Recipe& recipe, std::size_t count);

// Volumes that groups of the recipe are on; of a phase those of the groups that it works on. In the
// order of roles.
std::vector<Role> volumes_of(const Recipe& recipe);
std::vector<Role> volumes_of(const Recipe& recipe, const RecipePhase& phase);

}  // namespace filereel
