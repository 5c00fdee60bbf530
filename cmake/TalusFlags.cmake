# Compiler flags of our own code. Results must repeat: no contraction into fused multiply-adds, no fast-math.
add_library(talus_flags INTERFACE)
target_compile_options(talus_flags INTERFACE
  -ffp-contract=off -fno-strict-aliasing
  -Wall -Wextra -Wconversion -Wno-sign-conversion -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla
  -Wno-missing-field-initializers)
target_compile_definitions(talus_flags INTERFACE _GNU_SOURCE)
set(CMAKE_C_FLAGS_RELEASE "-O2 -g")
set(CMAKE_C_FLAGS_SANITIZE "-O1 -g1 -fno-omit-frame-pointer")  # lines are all that a report names; a third less to compile
if(TALUS_CHECK_ONLY)  # looks at the sources and makes nothing of them; an empty file says of each that it was fine
  set(CMAKE_C_COMPILE_OBJECT "<CMAKE_C_COMPILER> <DEFINES> <INCLUDES> <FLAGS> -fsyntax-only -Werror -c <SOURCE>" "touch <OBJECT>")
endif()
if(TALUS_SANITIZE)
  target_compile_options(talus_flags INTERFACE -fsanitize=${TALUS_SANITIZE} -fno-sanitize-recover=undefined)
  target_link_options(talus_flags INTERFACE -fsanitize=${TALUS_SANITIZE})
endif()
