// SPDX-License-Identifier: MIT
// A `tune` section as data: what each setting may be, once its expressions are checked. Both the analysis of a spec and the
// enumeration of candidates read it from here.
#pragma once
#include "compiler/semantics/HostExpr.h"
#include "compiler/semantics/Knobs.h"

namespace tilegym::sem {

/// One setting: candidate values as host expressions over compile-time dims and consts.
struct TuneSetting {
  std::string name;
  const KnobInfo *knob = nullptr; ///< null: a tile parameter
  std::vector<ExprPtr> values;
  SourceRange range;
};

struct TuneSpace {
  std::vector<TuneSetting> settings; ///< an arch's settings replace the common ones of the same name
  std::vector<ExprPtr> where;        ///< over locals: tile parameters by number, then `names`
  std::vector<std::string> names;    ///< what local i of `where` is called
};

/// Which variants of a kernel are built: `facts = fast` in its `tune` section leaves calls that do not hold to them to later kernels, `facts = general` is for these.
enum class FactsBuilt : uint8_t { All, Fast, General };
FactsBuilt factsBuilt(const KernelModel &kernel);

/// Checks the common part and `arch`'s own ("" for none). Errors are reported; settings in error are left out.
TuneSpace tuneSpace(const OpModel &op, const KernelModel &kernel, const ast::TuneDecl &tune,
                    std::string_view arch, DiagnosticSink &sink);

} // namespace tilegym::sem
