// SPDX-License-Identifier: MIT
// Starts this program again and takes both its streams.
#include "SelfRun.h"
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

namespace tilegym::cli {
namespace {

/// Reads both until both end.
void drain(std::array<int, 2> from, std::array<std::string *, 2> into) {
  std::array<pollfd, 2> polled = {{{from[0], POLLIN, 0}, {from[1], POLLIN, 0}}};
  for (int open = 2; open > 0;) {
    if (poll(polled.data(), polled.size(), -1) < 0 && errno != EINTR)
      return;
    for (size_t i = 0; i < 2; ++i) {
      if (!polled[i].revents)
        continue;
      std::array<char, 65536> room;
      ssize_t count = read(polled[i].fd, room.data(), room.size());
      if (count > 0) {
        into[i]->append(room.data(), size_t(count));
      } else if (count == 0 || errno != EINTR) {
        polled[i].fd = -1; // poll passes over it
        --open;
      }
    }
  }
}

} // namespace

std::string SelfRun::firstError() const {
  if (!crash.empty())
    return crash;
  size_t at = err.find("error: ");
  std::string text = at == err.npos ? err : err.substr(at + 7, err.find('\n', at) - at - 7);
  while (!text.empty() && text.back() == '\n')
    text.pop_back();
  return text;
}

SelfRun runSelf(const std::vector<std::string> &arguments) {
  SelfRun child;
  std::vector<char *> argv = {const_cast<char *>("tilegymc")};
  for (const std::string &argument : arguments)
    argv.push_back(const_cast<char *>(argument.c_str()));
  argv.push_back(nullptr);
  int out[2], err[2];
  if (pipe(out) != 0 || pipe(err) != 0) {
    child.crash = std::string("could not be started: ") + std::strerror(errno);
    return child;
  }
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, out[1], STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, err[1], STDERR_FILENO);
  for (int end : {out[0], out[1], err[0], err[1]})
    posix_spawn_file_actions_addclose(&actions, end);
  pid_t pid = 0;
  int failed = posix_spawn(&pid, "/proc/self/exe", &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(out[1]);
  close(err[1]);
  if (failed == 0)
    drain({out[0], err[0]}, {&child.out, &child.err});
  close(out[0]);
  close(err[0]);
  int status = 0;
  if (failed != 0)
    child.crash = std::string("could not be started: ") + std::strerror(failed);
  else if (waitpid(pid, &status, 0) != pid)
    child.crash = std::string("was lost: ") + std::strerror(errno);
  else if (WIFSIGNALED(status))
    child.crash = std::string("crashed: ") + strsignal(WTERMSIG(status));
  else
    child.code = WEXITSTATUS(status);
  return child;
}

} // namespace tilegym::cli
