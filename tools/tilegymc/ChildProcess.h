// SPDX-License-Identifier: MIT
// Another program that is talked to line by line: the peers of a benchmark, and tuning's workers, which a kernel may hang or crash.
#pragma once
#include <string>
#include <vector>

namespace tilegym::cli {

class ChildProcess {
public:
  ChildProcess() = default;
  ChildProcess(const ChildProcess &) = delete;
  ChildProcess &operator=(const ChildProcess &) = delete;
  ~ChildProcess() { kill(); }

  /// Its standard input and output are ours to use; standard error stays the terminal's. `environment` has "NAME=VALUE" beside our own.
  bool start(const std::vector<std::string> &command, const std::vector<std::string> &environment,
             std::string &error);
  bool isRunning() const { return pid > 0; }
  /// False where it has ended.
  bool send(const std::string &line);
  enum Got { Line, Ended, Late };
  /// The next line, waited for at most so long.
  Got receive(std::string &line, double seconds);
  /// Several of them: which has something to receive; -1 where none has within the time.
  static int waitForAny(const std::vector<ChildProcess *> &children, double seconds);
  /// Ends it, whatever it does.
  void kill();
  /// How it ended: "exit code 3", "signal 11 (Segmentation fault)". Waits for that.
  std::string ending();

private:
  int pid = 0, socket = -1;
  std::string pending; ///< received, but not yet a whole line
};

} // namespace tilegym::cli
