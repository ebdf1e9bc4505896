// SPDX-License-Identifier: MIT
// Inside the interpreter a fault unwinds as an exception to the run that caught it; the API turns it into a value.
#pragma once
#include "compiler/interpreter/Interpreter.h"

namespace tilegym::interp {

struct RunFault {
  Fault fault;
};

[[noreturn]] inline void fail(Fault::Kind kind, std::string message, SourceRange range = {},
                              std::string help = {}) {
  RunFault thrown;
  thrown.fault.kind = kind;
  thrown.fault.range = range;
  thrown.fault.message = std::move(message);
  thrown.fault.help = std::move(help);
  throw thrown;
}

} // namespace tilegym::interp
