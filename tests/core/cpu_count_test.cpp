// How many threads to start, on machines that are played by a directory: control groups of both versions, quotas that
// are no whole number, nested groups, files that say nothing, cores with two threads.
#include <llambda/core/cpu_count.hpp>

#include <unistd.h>

#include "../catch.hpp"

using namespace llambda;
namespace fs = std::filesystem;

namespace {

/// A file tree that lives as long as the test.
struct machine {
  fs::path root = fs::temp_directory_path() / ("llambda_machine_" + std::to_string(getpid()));
  machine() { fs::remove_all(root); }
  ~machine() { fs::remove_all(root); }
  machine& file(const std::string& path, const std::string& text) {
    fs::create_directories((root / path).parent_path());
    std::ofstream(root / path) << text;
    return *this;
  }
  unsigned cpus() const { return cgroup_cpus(root.string()); }
};

unsigned v2(const std::string& max) {
  machine m;
  return m.file("proc/self/cgroup", "0::/box\n").file("sys/fs/cgroup/box/cpu.max", max).cpus();
}

}  // namespace

TEST_CASE("cpu_count: cgroup v2 quotas are rounded down, but never to nothing") {
  CHECK(v2("400000 100000\n") == 4);
  CHECK(v2("765000 100000\n") == 7);
  CHECK(v2("50000 100000\n") == 1);
  CHECK(v2("max 100000\n") == 0);
  CHECK(v2("nonsense\n") == 0);
  CHECK(v2("-1 100000\n") == 0);
  CHECK(v2("100000 0\n") == 0);
  CHECK(v2("") == 0);
}

TEST_CASE("cpu_count: the tightest of the groups above counts") {
  machine m;
  m.file("proc/self/cgroup", "0::/outer/inner\n")
      .file("sys/fs/cgroup/outer/inner/cpu.max", "max 100000\n")
      .file("sys/fs/cgroup/outer/cpu.max", "300000 100000\n")
      .file("sys/fs/cgroup/cpu.max", "800000 100000\n");
  CHECK(m.cpus() == 3);
}

TEST_CASE("cpu_count: cgroup v1") {
  machine m;
  m.file("proc/self/cgroup", "5:memory:/a\n4:cpu,cpuacct:/a/b\n")
      .file("sys/fs/cgroup/cpu/a/b/cpu.cfs_quota_us", "400000\n")
      .file("sys/fs/cgroup/cpu/a/b/cpu.cfs_period_us", "100000\n");
  CHECK(m.cpus() == 4);
  m.file("sys/fs/cgroup/cpu/a/b/cpu.cfs_quota_us", "-1\n");
  CHECK(m.cpus() == 0);
}

TEST_CASE("cpu_count: files that are not there") { CHECK(machine().cpus() == 0); }

TEST_CASE("cpu_count: siblings of a core count once") {
  machine m;
  for (const char* cpu : {"0", "4"})
    m.file(std::string("sys/devices/system/cpu/cpu") + cpu + "/topology/thread_siblings_list", "0,4\n");
  for (const char* cpu : {"1", "5"})
    m.file(std::string("sys/devices/system/cpu/cpu") + cpu + "/topology/thread_siblings_list", "1,5\n");
  CHECK(physical_cores({0, 1, 4, 5}, m.root.string()) == 2);
  CHECK(physical_cores({0, 4}, m.root.string()) == 1);
  CHECK(physical_cores({0, 1, 2}, m.root.string()) == 3);  // cpu 2 has no list
  CHECK(default_threads() >= 1);
}
