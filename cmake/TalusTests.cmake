# tests/ mirrors src/: every tests/**/NAME_test.c is one cmocka program and one ctest test, named after its path.
pkg_check_modules(CMOCKA IMPORTED_TARGET cmocka)
if(NOT CMOCKA_FOUND)
  message(STATUS "no cmocka: the program is built without its tests (make test installs it)")
  return()
endif()
# An end that only a test that hangs reaches, also in a sanitized build on a busy machine.
set(TALUS_TEST_SECONDS 3600)
file(GLOB_RECURSE TALUS_TESTS_C CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/*_test.c)
file(GLOB TALUS_TEST_HELPERS CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/support/*.c)
add_library(talus_test_support STATIC ${TALUS_TEST_HELPERS})
target_include_directories(talus_test_support PUBLIC ${CMAKE_SOURCE_DIR}/tests)
target_link_libraries(talus_test_support PUBLIC talus_static PkgConfig::CMOCKA)
# Nearly two hundred programs of much the same code: lld links one in a third of the time, when it is there.
find_program(TALUS_LLD ld.lld)
if(TALUS_LLD)
  target_link_options(talus_test_support INTERFACE -fuse-ld=lld)
endif()
foreach(test_source ${TALUS_TESTS_C})
  file(RELATIVE_PATH test_path ${CMAKE_SOURCE_DIR}/tests ${test_source})
  string(REGEX REPLACE "_test\\.c$" "" test_name ${test_path})
  string(REPLACE "/" "." test_name ${test_name})
  add_executable(test.${test_name} ${test_source})
  set_target_properties(test.${test_name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  target_link_options(test.${test_name} PRIVATE -Wl,--dynamic-list=${TALUS_EXPORTS}/program.list)
  target_link_libraries(test.${test_name} PRIVATE talus_test_support)
  add_test(NAME ${test_name} COMMAND test.${test_name} WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
  set_tests_properties(${test_name} PROPERTIES TIMEOUT ${TALUS_TEST_SECONDS} SKIP_RETURN_CODE 77
    ENVIRONMENT "TALUS_BUILD_DIR=${CMAKE_BINARY_DIR};TALUS_PROGRAM=${CMAKE_BINARY_DIR}/talus")
endforeach()
# Shell and Python tests of the whole program: tests/**/*.sh, run with TALUS_PROGRAM set.
file(GLOB_RECURSE TALUS_TESTS_SH CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/*_test.sh)
foreach(test_source ${TALUS_TESTS_SH})
  file(RELATIVE_PATH test_path ${CMAKE_SOURCE_DIR}/tests ${test_source})
  string(REGEX REPLACE "_test\\.sh$" "" test_name ${test_path})
  string(REPLACE "/" "." test_name ${test_name})
  add_test(NAME ${test_name} COMMAND bash ${test_source} WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
  set_tests_properties(${test_name} PROPERTIES TIMEOUT ${TALUS_TEST_SECONDS} SKIP_RETURN_CODE 77
    ENVIRONMENT "TALUS_BUILD_DIR=${CMAKE_BINARY_DIR};TALUS_PROGRAM=${CMAKE_BINARY_DIR}/talus")
endforeach()
# Fuzz targets: tests/fuzz/NAME_fuzz.c defines LLVMFuzzerTestOneInput. Without libFuzzer each is linked with a driver
# that runs every file of tests/fuzz/corpus/NAME as a plain test.
file(GLOB TALUS_FUZZERS CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/fuzz/*_fuzz.c)
foreach(fuzz_source ${TALUS_FUZZERS})
  get_filename_component(fuzz_name ${fuzz_source} NAME_WE)
  string(REGEX REPLACE "_fuzz$" "" fuzz_short ${fuzz_name})
  add_executable(fuzz.${fuzz_short} ${fuzz_source})
  target_link_libraries(fuzz.${fuzz_short} PRIVATE talus_test_support)
  if(TALUS_FUZZ)
    target_link_options(fuzz.${fuzz_short} PRIVATE -fsanitize=fuzzer)
  else()
    target_sources(fuzz.${fuzz_short} PRIVATE ${CMAKE_SOURCE_DIR}/tests/fuzz/driver.c)
    add_test(NAME fuzz.${fuzz_short} COMMAND fuzz.${fuzz_short} ${CMAKE_SOURCE_DIR}/tests/fuzz/corpus/${fuzz_short}
             WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
    set_tests_properties(fuzz.${fuzz_short} PROPERTIES TIMEOUT ${TALUS_TEST_SECONDS})
  endif()
endforeach()
# Motions are read by robots' programs; the target has the file alone, not all of libController.
target_sources(fuzz.motion PRIVATE ${CMAKE_SOURCE_DIR}/controller/motion.c)
target_include_directories(fuzz.motion PRIVATE ${CMAKE_SOURCE_DIR}/controller)
# Benchmarks: bench/NAME_bench.c are programs for `make bench`; they are built with everything but not run as tests, so sanitized
# builds have none.
if(NOT TALUS_SANITIZE)
  file(GLOB TALUS_BENCHES CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/bench/*_bench.c)
endif()
foreach(bench_source ${TALUS_BENCHES})
  get_filename_component(bench_name ${bench_source} NAME_WE)
  add_executable(${bench_name} ${bench_source})
  set_target_properties(${bench_name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bench)
  target_include_directories(${bench_name} PRIVATE ${CMAKE_SOURCE_DIR}/bench)
  target_link_libraries(${bench_name} PRIVATE talus_static)
endforeach()
# Batches are measured beside MuJoCo's when it is there (libmujoco-dev).
find_library(MUJOCO_LIBRARY mujoco)
find_path(MUJOCO_HEADERS mujoco/mujoco.h)
if(TARGET batch_bench AND MUJOCO_LIBRARY AND MUJOCO_HEADERS)
  target_compile_definitions(batch_bench PRIVATE TALUS_BENCH_MUJOCO)
  target_include_directories(batch_bench SYSTEM PRIVATE ${MUJOCO_HEADERS})
  target_link_libraries(batch_bench PRIVATE ${MUJOCO_LIBRARY})
endif()
# Formulas and published numbers hold for ODE's exact step as for ours.
foreach(formula physics.formula physics.joint physics.published physics.contact)
  add_test(NAME ${formula}.ode-exact COMMAND test.${formula} WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
  set_tests_properties(${formula}.ode-exact PROPERTIES TIMEOUT ${TALUS_TEST_SECONDS}
    ENVIRONMENT "TALUS_BUILD_DIR=${CMAKE_BINARY_DIR};TALUS_PROGRAM=${CMAKE_BINARY_DIR}/talus;TALUS_TEST_STEPPER=ode-exact")
endforeach()
# It counts bytes: a thread's cache of freed blocks looks like blocks in use.
set_property(TEST sim.clone APPEND PROPERTY ENVIRONMENT "GLIBC_TUNABLES=glibc.malloc.tcache_count=0")
# Tests that use several threads also run under the thread sanitizer (make test-tsan).
add_custom_target(threaded_tests)
foreach(threaded sim.api formats.proto_threads physics.solver_threads physics.broadphase physics.narrow sim.threads many.batch)
  set_property(TEST ${threaded} APPEND PROPERTY LABELS threads)
  add_dependencies(threaded_tests test.${threaded})
endforeach()
# The long form of a test that is bounded otherwise: ctest -L slow.
add_test(NAME sim.corpus_1000 COMMAND test.sim.corpus 1000 WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
add_test(NAME sim.random_edits_10000 COMMAND test.sim.random_edits 10000 WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
add_test(NAME sim.steady_million COMMAND test.sim.steady 125000 WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
add_test(NAME sim.old_all COMMAND test.sim.old all WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
set_tests_properties(sim.corpus_1000 sim.old_all sim.random_edits_10000 sim.steady_million PROPERTIES TIMEOUT ${TALUS_TEST_SECONDS} SKIP_RETURN_CODE 77 LABELS slow)
# These read sources and run nothing of ours: once is enough, so a sanitized build leaves them out (make test-asan).
set_property(TEST format layout tuning languages.coverage APPEND PROPERTY LABELS sources)
# The longest first, so that at the end no core waits for one of them: seconds of a processor in a plain build.
set(TALUS_TEST_COSTS control.webots_suite 240 sim.effects 25 control.behaviours 16 app.build 14 app.signals 11 app.templates 11
    control.ending 11 physics.solver_large 10 app.options 9 formats.robust 9 app.new 8 plugins.shapes 8 plugins.destroy 6 formats.corpus 6
    formats.mutation 5 plugins.host 5 physics.collide_surface 5 physics.collide_cylinder 4 physics.rest 4 app.render 4 app.soak 4 sim.threads 4)
while(TALUS_TEST_COSTS)
  list(POP_FRONT TALUS_TEST_COSTS name seconds)
  set_tests_properties(${name} PROPERTIES COST ${seconds})
endwhile()
