// SPDX-License-Identifier: MIT
// One socket is the child's input and output: writing to a socket whose other end is gone is an error, and no signal.
#include "ChildProcess.h"
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <poll.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

namespace tilegym::cli {
namespace {

std::vector<char *> pointers(const std::vector<std::string> &texts) {
  std::vector<char *> list;
  for (const std::string &text : texts)
    list.push_back(const_cast<char *>(text.c_str()));
  list.push_back(nullptr);
  return list;
}

/// Ours, with what is given in the place of what has the same name.
std::vector<std::string> joined(const std::vector<std::string> &given) {
  std::vector<std::string> all = given;
  for (char **entry = environ; *entry; ++entry) {
    std::string name(*entry, std::strcspn(*entry, "=") + 1);
    if (std::none_of(given.begin(), given.end(), [&](const std::string &g) { return g.starts_with(name); }))
      all.emplace_back(*entry);
  }
  return all;
}

} // namespace

bool ChildProcess::start(const std::vector<std::string> &command, const std::vector<std::string> &environment,
                         std::string &error) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    error = std::string("cannot make a socket: ") + std::strerror(errno);
    return false;
  }
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  std::vector<std::string> all = joined(environment);
  int result = posix_spawnp(&pid, command[0].c_str(), &actions, nullptr, pointers(command).data(),
                            pointers(all).data());
  posix_spawn_file_actions_destroy(&actions);
  ::close(ends[1]);
  if (result == 0) {
    socket = ends[0];
    pending.clear();
    return true;
  }
  pid = 0;
  ::close(ends[0]);
  error = "cannot start '" + command[0] + "': " + std::strerror(result);
  return false;
}

bool ChildProcess::send(const std::string &line) {
  std::string text = line + "\n";
  for (size_t at = 0; at < text.size();) {
    ssize_t sent = ::send(socket, text.data() + at, text.size() - at, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR)
      continue;
    if (sent < 0)
      return false;
    at += size_t(sent);
  }
  return true;
}

ChildProcess::Got ChildProcess::receive(std::string &line, double seconds) {
  using Clock = std::chrono::steady_clock;
  Clock::time_point until = Clock::now() + std::chrono::milliseconds(int64_t(seconds * 1e3));
  for (;;) {
    if (size_t end = pending.find('\n'); end != std::string::npos) {
      line = pending.substr(0, end);
      pending.erase(0, end + 1);
      return Line;
    }
    auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - Clock::now()).count();
    pollfd wanted{socket, POLLIN, 0};
    int ready = ::poll(&wanted, 1, int(std::clamp<int64_t>(left, 0, 1 << 30)));
    if (ready < 0 && errno == EINTR)
      continue;
    if (ready == 0)
      return Late;
    char bytes[4096];
    ssize_t got = ::recv(socket, bytes, sizeof bytes, 0);
    if (got < 0 && errno == EINTR)
      continue;
    if (got <= 0)
      return Ended;
    pending.append(bytes, size_t(got));
  }
}

int ChildProcess::waitForAny(const std::vector<ChildProcess *> &children, double seconds) {
  std::vector<pollfd> wanted;
  for (const ChildProcess *child : children) {
    if (child->pending.find('\n') != std::string::npos)
      return int(wanted.size());
    wanted.push_back({child->socket, POLLIN, 0}); // a socket of -1 is passed over
  }
  if (::poll(wanted.data(), wanted.size(), int(std::clamp(seconds * 1e3, 0.0, 1e9))) > 0)
    for (size_t i = 0; i < wanted.size(); ++i)
      if (wanted[i].revents)
        return int(i);
  return -1;
}

void ChildProcess::kill() {
  if (pid > 0)
    ::kill(pid, SIGKILL);
  ending();
}

std::string ChildProcess::ending() {
  if (pid <= 0)
    return "it was not started";
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  ::close(socket);
  pid = 0;
  socket = -1;
  if (WIFSIGNALED(status))
    return "signal " + std::to_string(WTERMSIG(status)) + " (" + strsignal(WTERMSIG(status)) + ")";
  return "exit code " + std::to_string(WEXITSTATUS(status));
}

} // namespace tilegym::cli
