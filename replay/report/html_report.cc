#include "replay/report/html_report.h"

#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "filesets/system/printable.h"
#include "replay/compare/prediction_text.h"
#include "replay/report/report_data.h"
#include "replay/report/report_page.h"

namespace filereel {
namespace {

// Escapes text for an element. The browser shows invalid UTF-8 as a replacement character.
std::string html_text(std::string_view text) {
  std::string html;
  for (const char c : text) {
    switch (c) {
      case '&':
        html += "&amp;";
        break;
      case '<':
        html += "&lt;";
        break;
      case '>':
        html += "&gt;";
        break;
      default:
        html += c;
    }
  }
  return html;
}

std::string title_of(std::span<const ReportedResult> results) {
  constexpr std::size_t kNamed = 3;
  std::string title;
  const std::vector<std::string> names = result_names(results);
  for (std::size_t i = 0; i < names.size() && i < kNamed; ++i) {
    title += (i > 0 ? ", " : "") + names[i];
  }
  if (names.size() > kNamed) title += fmt::format(" and {} more", names.size() - kNamed);
  return title;
}

std::string title_of(std::span<const StoredPrediction> predictions) {
  const std::vector<std::string> names = program_names(predictions);
  return names.size() == 1
             ? "Prediction of " + names[0]
             : fmt::format("Predictions of {} and {} more", names[0], names.size() - 1);
}

}  // namespace

std::string html_report(ReportColumns columns, std::span<const StoredPrediction> predictions) {
  const std::string title =
      predictions.empty() ? title_of(columns.pooled()) : title_of(predictions);
  return html_page(title, report_data(std::move(columns), predictions));
}

std::string html_page(std::string_view page_title, std::string_view page_data) {
  constexpr std::string_view kTitle = "@TITLE@", kData = "@DATA@";
  const std::string_view page = report_page();
  const std::size_t title = page.find(kTitle), data = page.find(kData);
  std::string html(page.substr(0, title));
  html += html_text(printable(page_title));
  html += page.substr(title + kTitle.size(), data - title - kTitle.size());
  html += page_data;
  html += page.substr(data + kData.size());
  return html;
}

}  // namespace filereel
