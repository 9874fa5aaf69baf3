// How many threads are worth starting: the smallest of the CPUs this process may run on, the whole CPUs its control
// group pays for, and the physical cores among them. Spinning threads beyond that number only slow each other down.
#pragma once

#include <llambda/core/config_macros.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#if defined(__linux__)
#include <sched.h>
#endif

namespace llambda::inline LLAMBDA_ABI {

namespace detail {

/// First line of a file, or empty when it cannot be read.
inline std::string first_line(const std::string& path) {
  std::ifstream in(path);
  std::string line;
  std::getline(in, line);
  return line;
}

/// Whole CPUs of a quota: floor(quota / period), at least 1; 0 when there is no limit or the text is not a quota.
inline unsigned whole_cpus(const std::string& quota, const std::string& period) {
  char* end = nullptr;
  const double q = std::strtod(quota.c_str(), &end);
  if (end == quota.c_str() || !(q > 0)) return 0;
  const double p = std::strtod(period.c_str(), &end);
  if (end == period.c_str() || !(p > 0)) return 0;
  const double cpus = q / p;
  if (!(cpus < 1e6)) return 0;
  return (std::max)(1u, static_cast<unsigned>(cpus));
}

}  // namespace detail

/// CPUs granted by cgroup v2 (`cpu.max`) or v1 (`cpu.cfs_quota_us`), over all ancestors of this process's group.
/// 0 = no limit found. `root` is prepended to every path, so that tests can play a machine.
inline unsigned cgroup_cpus(const std::string& root = "") {
  unsigned best = 0;
  const auto consider = [&](unsigned cpus) {
    if (cpus != 0) best = best == 0 ? cpus : (std::min)(best, cpus);
  };
  std::ifstream groups(root + "/proc/self/cgroup");
  std::string line;
  while (std::getline(groups, line)) {  // "0::/path" (v2) or "4:cpu,cpuacct:/path" (v1)
    const auto first = line.find(':'), second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",";
    const bool v2 = controllers == ",,";
    if (!v2 && controllers.find(",cpu,") == std::string::npos) continue;
    std::string path = line.substr(second + 1);
    while (true) {
      if (path == "/") path.clear();
      if (v2) {
        std::istringstream line_of_max(detail::first_line(root + "/sys/fs/cgroup" + path + "/cpu.max"));
        std::string quota, period;
        if (line_of_max >> quota >> period) consider(detail::whole_cpus(quota, period));
      } else {
        const std::string dir = root + "/sys/fs/cgroup/cpu" + path;
        consider(detail::whole_cpus(detail::first_line(dir + "/cpu.cfs_quota_us"),
                                    detail::first_line(dir + "/cpu.cfs_period_us")));
      }
      if (path.empty()) break;
      path.resize(path.rfind('/') == std::string::npos ? 0 : path.rfind('/'));
    }
  }
  return best;
}

/// CPU numbers this process may run on; empty when the system does not say.
inline std::vector<unsigned> affinity_cpus() {
  std::vector<unsigned> cpus;
#if defined(__linux__)
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) == 0) {
    for (unsigned cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
      if (CPU_ISSET(cpu, &set)) cpus.push_back(cpu);
    }
  }
#endif
  return cpus;
}

/// Distinct physical cores among `cpus`, by the kernel's sibling lists; every CPU counts where there is no list.
inline unsigned physical_cores(const std::vector<unsigned>& cpus, const std::string& root = "") {
  std::set<std::string> cores;
  for (unsigned cpu : cpus) {
    const std::string name = "cpu" + std::to_string(cpu);
    const std::string siblings =
        detail::first_line(root + "/sys/devices/system/cpu/" + name + "/topology/thread_siblings_list");
    cores.insert(siblings.empty() ? name : siblings);
  }
  return static_cast<unsigned>(cores.size());
}

/// Threads a pool starts by default: min(affinity, cgroup quota rounded down, physical cores), at least 1.
inline unsigned default_threads() {
  const std::vector<unsigned> cpus = affinity_cpus();
  unsigned n = cpus.empty() ? std::thread::hardware_concurrency() : physical_cores(cpus);
  if (const unsigned quota = cgroup_cpus(); quota != 0) n = (std::min)(n, quota);
  return (std::max)(1u, n);
}

}  // namespace llambda::inline LLAMBDA_ABI
