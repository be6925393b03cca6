#!/usr/bin/env bash
# Runs the GPU tests, then again under each tool of compute-sanitizer.
#
#   tests/device/run.sh [PROGRAM [SECONDS]]
#
# PROGRAM is the built test program; without it, cargo builds one. The checkers
# run few and small cases, since they slow kernels down a hundredfold. A checker
# that the machine does not have or does not let work is reported as such and
# fails nothing; what it finds does. Logs go to $LOGS, or a new folder.
set -uo pipefail

program=${1:-}
seconds=${2:-120}
logs=${LOGS:-$(mktemp -d)}
mkdir -p "$logs"
sanitizer=${SANITIZER:-$(command -v compute-sanitizer || echo /usr/local/cuda/bin/compute-sanitizer)}
summary=()
failures=0

build() {
    cargo build --release -p seawall-tests --test device --message-format=json |
        sed -n 's/.*"executable":"\([^"]*device-[^"]*\)".*/\1/p' | tail -n 1
}

note() {
    summary+=("$(printf '%-12s %-8s %s' "$1" "$2" "$3")")
    [ "$2" != FAILED ] || failures=$((failures + 1))
}

# The last line of a log that counts something.
counts() {
    grep -E "[0-9]+ passed, [0-9]+ failed" "$1" | tail -n 1 | grep . || tail -n 1 "$1"
}

# What `cargo xtask build-ptx --crate examples/own-wave` wrote, if it did.
own=$(dirname "${BASH_SOURCE[0]}")/../../examples/own-wave/ptx
own_ptx=()
[ ! -d "$own" ] || own_ptx=(--own-ptx "$own")

plain() {
    "$program" --seconds "$seconds" "${own_ptx[@]}" 2>&1 | tee "$logs/plain.log"
    local code=${PIPESTATUS[0]}
    note plain "$([ "$code" = 0 ] && echo passed || echo FAILED)" "$(counts "$logs/plain.log")"
}

checked() {
    local tool=$1 log=$logs/$1.log
    timeout 150 "$sanitizer" --tool "$tool" --error-exitcode 9 "$program" --quick --seconds 20 "${own_ptx[@]}" >"$log" 2>&1
    local code=$?
    local found
    found=$(grep -E 'ERROR SUMMARY|RACECHECK SUMMARY' "$log" | tail -n 1 | sed 's/^=* *//')
    if grep -qiE 'device not supported|unable to find|failed to initialize' "$log"; then
        note "$tool" skipped "$(grep -iE -m 1 'not supported|unable|failed' "$log")"
    elif [ "$code" = 0 ]; then
        note "$tool" passed "$(counts "$log"); $found"
    else
        note "$tool" FAILED "exit $code; $(counts "$log"); $found"
        grep -E '^=========|FAILED' "$log" | head -n 40
    fi
}

[ -n "$program" ] || program=$(build)
if [ ! -x "$program" ]; then
    echo "no test program at '$program'" >&2
    exit 2
fi

plain
for tool in memcheck racecheck synccheck; do
    if [ -x "$sanitizer" ]; then
        checked "$tool"
    else
        note "$tool" skipped "no compute-sanitizer; set SANITIZER to its path"
    fi
done

echo
nvidia-smi --query-gpu=name,driver_version --format=csv,noheader 2>/dev/null
"$sanitizer" --version 2>/dev/null | grep -i version
printf '%s\n' "${summary[@]}"
exit $((failures > 0))
