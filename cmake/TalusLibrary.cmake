# libtalus (static for the program and tests, shared for embedders) and the program. Every .c file under src/ belongs to
# the library, but for src/app, which is the program.
file(GLOB_RECURSE TALUS_SOURCES CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/*.c)
list(FILTER TALUS_SOURCES EXCLUDE REGEX "/src/app/")
file(GLOB TALUS_APP_SOURCES CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/app/*.c)

# The browser page.
include(TalusWeb)
list(APPEND TALUS_SOURCES ${TALUS_WEB_SOURCE})
# The names of WbNodeType, made from its header (TalusController.cmake).
list(APPEND TALUS_SOURCES ${CMAKE_BINARY_DIR}/controller/node_names.h)
# The solver's inner loops want unrolling, and exist twice: plain and with wide instructions, chosen at run time.
file(GLOB TALUS_HOT_SOURCES CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/physics/solver/*.c ${CMAKE_SOURCE_DIR}/src/physics/collide/*.c
     ${CMAKE_SOURCE_DIR}/src/physics/ode/solver_*.c ${CMAKE_SOURCE_DIR}/src/physics/joints/*.c ${CMAKE_SOURCE_DIR}/src/physics/contacts/*.c
     ${CMAKE_SOURCE_DIR}/src/rays/shad*.c ${CMAKE_SOURCE_DIR}/src/rays/raster*.c ${CMAKE_SOURCE_DIR}/src/rays/block*.c
     ${CMAKE_SOURCE_DIR}/src/rays/see.c
     ${CMAKE_SOURCE_DIR}/src/physics/body.c ${CMAKE_SOURCE_DIR}/src/physics/stepper_talus.c ${CMAKE_SOURCE_DIR}/src/physics/finite_check.c)
set(TALUS_UNROLL $<$<C_COMPILER_ID:GNU>:--param=max-completely-peeled-insns=3000> $<$<C_COMPILER_ID:GNU>:--param=max-completely-peel-times=16>)
if(CMAKE_BUILD_TYPE STREQUAL Release)
  set_property(SOURCE ${TALUS_HOT_SOURCES} APPEND PROPERTY COMPILE_OPTIONS -O3 -Wno-psabi ${TALUS_UNROLL})
else()
  set_property(SOURCE ${TALUS_HOT_SOURCES} APPEND PROPERTY COMPILE_OPTIONS -Wno-psabi)
endif()
# What every step goes through: functions of a file may be inlined in it although the shared library exports them, and a
# root of a number that is never negative needs no errno. Neither changes a bit.
file(GLOB TALUS_STEP_SOURCES CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/physics/*.c ${CMAKE_SOURCE_DIR}/src/physics/joints/*.c
     ${CMAKE_SOURCE_DIR}/src/physics/contacts/*.c ${CMAKE_SOURCE_DIR}/src/physics/collide/*.c ${CMAKE_SOURCE_DIR}/src/physics/solver/*.c
     ${CMAKE_SOURCE_DIR}/src/sim/*.c ${CMAKE_SOURCE_DIR}/src/many/batch.c)
set_property(SOURCE ${TALUS_STEP_SOURCES} APPEND PROPERTY COMPILE_OPTIONS -fno-semantic-interposition -fno-math-errno)
# The direct method is long chains of vectors of its own: they are interleaved before registers are given out, and what
# is left of single numbers is not gathered into vectors. Neither changes a bit; a step of a cart-pole takes 3 % less.
if(CMAKE_BUILD_TYPE STREQUAL Release)
  set_property(SOURCE ${CMAKE_SOURCE_DIR}/src/physics/solver/solver_direct.c ${CMAKE_SOURCE_DIR}/src/physics/solver/solver_direct_avx2.c
               APPEND PROPERTY COMPILE_OPTIONS $<$<C_COMPILER_ID:GNU>:-fno-tree-slp-vectorize> $<$<C_COMPILER_ID:GNU>:-fschedule-insns>
               $<$<C_COMPILER_ID:GNU>:-fsched-pressure>)
endif()
file(GLOB TALUS_AVX2_SOURCES CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/physics/solver/*_avx2.c ${CMAKE_SOURCE_DIR}/src/physics/collide/*_avx2.c
     ${CMAKE_SOURCE_DIR}/src/physics/joints/*_avx2.c ${CMAKE_SOURCE_DIR}/src/rays/*_avx2.c)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  set_property(SOURCE ${TALUS_AVX2_SOURCES} APPEND PROPERTY COMPILE_OPTIONS -mavx2)
endif()

# The JPEG writer of stb shifts bits out of a signed number on purpose; here that wraps.
set_property(SOURCE ${CMAKE_SOURCE_DIR}/src/assets/stb.c ${CMAKE_SOURCE_DIR}/controller/display.c APPEND PROPERTY COMPILE_OPTIONS -fwrapv)

# Libraries of the system have stb inside too; ours stays ours, and theirs theirs.
set_property(SOURCE ${CMAKE_SOURCE_DIR}/src/assets/stb.c APPEND PROPERTY COMPILE_OPTIONS -fvisibility=hidden)

add_library(talus_objects OBJECT ${TALUS_SOURCES})
target_include_directories(talus_objects PUBLIC ${CMAKE_SOURCE_DIR}/src ${CMAKE_SOURCE_DIR}/include PRIVATE ${CMAKE_BINARY_DIR})
target_link_libraries(talus_objects PUBLIC talus_flags ${TALUS_LIBRARIES})

add_library(talus_static STATIC $<TARGET_OBJECTS:talus_objects>)
target_include_directories(talus_static PUBLIC ${CMAKE_SOURCE_DIR}/src ${CMAKE_SOURCE_DIR}/include)
target_link_libraries(talus_static PUBLIC talus_flags ${TALUS_LIBRARIES})

add_library(talus_shared SHARED $<TARGET_OBJECTS:talus_objects>)
set_target_properties(talus_shared PROPERTIES OUTPUT_NAME talus VERSION ${PROJECT_VERSION} SOVERSION 0)
target_link_libraries(talus_shared PRIVATE talus_flags ${TALUS_LIBRARIES})

set(TALUS_EXPORTS ${CMAKE_SOURCE_DIR}/cmake/exports)
target_link_options(talus_shared PRIVATE -Wl,--version-script=${TALUS_EXPORTS}/library.map)

# Plugins resolve dWebots* and what ODE lacks from the program, so it exports these and keeps every object of the library.
add_executable(talus ${TALUS_APP_SOURCES} $<TARGET_OBJECTS:talus_objects>)
target_include_directories(talus PRIVATE ${CMAKE_SOURCE_DIR}/src ${CMAKE_SOURCE_DIR}/include)
target_link_libraries(talus PRIVATE talus_flags ${TALUS_LIBRARIES} PkgConfig::CURL)
target_link_options(talus PRIVATE -Wl,--dynamic-list=${TALUS_EXPORTS}/program.list)
# PROTO templates are evaluated by a program of its own, which anything that loads worlds starts when it needs it.
add_dependencies(talus talus-template)
add_dependencies(talus_static talus-template)
add_dependencies(talus_shared talus-template)
