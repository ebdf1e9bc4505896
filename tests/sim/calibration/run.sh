#!/bin/sh
# SPDX-License-Identifier: MIT
# run.sh OUT: runs every calibration kernel of this folder on the GPU; OUT/results.txt and OUT/log.txt are what it gave.
set -e
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1"
exec "$here/calibrate" "$here/kernels" "$1"
