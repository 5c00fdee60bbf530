# One place that finds what we lean on (Debian packages: scripts/packages.txt).
find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
pkg_check_modules(ODE REQUIRED IMPORTED_TARGET ode)
pkg_check_modules(YAML REQUIRED IMPORTED_TARGET yaml-0.1)
pkg_check_modules(ASSIMP REQUIRED IMPORTED_TARGET assimp)
pkg_check_modules(LUA REQUIRED IMPORTED_TARGET lua5.4)
pkg_check_modules(JSC REQUIRED IMPORTED_TARGET javascriptcoregtk-4.1)
pkg_check_modules(CURL REQUIRED IMPORTED_TARGET libcurl)
pkg_check_modules(DW REQUIRED IMPORTED_TARGET libdw)
pkg_check_modules(EGL REQUIRED IMPORTED_TARGET egl gl)
find_package(embree 3.13 REQUIRED)
set(TALUS_LIBRARIES PkgConfig::ODE PkgConfig::YAML PkgConfig::ASSIMP PkgConfig::LUA PkgConfig::JSC PkgConfig::CURL
    PkgConfig::DW PkgConfig::EGL embree Threads::Threads m ${CMAKE_DL_LIBS})
