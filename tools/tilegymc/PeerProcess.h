// SPDX-License-Identifier: MIT
// The `peer` lines of a spec, run by tools/peers.py in a process of its own: Python with PyTorch, where there is one. It times a run when it is asked
// to, so that its columns take turns with ours.
#pragma once
#include "BenchResult.h"
#include "ChildProcess.h"
#include "Command.h"
#include "Contestant.h"

namespace tilegym::cli {

class PeerProcess {
public:
  /// False where there is none: `about` says why.
  bool start(const std::string &script);
  bool isRunning() const { return child.isRunning(); }
  /// Versions of what it runs on, or why it does not.
  const std::string &about() const { return versions; }
  /// A cuBLASLt that came with Python's packages; empty: none.
  const std::string &cublasLt() const { return library; }

  /// One contestant a peer of the spec; those that it cannot run are columns that lack.
  std::vector<std::unique_ptr<Contestant>> prepare(const sem::OpModel &op, const sem::TestCall &call,
                                                   const interp::Arguments &pattern,
                                                   std::vector<BenchColumn> &lacking);
  /// The answer to a question; nothing, with `error` set, where there is none, and after too long a time.
  std::optional<Json> ask(const Json &question, std::string &error);

private:
  ChildProcess child;
  std::string versions, library;
};

/// Where peers.py is: in ./tools, or beside the installed specs. Empty: nowhere.
std::string findPeers();

} // namespace tilegym::cli
