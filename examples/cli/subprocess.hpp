// Running another program without a shell, so that no file name is ever interpreted.
#pragma once

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>

#include <cerrno>
#include <chrono>
#include <cstring>

#include "terminal.hpp"

extern char** environ;

namespace cli {

struct finished {
  int code;            ///< exit code, 128 + n for signal n
  std::string output;  ///< stdout and stderr together
};

/// Runs `arguments` (the first is the program, looked up in PATH) and waits. `waiting` is called now and then.
template <class F> finished run_program(const std::vector<std::string>& arguments, F&& waiting) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error(std::string("pipe: ") + std::strerror(errno));
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO);
  std::vector<char*> argv;
  for (const std::string& a : arguments) argv.push_back(const_cast<char*>(a.c_str()));
  argv.push_back(nullptr);
  pid_t child = 0;
  const int error = posix_spawnp(&child, argv[0], &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  if (error != 0) {
    close(ends[0]);
    throw std::runtime_error(arguments[0] + ": " + std::strerror(error));
  }
  finished result{0, {}};
  fcntl(ends[0], F_SETFL, O_NONBLOCK);
  char block[4096];
  while (true) {
    const ssize_t n = read(ends[0], block, sizeof block);
    if (n > 0)
      result.output.append(block, static_cast<std::size_t>(n));
    else if (n == 0)
      break;
    else if (errno == EAGAIN)
      waiting(), usleep(50000);
    else if (errno != EINTR)
      break;
  }
  close(ends[0]);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  result.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return result;
}

}  // namespace cli
