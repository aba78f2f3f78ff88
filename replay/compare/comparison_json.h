// The JSON form of comparisons (docs/compare.md), which other programs rely on.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "replay/compare/comparison.h"
#include "replay/compare/index.h"
#include "replay/json_fwd.h"

namespace filereel {

inline constexpr int kComparisonSchemaVersion = 1;

// The members that identify the measurement.
Json key_to_json(const MeasurementKey& key);

Json keys_to_json(std::span<const MeasurementKey> keys);

// Shared by comparisons and rankings.
Json side_to_json(const ComparedSide& side);
Json warnings_to_json(std::span<const Warning> warnings);
void put_interval(Json& json, const char* key, const std::optional<Interval>& interval);
std::string_view figure_code(Figure figure);  // "durable" …

// Pretty-printed, ends with a newline. Invalid UTF-8 in names is replaced. `indexes` are of the two
// sides.
std::string comparison_to_json(const ResultComparison& comparison,
                               std::span<const Index> indexes = {});

}  // namespace filereel
