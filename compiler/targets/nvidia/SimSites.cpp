// SPDX-License-Identifier: MIT
// The globals behind a site. Plain arrays are dense constants; what holds addresses has a body that builds it field by field.
#include "compiler/targets/nvidia/SimSites.h"

using namespace mlir;

namespace tilegym::nvidia {

SimSites::SimSites(ModuleOp module)
    : module(module), globals(OpBuilder::atBlockBegin(module.getBody())),
      pointer(LLVM::LLVMPointerType::get(module.getContext())), i32(globals.getI32Type()),
      i64(globals.getI64Type()) {}

LLVM::GlobalOp SimSites::constant(Type type, Attribute value) {
  return LLVM::GlobalOp::create(globals, module.getLoc(), type, /*isConstant=*/true, LLVM::Linkage::Private,
                                "tilegym_site_" + std::to_string(count++), value);
}

LLVM::GlobalOp SimSites::text(StringRef text) {
  LLVM::GlobalOp &global = texts[text];
  if (!global) {
    std::string ended = text.str() + '\0';
    global =
        constant(LLVM::LLVMArrayType::get(globals.getI8Type(), ended.size()), globals.getStringAttr(ended));
  }
  return global;
}

LLVM::GlobalOp SimSites::structure(ArrayRef<std::pair<Type, Field>> fields) {
  SmallVector<Type> types;
  for (const auto &[type, value] : fields)
    types.push_back(type);
  auto structType = LLVM::LLVMStructType::getLiteral(module.getContext(), types);
  LLVM::GlobalOp global = constant(structType, Attribute());
  Location loc = global.getLoc();
  OpBuilder b = OpBuilder::atBlockEnd(&global.getInitializerRegion().emplaceBlock());
  Value value = LLVM::UndefOp::create(b, loc, structType);
  for (auto [i, field] : llvm::enumerate(fields)) {
    Value held;
    if (auto *address = std::get_if<LLVM::GlobalOp>(&field.second))
      held = *address ? Value(LLVM::AddressOfOp::create(b, loc, *address))
                      : Value(LLVM::ZeroOp::create(b, loc, pointer));
    else
      held = LLVM::ConstantOp::create(b, loc, field.first,
                                      b.getIntegerAttr(field.first, std::get<int64_t>(field.second)));
    value = LLVM::InsertValueOp::create(b, loc, value, held, int64_t(i));
  }
  LLVM::ReturnOp::create(b, loc, value);
  return global;
}

/// A dense constant of numbers of one width, made once; none where there are no numbers.
template <class T> static Attribute numbers(OpBuilder &b, ArrayRef<T> values) {
  auto type = RankedTensorType::get(int64_t(values.size()), b.getIntegerType(sizeof(T) * 8));
  return values.empty() ? Attribute() : Attribute(DenseElementsAttr::get(type, values));
}

LLVM::GlobalOp SimSites::attributesOf(const SiteFacts &facts) {
  auto array = [&](ArrayRef<int64_t> values) {
    Attribute dense = numbers(globals, values);
    LLVM::GlobalOp &global = arrays[dense];
    if (!global)
      global = constant(LLVM::LLVMArrayType::get(i64, values.size()), dense);
    return global;
  };
  SmallVector<std::pair<Type, Field>> fields;
  SmallVector<int64_t> plain;
  for (const auto &attribute : facts.attributes) {
    if (auto *number = std::get_if<int64_t>(&attribute)) {
      plain.push_back(*number);
      fields.push_back({i64, *number});
    } else if (auto *string = std::get_if<std::string>(&attribute)) {
      fields.push_back({pointer, text(*string)});
    } else {
      std::vector<int64_t> counted = std::get<std::vector<int64_t>>(attribute);
      counted.insert(counted.begin(), int64_t(counted.size()));
      fields.push_back({pointer, array(counted)});
    }
  }
  if (fields.empty())
    return {};
  return plain.size() == fields.size() ? array(plain) : structure(fields);
}

Value SimSites::site(OpBuilder &b, Location loc, const SiteFacts &facts) {
  std::string file;
  int64_t line = 0, column = 0;
  loc->walk([&](Location inner) {
    auto place = dyn_cast<FileLineColLoc>(inner);
    if (!place)
      return WalkResult::advance();
    file = place.getFilename().str();
    line = place.getLine();
    column = place.getColumn();
    return WalkResult::interrupt();
  });

  // What makes two sites the same.
  std::string key;
  llvm::raw_string_ostream os(key);
  os << facts.mnemonic << '\0' << file << '\0' << line << ' ' << column;
  for (const auto &attribute : facts.attributes) {
    os << '\0';
    if (auto *number = std::get_if<int64_t>(&attribute))
      os << *number;
    else if (auto *string = std::get_if<std::string>(&attribute))
      os << *string;
    else
      llvm::interleave(std::get<std::vector<int64_t>>(attribute), os, ",");
  }
  for (int32_t segment : facts.segments)
    os << '/' << segment;
  os << '\0'
     << StringRef(reinterpret_cast<const char *>(facts.operandTypes.data()), facts.operandTypes.size())
     << '\0' << StringRef(reinterpret_cast<const char *>(facts.resultTypes.data()), facts.resultTypes.size());

  LLVM::GlobalOp own, &global = facts.own ? own : sites[key];
  if (!global) {
    std::vector<uint8_t> types = facts.operandTypes;
    types.insert(types.end(), facts.resultTypes.begin(), facts.resultTypes.end());
    auto array = [&](Type element, size_t size, Attribute dense) {
      if (!dense)
        return LLVM::GlobalOp();
      LLVM::GlobalOp &known = arrays[dense];
      if (!known)
        known = constant(LLVM::LLVMArrayType::get(element, size), dense);
      return known;
    };
    global =
        structure({{pointer, text(facts.mnemonic)},
                   {pointer, text(file)},
                   {i32, line},
                   {i32, column},
                   {i32, int64_t(facts.operandTypes.size())},
                   {i32, int64_t(facts.resultTypes.size())},
                   {i32, int64_t(facts.attributes.size())},
                   {i32, int64_t(facts.segments.size())},
                   {pointer, attributesOf(facts)},
                   {pointer, array(i32, facts.segments.size(), numbers<int32_t>(globals, facts.segments))},
                   {pointer, array(globals.getI8Type(), types.size(), numbers<uint8_t>(globals, types))}});
  }
  return LLVM::AddressOfOp::create(b, loc, global);
}

} // namespace tilegym::nvidia
