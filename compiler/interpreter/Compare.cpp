// SPDX-License-Identifier: MIT
// Compares outputs, and says where they differ.
#include "compiler/interpreter/Compare.h"
#include "compiler/interpreter/Numerics.h"
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

namespace tilegym::interp {
namespace {

/// Root mean square of the finite elements of each row along the last axis.
std::vector<double> rowScales(const std::vector<double> &want, size_t columns) {
  std::vector<double> scales;
  for (size_t first = 0; first < want.size(); first += columns) {
    double sum = 0;
    size_t finite = 0;
    for (size_t i = first; i < first + columns; ++i)
      if (std::isfinite(want[i])) {
        sum += want[i] * want[i];
        ++finite;
      }
    scales.push_back(finite ? std::sqrt(sum / double(finite)) : 0);
  }
  return scales;
}

/// The distance of neighbours below the smallest normal value.
double leastStep(FloatFormat format) { return std::ldexp(1.0, format.minExponent() - format.fractionBits); }

bool agrees(double got, double want, double allowed) {
  if (std::isnan(want))
    return std::isnan(got);
  if (std::isinf(want))
    return got == want;
  return std::fabs(got - want) <= allowed; // false for a NaN
}

/// Order in which an element is worse than another: by how far it is beyond what is allowed.
double badness(double got, double want, double allowed) {
  double error = std::fabs(got - want);
  if (std::isnan(error) || std::isinf(error))
    return std::numeric_limits<double>::infinity();
  return allowed > 0 ? error / allowed : error;
}

std::vector<int64_t> indexOf(int64_t linear, const Dims &shape) {
  std::vector<int64_t> index(shape.size());
  for (size_t axis = shape.size(); axis-- > 0;) {
    index[axis] = linear % shape[axis];
    linear /= shape[axis];
  }
  return index;
}

std::string bracketed(const std::vector<int64_t> &values) {
  std::string text = "[";
  for (size_t i = 0; i < values.size(); ++i)
    text += (i ? ", " : "") + std::to_string(values[i]);
  return text + "]";
}

std::string elementText(const char *which, const Mismatch::Element &element, DType type) {
  char line[160];
  std::string text = std::string("  ") + which + " at " + bracketed(element.index) + ": got " +
                     valueText(type, element.gotBits) + ", want " + valueText(type, element.wantBits);
  if (element.ulp == std::numeric_limits<uint64_t>::max())
    return text;
  double error = std::fabs(element.got - element.want);
  if (element.got == 0 && element.want == 0 && isFloat(type))
    return text + " (the signs of zero differ, and the tolerance 0 asks for equal bits)";
  if (element.allowed > 0)
    std::snprintf(line, sizeof line, " (off by %.3g, %.3g allowed, %llu %s)", error, element.allowed,
                  static_cast<unsigned long long>(element.ulp), isFloat(type) ? "ulp" : "steps");
  else
    std::snprintf(line, sizeof line, " (off by %.3g, %llu %s)", error,
                  static_cast<unsigned long long>(element.ulp), isFloat(type) ? "ulp" : "steps");
  return text + line;
}

} // namespace

std::optional<DType> toleranceDType(const sem::OpModel &op, const sem::Specialization &interface,
                                    DType output) {
  sem::ToleranceKey key = sem::toleranceKey(op);
  if (key.typeVar < 0)
    return output;
  return isFloat(output) ? std::optional(interface.dtypes[size_t(key.typeVar)]) : std::nullopt;
}

Tolerance toleranceFor(const sem::OpModel &op, const sem::TestModel &model, const sem::BoundCall &call,
                       DType output) {
  std::optional<DType> dtype = toleranceDType(op, call.spec, output);
  const sem::ToleranceModel *row = dtype ? model.tolerance(*dtype) : nullptr;
  if (!row)
    return {};
  Tolerance tolerance = {row->relative, row->absolute, row->absoluteIsFactor};
  if (row->absoluteOf) // what cannot be computed allows nothing
    if (sem::Evaluated value = sem::evaluateHost(*row->absoluteOf, call.values))
      tolerance.absolute = value.value->asFloat();
  return tolerance;
}

uint64_t ulpDistance(DType type, uint64_t a, uint64_t b) {
  constexpr uint64_t far = std::numeric_limits<uint64_t>::max();
  if (!isFloat(type)) {
    bool less = isSigned(type) ? static_cast<int64_t>(convertBits(type, a, DType::I64)) <
                                     static_cast<int64_t>(convertBits(type, b, DType::I64))
                               : a < b;
    uint64_t wideA = convertBits(type, a, isSigned(type) ? DType::I64 : DType::U64),
             wideB = convertBits(type, b, isSigned(type) ? DType::I64 : DType::U64);
    return less ? wideB - wideA : wideA - wideB;
  }
  double x = toDouble(type, &a), y = toDouble(type, &b);
  if (std::isnan(x) || std::isnan(y))
    return std::isnan(x) && std::isnan(y) ? 0 : far;
  uint64_t sign = uint64_t(1) << (sizeInBits(type) - 1);
  uint64_t magnitudeA = a & (sign - 1), magnitudeB = b & (sign - 1);
  if ((a & sign) != (b & sign))
    return magnitudeA + magnitudeB; // across zero; -0 and +0 are 0 apart
  return magnitudeA > magnitudeB ? magnitudeA - magnitudeB : magnitudeB - magnitudeA;
}

std::optional<Mismatch> compareTensors(const std::string &name, const HostTensor &got, const HostTensor &want,
                                       const Tolerance &tolerance, double *used) {
  Mismatch mismatch;
  mismatch.tensor = name;
  mismatch.dtype = want.dtype;
  mismatch.total = want.numElements();
  if (got.shape != want.shape || got.dtype != want.dtype) {
    mismatch.shape = "got " + std::string(tilegym::name(got.dtype)) + bracketed(got.shape) + ", want " +
                     std::string(tilegym::name(want.dtype)) + bracketed(want.shape);
    return mismatch;
  }
  std::vector<double> wants = want.toDoubles(), gots = got.toDoubles();
  size_t columns = want.shape.empty() ? 1 : size_t(want.shape.back());
  bool exact = tolerance.isExact();
  std::vector<double> scales =
      !exact && tolerance.scaled && !wants.empty() ? rowScales(wants, columns) : std::vector<double>();
  double step = isFloat(want.dtype) ? leastStep(floatFormat(want.dtype)) : 0;
  double worst = -1;
  for (size_t i = 0; i < wants.size(); ++i) {
    double allowed = 0;
    if (!exact)
      allowed = std::max(tolerance.relative * std::fabs(wants[i]) +
                             tolerance.absolute * (tolerance.scaled ? scales[i / columns] : 1),
                         step);
    // Bits decide where nothing is allowed: 64-bit integers don't fit a double, and -0 is not +0.
    bool same =
        exact ? got.bits(int64_t(i)) == want.bits(int64_t(i)) || (std::isnan(gots[i]) && std::isnan(wants[i]))
              : agrees(gots[i], wants[i], allowed);
    if (used && allowed > step && std::isfinite(gots[i]) && std::isfinite(wants[i]))
      *used = std::max(*used, std::fabs(gots[i] - wants[i]) / allowed);
    if (same)
      continue;
    Mismatch::Element element;
    element.got = gots[i];
    element.want = wants[i];
    element.allowed = allowed;
    double bad = badness(gots[i], wants[i], allowed);
    if (mismatch.count == 0 || bad > worst) {
      element.index = indexOf(int64_t(i), want.shape);
      element.gotBits = got.bits(int64_t(i));
      element.wantBits = want.bits(int64_t(i));
      element.ulp = ulpDistance(want.dtype, element.gotBits, element.wantBits);
      if (mismatch.count == 0)
        mismatch.first = element;
      mismatch.worst = element;
      worst = bad;
    }
    ++mismatch.count;
  }
  if (mismatch.count == 0)
    return std::nullopt;
  return mismatch;
}

std::string valueText(DType type, uint64_t bits) {
  if (isBool(type))
    return bits & 1 ? "true" : "false";
  if (isUnsigned(type))
    return std::to_string(convertBits(type, bits, DType::U64));
  if (!isFloat(type))
    return std::to_string(static_cast<int64_t>(convertBits(type, bits, DType::I64)));
  char text[40];
  int digits = type == DType::F64 ? 17 : type == DType::F32 ? 9 : type == DType::F16 ? 5 : 4;
  std::snprintf(text, sizeof text, "%.*g", digits, toDouble(type, &bits));
  return text;
}

std::string describe(const Mismatch &mismatch) {
  std::string text = mismatch.tensor + " " + std::string(name(mismatch.dtype)) + ": ";
  if (!mismatch.shape.empty())
    return text + mismatch.shape + "\n";
  text += std::to_string(mismatch.count) + " of " + std::to_string(mismatch.total) + " elements differ\n";
  text += elementText("first", mismatch.first, mismatch.dtype) + "\n";
  if (mismatch.count > 1)
    text += elementText("worst", mismatch.worst, mismatch.dtype) + "\n";
  return text;
}

} // namespace tilegym::interp
