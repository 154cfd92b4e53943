# A thin front to CMake. Every target installs what is missing first.
.PHONY: all setup build demo test asan bench format lint clean
all: build

setup:
	@scripts/setup.sh

build: setup
	cmake --preset release
	cmake --build --preset release

# The main job, shown: the operator checked against its definition, then measured.
demo: build
	build/release/bench/attention_bench --quick

test: build
	ctest --preset release

asan: setup
	cmake --preset asan
	cmake --build --preset asan
	ctest --preset asan

bench: build
	build/release/bench/attention_bench
	build/release/bench/step_bench
	build/release/bench/data_bench

format: setup
	git ls-files '*.cc' '*.h' | xargs clang-format -i

lint: build
	scripts/lint.sh

clean:
	rm -rf build
