#!/usr/bin/env bash
# Everything that must pass before a change is good. People and machines run the same.
#
#   ./ci.sh                 all steps in order
#   ./ci.sh lints tests     these steps
#   ./ci.sh wheel slurm     steps that are not among all: they take long, or install much; also site, musl, wasm
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

# A machine that builds once has no use for what incremental compilation keeps for the next time.
if [ -n "${CI:-}" ]; then
    export CARGO_INCREMENTAL=0
fi

steps=(prepare format lints documentation tests combinations program python)

# Installs what tests ask for if it is missing. None of it is required: without tshark, tests of
# captures are skipped and say so; without Chromium, tests of pages; without pdftotext, tests of printed pages;
# without MPI or libclang, all of the package `mpi`.
prepare() {
    local program missing=()
    for program in tshark chromium; do
        command -v "$program" > /dev/null || missing+=("$program")
    done
    command -v pdftotext > /dev/null || missing+=(poppler-utils)
    can_use_mpi || missing+=(openmpi-bin libopenmpi-dev libclang-dev)
    can_use_python || missing+=(python3-venv)
    if [ ${#missing[@]} -gt 0 ] && [ "$(id -u)" = 0 ] && command -v apt-get > /dev/null; then
        export DEBIAN_FRONTEND=noninteractive
        { apt-get update -q && apt-get install -q -y --no-install-recommends "${missing[@]}"; } || true
    fi
    for program in tshark chromium; do
        if command -v "$program" > /dev/null; then
            "$program" --version 2> /dev/null | head -n 1
        else
            echo "note: no $program; tests that need it are skipped"
        fi
    done
    command -v pdftotext > /dev/null || echo "note: no pdftotext; tests that need it are skipped"
}

# Whether a program for MPI can be built here, which also takes libclang, and started.
can_use_mpi() {
    command -v mpirun > /dev/null && command -v mpicc > /dev/null \
        && { [ -n "${LIBCLANG_PATH:-}" ] || compgen -G '/usr/lib/llvm*/lib/libclang.so*' > /dev/null \
            || compgen -G '/usr/lib/llvm*/lib/libclang-[0-9]*.so*' > /dev/null \
            || [[ $(ldconfig -p 2> /dev/null) =~ libclang(-[0-9.]+)?\.so ]]; }
}

# The packages that can be built here. All at once, so that what they use is built once.
packages() {
    local options=(--workspace)
    if ! can_use_mpi; then
        echo "note: no MPI or no libclang; rocelab-mpi is neither built nor tested" >&2
        options+=(--exclude rocelab-mpi)
    fi
    if ! can_use_python; then
        echo "note: no Python of 3.10 or newer with venv; the package for it is neither built nor tested" >&2
        options+=(--exclude rocelab-python)
    fi
    echo "${options[@]}"
}

# Whether there is a Python that the package runs on, and that can make environments.
can_use_python() {
    python3 -c 'import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 10))' 2> /dev/null
}

# Modules that a macro declares are unknown to `cargo fmt`, so every file is checked by its name.
format() {
    cargo fmt --all -- --check
    git ls-files -z -- '*.rs' | xargs -0 rustfmt --edition 2024 --check
}

# Benches and fuzz targets are checked, not run.
lints() {
    cargo clippy $(packages) --all-targets -- -D warnings
}

documentation() {
    RUSTDOCFLAGS="-D warnings" cargo doc $(packages) --no-deps
}

# Unit, integration and documentation tests; those of `mpi` start ranks. Where there is cargo-nextest, tests of
# several programs run at once; without it, one program after the other, which takes some minutes longer.
tests() {
    if cargo nextest --version > /dev/null 2>&1; then
        # Some tests wait for programs that they started: more run at once than there are cores.
        cargo nextest run --cargo-profile test --test-threads $(($(nproc) + 2)) $(packages)
        cargo test --doc $(packages)
    else
        cargo test $(packages)
    fi
}

# Random scenarios of combined features for a minute. The profile of the tests is optimised, and checks for
# overflows. Built together with the tests, the program uses what they were built of: alone, its dependencies
# have fewer features, and all would be compiled anew.
combinations() {
    cargo build --profile test $(packages) --tests --bin combinations
    "${CARGO_TARGET_DIR:-target}/debug/combinations" --seed 1 \
        --seconds 60 --count 4000 --parts 600 --kills 200
}

# The scenarios that the README shows, and the page of a run of 320 servers in a browser. The program is that of the
# tests: built for release, it is the same code, and would take as long to compile as all tests.
program() {
    local results rocelab=${CARGO_TARGET_DIR:-target}/debug/rocelab
    cargo build --profile test $(packages) --tests --bin rocelab
    results=$(mktemp -d)
    for scenario in dcqcn-incast incast-v2 incast-v1 fat320-websearch; do
        "$rocelab" run "scenarios/$scenario.toml" --out "$results/$scenario"
    done
    "$rocelab" report "$results/fat320-websearch"
    ROCELAB_REPORT="$results/fat320-websearch/report.html" \
        cargo test $(packages) --test integration -- --nocapture that_the_environment_names
    rm -r "$results"
}

# The Python package, as the workspace builds it, in an environment below `target`.
python() {
    if ! can_use_python; then
        echo "note: no Python of 3.10 or newer with venv; its package is not tested"
        return
    fi
    local target=${CARGO_TARGET_DIR:-target} place
    place=$target/python
    cargo build --profile test $(packages) --tests --lib --bin rocelab
    environment "$place/environment" -r python/tests/requirements.txt
    rm -rf "$place/rocelab"
    cp -r python/rocelab "$place"
    cp "$target/debug/librocelab_native.so" "$place/rocelab/_native.abi3.so"
    ROCELAB=$(realpath "$target/debug/rocelab") PYTHONPATH=$(realpath "$place") \
        "$place/environment/bin/python" -m pytest -q -n 2 -p no:cacheprovider --doctest-modules --nbmake \
        python/tests examples "$place/rocelab"
}

# An environment of Python with these packages, made once.
environment() {
    local place=$1
    shift
    "$place/bin/python" -m pip --version > /dev/null 2>&1 || python3 -m venv --clear "$place"
    "$place/bin/python" -m pip install -q --no-compile --disable-pip-version-check "$@"
}

# A step of its own: the wheel as it is released, which takes all optimisation, and what a new user does with it.
wheel() {
    local target=${CARGO_TARGET_DIR:-target} place
    place=$target/wheel
    rm -rf "$place"
    environment "$place/tools" 'maturin[zig]>=1.8,<2'
    PATH="$(realpath "$place")/tools/bin:$PATH" maturin build --release --zig --compatibility manylinux2014 --out "$place"
    environment "$place/environment" "$(echo "$place"/rocelab-*.whl)[figures]"
    "$place/environment/bin/python" -I python/first_figure.py "$place/first-figure.png"
    ls -l "$place"/*.whl "$place"/*.png
}

# A step of its own: a sweep by a real Slurm on this machine.
slurm() {
    if ! command -v slurmctld > /dev/null; then
        apt-get update -q
        DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends slurm-wlm munge
    fi
    cargo build --release
    crates/sweep/tests/slurm/run.sh "${CARGO_TARGET_DIR:-target}/release/rocelab"
}

# A step of its own: the documentation as a site, in target/site/html. It installs mdBook if it is missing.
site() {
    local target=${CARGO_TARGET_DIR:-target} place
    place=$target/site
    mkdir -p "$place"
    place=$(realpath "$place")
    if ! PATH="$place/tools/bin:$PATH" command -v mdbook > /dev/null; then
        cargo install mdbook --version '^0.5' --locked --no-default-features --features search \
            --root "$place/tools" --target-dir "$place/build"
    fi
    # Pages name files of other folders, so the book is made of a folder that has these too.
    rm -rf "$place/source" "$place/html"
    mkdir "$place/source"
    cp -r docs scenarios examples README.md ARCHITECTURE.md CONTRIBUTING.md CHANGELOG.md "$place/source"
    cp docs/book.toml "$place"
    # The summary is at the root of the book, and in docs/ here.
    sed -E 's#\]\(#](docs/#; s#\(docs/\.\./#(#' docs/SUMMARY.md > "$place/source/SUMMARY.md"
    rm "$place/source/docs/SUMMARY.md" "$place/source/docs/book.toml"
    PATH="$place/tools/bin:$PATH" mdbook build "$place"
    echo "site: $place/html/index.html"
}

# A step of its own: congestion controls that users write, in WebAssembly, whose runtime takes minutes to compile. The modules in
# `guests/compiled` are made of our own sources; where the target is installed, they are made anew and compared.
wasm() {
    local target=${CARGO_TARGET_DIR:-target} place guest
    place=$(realpath -m "$target")/guests
    if rustup target list --installed | grep -qx wasm32-unknown-unknown; then
        (cd guests && cargo build --release --locked --target-dir "$place")
        (cd guests && cargo test -p rocelab-cc --doc --locked --target "$(rustc -vV | sed -n 's/^host: //p')" --target-dir "$place")
        for guest in dcqcn dctcp swift swift-endpoint; do
            cmp "$place/wasm32-unknown-unknown/release/${guest//-/_}.wasm" "guests/compiled/$guest.wasm" \
                || echo "note: another compiler makes other bytes of $guest; those in guests/compiled are tested"
        done
    else
        echo "note: no target wasm32-unknown-unknown; guests are not compiled, those in guests/compiled are tested"
    fi
    cargo clippy -p rocelab-wasm --all-targets --features random-guests -- -D warnings
    cargo clippy -p rocelab -p rocelab-cli -p rocelab-sim --features rocelab/wasm --all-targets -- -D warnings
    cargo test --profile test -p rocelab-wasm --features random-guests
    cargo test --profile test -p rocelab --features wasm --test cli user_control
    cargo run --profile test -p rocelab-wasm --features runtime --example cost
}

# A step of its own: the program without any shared library, for machines with other ones, in target/musl.
musl() {
    local triple=x86_64-unknown-linux-musl program
    rustup target add "$triple"
    cargo build --release --target "$triple" --bin rocelab
    program=${CARGO_TARGET_DIR:-target}/$triple/release/rocelab
    if ldd "$program" 2>&1 | grep -q '=>'; then
        echo "error: $program is not static" >&2
        return 1
    fi
    "$program" --version
    "$program" run scenarios/incast-v2.toml --out "$(mktemp -d)/results" --quiet
    ls -l "$program"
}

if [ $# -gt 0 ]; then
    steps=("$@")
fi
for step in "${steps[@]}"; do
    echo "== $step"
    SECONDS=0
    "$step"
    echo "== $step: ${SECONDS} s"
done
