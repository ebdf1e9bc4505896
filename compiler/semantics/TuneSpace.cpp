// SPDX-License-Identifier: MIT
// Reads the settings of a `tune` section: real parameters and knobs, values of the right kind, `where` over them.
#include "compiler/semantics/TuneSpace.h"
#include "compiler/semantics/Analyze.h"
#include <algorithm>
#include <bit>

namespace tilegym::sem {
namespace {

class TuneReader {
public:
  TuneReader(const OpModel &op, const KernelModel &kernel, DiagnosticSink &sink)
      : op(op), kernel(kernel), sink(sink) {}
  void read(const std::vector<ast::Setting> &settings, TuneSpace &space, size_t replaceable);
  void where(const std::vector<ast::Setting> &settings, TuneSpace &space);
  void factsSettings(const ast::TuneDecl &tune);

private:
  bool value(const ast::Expr &e, TuneSetting &setting);
  ExprPtr number(const ast::Expr &e, const TuneSetting &setting);
  std::vector<const ast::Expr *> listed(const ast::Setting &setting);
  bool compileTime(const ExprPtr &e, std::string_view what);
  HostScope scope() { return {op, "a tune section"}; }

  const OpModel &op;
  const KernelModel &kernel;
  DiagnosticSink &sink;
};

/// Values are fixed before any call, so run-time dims and scalars cannot take part.
bool TuneReader::compileTime(const ExprPtr &e, std::string_view what) {
  if (!e)
    return false;
  HostUses uses = usesOf(*e);
  std::string name;
  for (int64_t d : uses.dims)
    if (op.dims[d].choices.empty())
      name = op.dims[d].name;
  for (int64_t s : uses.scalars)
    if (!op.scalars[s].isConst)
      name = op.scalars[s].name;
  if (name.empty())
    return true;
  sink.error(e->range, std::string(what) + " depends on `" + name + "`, which is known only at run time",
             "use parameters, knobs, consts and compile-time dims");
  return false;
}

/// Null where it is wrong.
ExprPtr TuneReader::number(const ast::Expr &e, const TuneSetting &setting) {
  ExprPtr value = checkHostIndex(e, scope(), "a value of `" + setting.name + "`", sink);
  if (!compileTime(value, "a value of `" + setting.name + "`"))
    return nullptr;
  if (value->op == Op::Const) {
    int64_t v = value->constant.asInt();
    int64_t least = setting.knob ? setting.knob->least : 1,
            greatest = setting.knob ? setting.knob->greatest : int64_t(1) << 20;
    if (v < least || v > greatest) {
      sink.error(e.range, "`" + setting.name + "` cannot be " + std::to_string(v),
                 "it is " + std::to_string(least) + " to " + std::to_string(greatest));
      return nullptr;
    }
    if (setting.knob && setting.knob->powerOfTwo && !std::has_single_bit(uint64_t(v))) {
      sink.error(e.range, "`" + setting.name + "` cannot be " + std::to_string(v), "it is a power of two");
      return nullptr;
    }
  }
  return value;
}

bool TuneReader::value(const ast::Expr &e, TuneSetting &setting) {
  ExprPtr chosen;
  auto constant = [&](int64_t v) { chosen = makeConst(DType::Index, Constant{v}, e.range); };
  if (!setting.knob || setting.knob->kind == KnobInfo::Int) {
    chosen = number(e, setting);
  } else if (setting.knob->kind == KnobInfo::Bool) {
    if (const auto *literal = ast::dynCast<ast::BoolLiteral>(&e))
      constant(literal->value);
    else
      sink.error(e.range, "`" + setting.name + "` is true or false, found `" + sourceText(e.range) + "`");
  } else {
    const auto *word = ast::dynCast<ast::Name>(&e);
    for (size_t i = 0; word && i < setting.knob->words.size(); ++i)
      if (setting.knob->words[i] == word->name)
        constant(int64_t(i));
    if (!chosen)
      sink.error(e.range, "`" + setting.name + "` cannot be `" + sourceText(e.range) + "`",
                 "it is one of " + quotedList(setting.knob->words));
  }
  if (chosen)
    setting.values.push_back(chosen);
  return chosen != nullptr;
}

/// The expressions of `= e` (one) or `in [...]`.
std::vector<const ast::Expr *> TuneReader::listed(const ast::Setting &setting) {
  if (setting.kind == ast::Setting::Equals)
    return {setting.value.get()};
  const auto *list = ast::dynCast<ast::List>(setting.value.get());
  if (!list || list->elements.empty()) {
    sink.error(setting.value ? setting.value->range : setting.range, "expected a list of candidate values",
               "write " + setting.name.name + " in [1, 2, 4]");
    return {};
  }
  std::vector<const ast::Expr *> values;
  for (const ast::ExprPtr &element : list->elements)
    values.push_back(element.get());
  return values;
}

/// `facts = WORD`, which is the kernel's and no point's.
bool isFacts(const KernelModel &kernel, const ast::Setting &setting) {
  return setting.kind != ast::Setting::Where && setting.name.name == "facts" &&
         std::find(kernel.tileParams.begin(), kernel.tileParams.end(), "facts") == kernel.tileParams.end();
}

std::string_view wordOf(const ast::Setting &setting) {
  const auto *word = ast::dynCast<ast::Name>(setting.value.get());
  return setting.kind == ast::Setting::Equals && word ? std::string_view(word->name) : std::string_view();
}

void TuneReader::factsSettings(const ast::TuneDecl &tune) {
  const ast::Setting *first = nullptr;
  for (const ast::Setting &written : tune.settings) {
    if (!isFacts(kernel, written))
      continue;
    if (first)
      sink.error(written.name.range, "`facts` is set twice");
    else if (kernel.isPlan)
      sink.error(written.name.range, "`" + kernel.name + "` is a plan, whose launches take any strides",
                 "leave `facts` out");
    else if (wordOf(written) != "fast" && wordOf(written) != "general")
      sink.error(written.value ? written.value->range : written.name.range,
                 "`facts` is one of `fast` and `general`", "leave it out where both are to be built");
    first = &written;
  }
  for (const ast::ArchSettings &arch : tune.archs)
    for (const ast::Setting &written : arch.settings)
      if (isFacts(kernel, written))
        sink.error(written.name.range, "`facts` is the same for every target",
                   "write it outside of `arch " + arch.arch.name + "`");
}

void TuneReader::read(const std::vector<ast::Setting> &settings, TuneSpace &space, size_t replaceable) {
  for (const ast::Setting &written : settings) {
    if (written.kind == ast::Setting::Where || isFacts(kernel, written))
      continue;
    TuneSetting setting;
    setting.name = written.name.name;
    setting.range = written.name.range;
    auto param = std::find(kernel.tileParams.begin(), kernel.tileParams.end(), setting.name);
    setting.knob = param == kernel.tileParams.end() ? findKnob(setting.name) : nullptr;
    if (param != kernel.tileParams.end() && kernel.derived[size_t(param - kernel.tileParams.begin())]) {
      sink.error(setting.range, "`" + setting.name + "` is derived and cannot be tuned",
                 "its value follows from the header of `" + kernel.name + "`");
      continue;
    }
    if (param == kernel.tileParams.end() && !setting.knob) {
      std::vector<std::string> known;
      for (size_t i = 0; i < kernel.tileParams.size(); ++i)
        if (!kernel.derived[i])
          known.push_back(kernel.tileParams[i]);
      for (const KnobInfo &knob : knobs())
        known.push_back(knob.name);
      sink.error(setting.range,
                 "`" + setting.name + "` is neither a parameter of `" + kernel.name + "` nor a knob",
                 suggestion(setting.name, known));
      continue;
    }
    auto old = std::find_if(space.settings.begin(), space.settings.end(),
                            [&](const TuneSetting &s) { return s.name == setting.name; });
    if (old != space.settings.end() && size_t(old - space.settings.begin()) >= replaceable) {
      sink.error(setting.range, "`" + setting.name + "` is set twice");
      continue;
    }
    bool good = true;
    for (const ast::Expr *e : listed(written))
      good = e && value(*e, setting) && good;
    if (!good)
      continue;
    if (old != space.settings.end())
      *old = std::move(setting);
    else
      space.settings.push_back(std::move(setting));
  }
}

void TuneReader::where(const std::vector<ast::Setting> &settings, TuneSpace &space) {
  HostScope inside = scope();
  for (size_t i = 0; i < space.names.size(); ++i) {
    auto local = std::make_shared<Expr>();
    local->op = Op::Local;
    local->type = scalarType(DType::Index);
    local->index = int64_t(i);
    inside.names[space.names[i]] = {local};
  }
  // The words of a knob are its numbers.
  for (const TuneSetting &setting : space.settings)
    for (size_t i = 0; setting.knob && i < setting.knob->words.size(); ++i)
      inside.names.insert(
          {setting.knob->words[i], {makeConst(DType::Index, Constant{int64_t(i)}, setting.range)}});
  for (const ast::Setting &written : settings)
    if (written.kind == ast::Setting::Where && written.value) {
      ExprPtr condition = checkHostBool(*written.value, inside, "the condition of `where`", sink);
      if (compileTime(condition, "the condition of `where`"))
        space.where.push_back(condition);
    }
}

} // namespace

FactsBuilt factsBuilt(const KernelModel &kernel) {
  if (kernel.tune)
    for (const ast::Setting &written : kernel.tune->settings)
      if (isFacts(kernel, written))
        return wordOf(written) == "fast" ? FactsBuilt::Fast : FactsBuilt::General;
  return FactsBuilt::All;
}

TuneSpace tuneSpace(const OpModel &op, const KernelModel &kernel, const ast::TuneDecl &tune,
                    std::string_view arch, DiagnosticSink &sink) {
  TuneReader reader(op, kernel, sink);
  TuneSpace space;
  reader.factsSettings(tune);
  reader.read(tune.settings, space, 0);
  const ast::ArchSettings *own = nullptr;
  for (const ast::ArchSettings &settings : tune.archs)
    if (settings.arch.name == arch)
      own = &settings;
  if (own)
    reader.read(own->settings, space, space.settings.size());
  space.names = kernel.tileParams;
  for (const TuneSetting &setting : space.settings) {
    if (setting.knob)
      space.names.push_back(setting.name);
  }
  reader.where(tune.settings, space);
  if (own)
    reader.where(own->settings, space);
  return space;
}

} // namespace tilegym::sem
