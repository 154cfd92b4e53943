# Short names for the common CMake commands. Every target but clean first installs the packages that are missing, and says
# which; if none is, it goes straight to the build.
.PHONY: all setup build demo test asan fuzz bench format lint clean
all: build

setup:
	@scripts/setup.sh

build: setup
	cmake --preset release
	cmake --build --preset release

# Compares TRA with RoPE and FoT on flip-flop, in minutes. Builds only the program, not the tests.
demo: setup
	cmake --preset release
	cmake --build --preset release --target tra
	build/release/bin/tra demo

test: build
	@scripts/setup.sh --browser
	ctest --preset release

asan: setup
	cmake --preset asan
	cmake --build --preset asan
	ctest --preset asan

# Runs every harness of fuzz/ for this long, one after the other; what it finds is left in build/fuzz/found.
FUZZ_SECONDS ?= 600
fuzz: setup
	@scripts/setup.sh --fuzz
	cmake --preset fuzz
	cmake --build --preset fuzz
	fuzz/run.sh build/fuzz $(FUZZ_SECONDS)

bench: build
	build/release/bin/tra bench attention
	build/release/bin/tra bench step
	build/release/bin/tra bench products
	build/release/bin/tra bench data

format: setup
	git ls-files '*.cc' '*.h' | xargs clang-format -i

lint: build
	scripts/lint.py

clean:
	rm -rf build
