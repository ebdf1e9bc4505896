// SPDX-License-Identifier: MIT
// Verifiers and texts of what a thread is, how threads meet, registers and launches.
#include "compiler/targets/nvidia/ptx/AssemblyText.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tilegym::ptx;

Assembly SmIdOp::getAssembly() {
  return AssemblyText(*this, AssemblyText::Ordered).text("mov.u32 $0, %smid;");
}

Assembly ClockOp::getAssembly() {
  return AssemblyText(*this).text("mov.u64 $0, ", getKind() == Clock::Cycles ? "%clock64" : "%globaltimer",
                                  ";");
}

LogicalResult NamedBarrierOp::verify() {
  if (getThreads() % 32 != 0 || getThreads() < 32 || getThreads() > 1024)
    return emitOpError("has ") << getThreads()
                               << " threads, but whole warps meet: a multiple of 32 up to 1024";
  APInt id;
  if (matchPattern(getId(), m_ConstantInt(&id)) && id.getZExtValue() > 15)
    return emitOpError("has id ") << id.getZExtValue() << ", but a block has barriers 0 .. 15";
  return success();
}

Assembly NamedBarrierOp::getAssembly() {
  AssemblyText i(*this);
  // A constant goes into the text, so that ptxas counts the barriers in use instead of reserving all.
  APInt id;
  std::string name =
      matchPattern(getId(), m_ConstantInt(&id)) ? std::to_string(id.getZExtValue()) : i[getId()];
  return i.text("bar.", stringifyNamedBarrierKind(getKind()).str(), " ", name, ", ",
                std::to_string(getThreads()), ";");
}

Assembly WarpBarrierOp::getAssembly() { return AssemblyText(*this).text("bar.warp.sync -1;"); }

LogicalResult VoteOp::verify() {
  if (getType().isInteger(32) != (getKind() == VoteKind::Ballot))
    return emitOpError("gives ") << getType() << ", but ballot gives i32 and the others i1";
  return success();
}

Assembly MatchOp::getAssembly() {
  return AssemblyText(*this, AssemblyText::Ordered)
      .text("match.", stringifyMatchKind(getKind()).str(), ".sync.b",
            std::to_string(getValue().getType().getIntOrFloatBitWidth()), " $0, $1, -1;");
}

Assembly TrapOp::getAssembly() { return AssemblyText(*this, AssemblyText::Ordered).text("trap;"); }

LogicalResult SetMaxRegistersOp::verify() {
  if (getCount() % 8 != 0 || getCount() < 24 || getCount() > 256)
    return emitOpError("has ") << getCount() << " registers, but a multiple of 8 from 24 to 256 is possible";
  return success();
}

Assembly SetMaxRegistersOp::getAssembly() {
  return AssemblyText(*this).text("setmaxnreg.", getChange() == RegisterChange::Increase ? "inc" : "dec",
                                  ".sync.aligned.u32 ", std::to_string(getCount()), ";");
}

Assembly GridDependencyWaitOp::getAssembly() { return AssemblyText(*this).text("griddepcontrol.wait;"); }
Assembly GridLaunchDependentsOp::getAssembly() {
  AssemblyText i(*this);
  return i.text(i.guard(getPredicate()), "griddepcontrol.launch_dependents;");
}
