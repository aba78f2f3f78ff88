#include "traces/workload/recipe.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace filereel {
namespace {

// In the order of roles, without duplicates.
std::vector<Role> sorted(std::vector<Role> volumes) {
  std::ranges::sort(volumes);
  const auto twice = std::ranges::unique(volumes);
  volumes.erase(twice.begin(), twice.end());
  return volumes;
}

}  // namespace

void name_volumes(Recipe& recipe, std::size_t count) {
  for (RecipeFiles& files : recipe.files) {
    if (!files.volumes.empty()) continue;
    for (std::size_t i = 0; i < count; ++i) files.volumes.push_back(static_cast<Role>(i));
  }
}

std::vector<Role> volumes_of(const Recipe& recipe) {
  std::vector<Role> volumes;
  for (const RecipeFiles& files : recipe.files) {
    volumes.insert(volumes.end(), files.volumes.begin(), files.volumes.end());
  }
  return sorted(std::move(volumes));
}

std::vector<Role> volumes_of(const Recipe& recipe, const RecipePhase& phase) {
  std::vector<Role> volumes;
  for (const RecipeThreads& threads : phase.threads) {
    const std::vector<Role>& of_group = recipe.files[threads.files].volumes;
    volumes.insert(volumes.end(), of_group.begin(), of_group.end());
  }
  return sorted(std::move(volumes));
}

namespace {

constexpr std::uint64_t kLeastFile = 1 << 20;
constexpr std::uint64_t kGrain = 4096;  // multiples of it remain multiples

std::uint64_t times(std::uint64_t number, double scale) {
  if (number == 0) return 0;
  constexpr double kMost = 9e18;
  const double product = std::min(static_cast<double>(number) * scale, kMost);
  return std::max<std::uint64_t>(1, static_cast<std::uint64_t>(std::llround(product)));
}

// The largest access on files of a group.
std::uint64_t largest_access(const Recipe& recipe, std::size_t group) {
  std::uint64_t largest = 0;
  for (const RecipePhase& phase : recipe.phases) {
    for (const RecipeThreads& threads : phase.threads) {
      if (threads.files != group || !threads.access) continue;
      for (const SizeShare& share : threads.access->sizes) {
        // Disjoint threads need space for it each.
        const std::uint64_t parts = threads.access->disjoint ? threads.count : 1;
        const double zone = threads.access->zone_end - threads.access->zone_begin;
        // Zones start and end at whole pages.
        const std::uint64_t pages = share.size / kGrain + 2;
        const double room = static_cast<double>(pages * kGrain * parts) / zone;
        largest = std::max(largest, static_cast<std::uint64_t>(std::ceil(room)));
      }
    }
  }
  return largest;
}

void scale_files(RecipeFiles& files, std::uint64_t largest, double scale) {
  if (files.size == 0) {  // files that fill the volume
    files.fill *= std::min(scale, 1.0);
    return;
  }
  const double total = static_cast<double>(files.size) * static_cast<double>(files.count) * scale;
  const std::uint64_t least = std::min(files.size, std::max(kLeastFile, largest));
  std::uint64_t size = std::max(times(files.size, scale), least);
  if (files.size % kGrain == 0) size = (size + kGrain - 1) / kGrain * kGrain;
  files.size = size;
  files.count = std::max<std::uint64_t>(1, std::llround(total / static_cast<double>(size)));
}

}  // namespace

Recipe scaled(Recipe recipe, double scale) {
  if (scale == 1) return recipe;
  recipe.scale = scale;
  for (std::size_t i = 0; i < recipe.files.size(); ++i) {
    if (recipe.files[i].set.empty()) {
      scale_files(recipe.files[i], largest_access(recipe, i), scale);
    }
  }
  if (recipe.mysql) {
    MysqlMixOptions& mysql = *recipe.mysql;
    mysql.transactions = times(mysql.transactions, scale);
    mysql.rows = times(mysql.rows, scale);
    mysql.buffer_pool = std::max(times(mysql.buffer_pool, scale), mysql.kLeastPool);
  }
  for (RecipePhase& phase : recipe.phases) {
    phase.stop.operations = times(phase.stop.operations, scale);
    phase.stop.bytes = times(phase.stop.bytes, scale);
  }
  return recipe;
}

}  // namespace filereel
