#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Tests everything in this bundle on the GPU of this machine; the last line is the sum. usage: [LIMIT=seconds] run_all.sh [OUT-FOLDER]
cd "$(dirname "$0")" || exit 3
out=${1:-out}
mkdir -p "$out"
passed=0 failed=0
step() { # NAME COMMAND...
  local name=$1
  shift
  if timeout "${LIMIT:-600}" "$@" >"$out/$name.txt" 2>&1; then # a kernel that hangs fails its step
    passed=$((passed + 1))
    echo "passed  $name: $(tail -n 1 "$out/$name.txt")"
  else
    local code=$?
    failed=$((failed + 1))
    echo "FAILED  $name (exit $code), see $out/$name.txt:"
    tail -n 12 "$out/$name.txt"
  fi
}
./tilegymc doctor || true
for spec in specs/*.tile; do
  op=$(basename "$spec" .tile)
  grep -q "\"name\": \"$op\"" kernels/manifest.json || { echo "skipped $op: not in the package"; continue; }
  if grep -q "oracle torch" "$spec"; then
    # What the GPU made of each case is judged twice: by the reference, and by the spec's torch expression.
    rm -rf "$out/cases"
    step "test-$op" ./tilegymc test "$spec" --backend gpu --package kernels/tilegym_kernels.tgk --save "$out/cases"
    step "oracle-$op" python3 oracle.py "$out/cases" --device cuda
    rm -rf "$out/cases"
  else
    step "test-$op" ./tilegymc test "$spec" --backend gpu --package kernels/tilegym_kernels.tgk
  fi
done
if [ -f fuzz.tar.xz ]; then
  python3 -m tarfile -e fuzz.tar.xz .
  step fuzz ./fuzz_gpu fuzz
else
  echo "skipped fuzz: the bundle has no random kernels"
fi
step strides python3 smoke.py kernels
step views python3 views.py kernels
step repeats python3 repeats.py kernels
step huge python3 huge.py kernels
step calls ./gpu_calls
step early-launch python3 early_launch.py kernels
step views-speed python3 bench_views.py kernels --rounds 11 --shapes 16384x4096,4096x16384,8192x3000,4096x65536
step planted python3 planted.py planted
if [ -d python ]; then
  step python-calls python3 python_calls.py kernels
  step vendor python3 vendor.py kernels
else
  echo "skipped python-calls: the bundle was built without Python's headers"
fi
step dispatch ./bench_dispatch kernels/tilegym_kernels.tgk softmax rms_norm vector_add
step dispatch-maps ./bench_dispatch --maps 200 --limit 800 kernels/tilegym_kernels.tgk matmul # three tensor maps a call
if command -v compute-sanitizer >/dev/null; then
  for tool in memcheck racecheck; do
    for op in vector_add softmax rms_norm layer_norm silu_and_mul dropout rope; do
      step "$tool-$op" compute-sanitizer --tool "$tool" --error-exitcode 9 python3 sanitize.py kernels "$op"
    done
  done
else
  echo "skipped compute-sanitizer: not installed here"
fi
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
