// SPDX-License-Identifier: MIT
// Another program: talked to line by line (the peers of a benchmark, and tuning's workers, which a kernel may hang or crash), or run to its end
// (the commands that `verify` is made of, where a crash is a line of its list; plotters).
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

  /// Its standard input and output are ours to use; standard error stays the terminal's, unless `keepErrors`. `environment` has "NAME=VALUE" beside
  /// our own.
  bool start(const std::vector<std::string> &command, const std::vector<std::string> &environment,
             std::string &error, bool keepErrors = false);
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
  std::string ending() { return endingText(wait()); }

  struct Finished {
    int code = 0;         ///< its exit code
    std::string crash;    ///< why it has none: it was not started, or a signal ended it
    std::string out, err; ///< what it wrote
    bool isGood() const { return crash.empty() && code == 0; }
    /// The crash, or else the text behind the first "error: " of its stderr; all of it where there is none.
    std::string firstError() const;
  };
  /// Runs a command without input to its end.
  static Finished run(const std::vector<std::string> &command);

private:
  /// waitpid's status, once; -1 where there is no process.
  int wait();
  static std::string endingText(int status);

  int pid = 0, socket = -1, errors = -1;
  std::string pending; ///< received, but not yet a whole line
};

/// This very program, as the first word of a command: also after another one has taken its file's place.
inline const std::string kOwnProgram = "/proc/self/exe";

} // namespace tilegym::cli
