// An observer of runs that notes their steps.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "replay/run/observer.h"

// May act when a step begins or a sample is there.
class Watcher final : public filereel::RunObserver {
 public:
  void notice(const std::string&) override {}
  void step_begins(const filereel::StepInfo& step, const filereel::ReplayProgress&) override {
    steps.push_back(step);
    if (at_step) at_step(steps.size());
  }
  void step_ended() override {}
  void result_grew(const filereel::Result&) override {
    if (at_sample) at_sample();
  }

  std::vector<filereel::StepInfo> steps;
  std::function<void(std::size_t)> at_step;
  std::function<void()> at_sample;
};
