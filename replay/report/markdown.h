// Parts of reports in GitHub's Markdown.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "replay/compare/comparison.h"
#include "replay/compare/index.h"
#include "replay/compare/prediction_json.h"
#include "replay/compare/ranking.h"

namespace filereel {

// Escapes text for one line.
std::string markdown_text(std::string_view text);

// A list, and a blank line; "" without texts.
std::string markdown_bullets(const std::vector<std::string>& texts);

using MarkdownRow = std::vector<std::string>;

// The first row is the heading. The first column is left-aligned, the others right-aligned.
std::string markdown_table(const std::vector<MarkdownRow>& rows);

// Sections with the contents of those on the page.
std::string markdown_predictions(std::span<const StoredPrediction> predictions);
std::string markdown_comparison(const ResultComparison& comparison);
// "" without measurements that several series have.
std::string markdown_ranking(const Ranking& ranking);
// `names`: by value of the indices. "" without indices.
std::string markdown_indexes(std::span<const Index> indexes, std::span<const std::string> names);

}  // namespace filereel
