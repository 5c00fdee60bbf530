# The short way in. Everything is built by CMake with Ninja; see CMakePresets.json for the other builds.
.PHONY: all program deps deps-run configure configure-run run test test-release test-clang test-asan test-tsan bench bench-peers installable install uninstall package docs clean
JOBS ?= $(shell nproc)
# Some tests wait for events most of the time: one more than there are cores keeps those busy.
TEST_JOBS ?= $(shell expr $(JOBS) + 1)

all: configure
	@cmake --build build -j $(JOBS)

# The program and what robots' programs are built with, without tests and benchmarks.
program: configure-run
	@cmake --build build -j $(JOBS) --target program

# What a build needs; deps-run leaves out what only tests want.
deps:
	@scripts/install-deps

deps-run:
	@scripts/install-deps --run

configure: deps
	@grep -qs 'test\.base' build/build.ninja || cmake --preset release >/dev/null

configure-run: deps-run
	@test -f build/build.ninja || cmake --preset release >/dev/null

run: program
	@build/talus build --quiet examples/hello
	@build/talus run examples/hello/worlds/hello.wbt --until 5
	@build/talus render examples/hello/worlds/hello.wbt build/hello.png --at 2 --quiet
	@echo "a picture of it: $(CURDIR)/build/hello.png"
	@echo "see it move:     build/talus view examples/hello"
	@echo "a robot of yours: build/talus new my_rover --template rover"

test: test-clang test-release test-asan test-tsan

# Every file of the library, the program and libController by clang, without making code of it: its warnings are errors.
test-clang: deps
	@if command -v clang >/dev/null; then \
	  test -f build-clang/build.ninja || cmake --preset clang >/dev/null; \
	  cmake --build build-clang -j $(JOBS) --target checked && echo "clang: no warnings"; \
	else echo "clang: not installed, left out"; fi

test-release: all
	@ctest --test-dir build --output-on-failure -j $(TEST_JOBS) -LE slow

test-asan: deps
	@test -f build-asan/build.ninja || cmake --preset asan >/dev/null
	@cmake --build build-asan -j $(JOBS)
	@ulimit -s 65536; ctest --test-dir build-asan --output-on-failure -j $(TEST_JOBS) -LE 'slow|sources'  # its frames are large

test-tsan: deps
	@test -f build-tsan/build.ninja || cmake --preset tsan >/dev/null
	@cmake --build build-tsan -j $(JOBS) --target threaded_tests
	@ctest --test-dir build-tsan --output-on-failure -j $(TEST_JOBS) -L threads

bench: all
	@scripts/bench

# Our solver beside Debian's ODE, Bullet, MuJoCo and DART: docs/benchmarks.md. Installs what it needs; takes a while.
bench-peers: all
	@scripts/install-deps bench/peers/packages.txt || echo "bench-peers: goes on without the packages that are missing"
	@$(MAKE) --no-print-directory -k -C bench/peers all || echo "bench-peers: goes on without the engines that do not build"
	@python3 -B bench/peers/run.py build/peers docs $(PEERS)
	@bench/count_steps.sh build/bench/step_bench

# Program, library and headers below PREFIX (/usr/local), and away again.
installable: configure-run
	@cmake --build build -j $(JOBS) --target installable

install: installable
	@cmake --install build $(if $(PREFIX),--prefix $(abspath $(PREFIX))) >/dev/null
	@echo "installed below $(if $(PREFIX),$(abspath $(PREFIX)),/usr/local); make uninstall takes it away again"

uninstall:
	@cmake -DMANIFEST=build/install_manifest.txt -P cmake/uninstall.cmake

# build/packages/talus_*.deb, libtalus0_*.deb and libtalus-dev_*.deb
package: installable
	@cpack --config build/CPackConfig.cmake >build/package.log 2>&1 || { cat build/package.log; exit 1; }
	@ls -l build/packages/*.deb | awk '{ printf "%s (%.1f MB)\n", $$NF, $$5 / 1e6 }'

# The documents as a searchable site: build/site/index.html
docs:
	@scripts/docs

clean:
	@rm -rf build build-*
