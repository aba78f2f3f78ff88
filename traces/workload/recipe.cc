#include "traces/workload/recipe.h"

#include <algorithm>
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

}  // namespace filereel
