// SPDX-License-Identifier: MIT
// `tilegym-opt lower SPEC KERNEL [general] [NAME=VALUE ...]`: one variant of a spec's kernel as a module of the tile dialect, for tests.
#include "LowerSpec.h"
#include "compiler/driver/ChooseVariant.h"
#include "compiler/lowering/Lowering.h"
#include "compiler/syntax/Parser.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Verifier.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

using namespace tilegym;

static int fail(const DiagnosticSink &sink) {
  llvm::errs() << renderAll(sink);
  return 1;
}

int tilegym::lowerSpecMain(llvm::ArrayRef<const char *> args) {
  if (args.size() < 2) {
    llvm::errs() << "usage: tilegym-opt lower SPEC KERNEL [general] [NAME=VALUE ...]\n";
    return 1;
  }
  auto buffer = llvm::MemoryBuffer::getFile(args[0]);
  if (!buffer) {
    llvm::errs() << args[0] << ": " << buffer.getError().message() << "\n";
    return 1;
  }
  tile::Facts facts = tile::Facts::Fast;
  driver::Settings settings;
  for (llvm::StringRef arg : args.drop_front(2)) {
    if (arg == "general")
      facts = tile::Facts::General;
    else
      settings.push_back({arg.split('=').first.str(), arg.split('=').second.str()});
  }

  DiagnosticSink sink;
  auto slash = llvm::StringRef(args[0]).rsplit('/');
  std::string fileName = slash.second.empty() ? args[0] : slash.second.str();
  auto file = std::make_shared<const SourceFile>(fileName, (*buffer)->getBuffer().str());
  auto spec = std::make_shared<const ast::Spec>(parseSpec(file, sink));
  std::shared_ptr<const sem::OpModel> op = sink.hasErrors() ? nullptr : sem::analyze(spec, {}, sink);
  if (!op)
    return fail(sink);
  auto variant = driver::chooseVariant(*op, args[1], settings, "", sink);
  auto kernel = variant ? sem::instantiateKernel(*op, *variant, sink) : nullptr;
  if (!kernel)
    return fail(sink);

  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module = mlir::ModuleOp::create(mlir::UnknownLoc::get(&context));
  if (!lowering::lowerKernel(*op, *kernel, facts, args[1], *module, sink))
    return fail(sink);
  module->print(llvm::outs());
  llvm::outs() << "\n";
  return mlir::succeeded(mlir::verify(*module)) ? 0 : 2;
}
