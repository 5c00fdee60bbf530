# The short way in. Everything is built by CMake with Ninja; see CMakePresets.json for the other builds.
.PHONY: all deps configure run test test-release test-asan test-tsan bench bench-peers install clean
JOBS ?= $(shell nproc)

all: configure
	@cmake --build build -j $(JOBS)

deps:
	@scripts/install-deps

configure: deps
	@test -f build/build.ninja || cmake --preset release >/dev/null

run: all
	@build/talus build examples/hello
	@build/talus run examples/hello/worlds/hello.wbt --until 5

test: test-release test-asan test-tsan

test-release: all
	@ctest --test-dir build --output-on-failure -j $(JOBS) -LE slow

test-asan: deps
	@test -f build-asan/build.ninja || cmake --preset asan >/dev/null
	@cmake --build build-asan -j $(JOBS)
	@ctest --test-dir build-asan --output-on-failure -j $(JOBS) -LE slow

test-tsan: deps
	@test -f build-tsan/build.ninja || cmake --preset tsan >/dev/null
	@cmake --build build-tsan -j $(JOBS) --target threaded_tests
	@ctest --test-dir build-tsan --output-on-failure -j $(JOBS) -L threads

bench: all
	@scripts/bench

# Our solver beside Debian's ODE, Bullet, MuJoCo and DART: docs/benchmarks.md. Installs what it needs; takes a while.
bench-peers: all
	@scripts/install-deps bench/peers/packages.txt || echo "bench-peers: goes on without the packages that are missing"
	@$(MAKE) --no-print-directory -k -C bench/peers all || echo "bench-peers: goes on without the engines that do not build"
	@python3 -B bench/peers/run.py build/peers docs $(PEERS)
	@bench/count_steps.sh build/bench/step_bench

install: all
	@cmake --install build $(if $(PREFIX),--prefix $(PREFIX))

clean:
	@rm -rf build build-*
