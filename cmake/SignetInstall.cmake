# Installing, and what a project that uses Signet needs to find it: a CMake package and a pkg-config file.
# Included after the rooms and the programs.
include(CMakePackageConfigHelpers)

get_property(rooms GLOBAL PROPERTY SIGNET_ROOMS)
list(REMOVE_ITEM rooms signet_cli)

# All rooms by one name: signet::signet, in this tree and installed alike.
add_library(signet_all INTERFACE)
add_library(signet::signet ALIAS signet_all)
set_target_properties(signet_all PROPERTIES EXPORT_NAME signet)
target_link_libraries(signet_all INTERFACE ${rooms})

if(NOT SIGNET_INSTALL)
  return()
endif()

install(TARGETS ${rooms} signet_all EXPORT SignetTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(EXPORT SignetTargets NAMESPACE signet:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/Signet)

# The public headers: those named there, and all that they include.
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/cmake/public_headers.txt)
file(STRINGS ${PROJECT_SOURCE_DIR}/cmake/public_headers.txt waiting REGEX "^signet/")
set(headers)
while(waiting)
  list(POP_FRONT waiting header)
  if(header IN_LIST headers OR (header MATCHES "^signet/token/profiles/" AND NOT SIGNET_PROFILES))
    continue()
  endif()
  list(APPEND headers ${header})
  set(file ${PROJECT_SOURCE_DIR}/src/${header})
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
  file(STRINGS ${file} lines REGEX "^#include <signet/")
  foreach(line IN LISTS lines)
    string(REGEX REPLACE "^#include <(signet/[^>]+)>.*" "\\1" included "${line}")
    list(APPEND waiting ${included})
  endforeach()
  get_filename_component(folder ${header} DIRECTORY)
  install(FILES ${file} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/${folder})
endwhile()

set(SIGNET_COMPONENTS ${rooms})
list(TRANSFORM SIGNET_COMPONENTS REPLACE "^signet_" "")
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/SignetConfig.cmake.in
  ${PROJECT_BINARY_DIR}/SignetConfig.cmake INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/Signet)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/SignetConfigVersion.cmake
  VERSION ${PROJECT_VERSION} COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/SignetConfig.cmake ${PROJECT_BINARY_DIR}/SignetConfigVersion.cmake
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/Signet)

# Static libraries, users before what they use.
set(libraries ${rooms})
list(REVERSE libraries)
list(TRANSFORM libraries PREPEND "-l")
list(JOIN libraries " " SIGNET_PC_LIBRARIES)
file(RELATIVE_PATH SIGNET_PC_PREFIX /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
configure_file(${PROJECT_SOURCE_DIR}/cmake/signet.pc.in ${PROJECT_BINARY_DIR}/signet.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/signet.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

if(TARGET signet)
  install(TARGETS signet RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  install(FILES ${PROJECT_SOURCE_DIR}/doc/signet.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
  install(FILES ${PROJECT_SOURCE_DIR}/doc/completion/signet.bash RENAME signet
    DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
  install(FILES ${PROJECT_SOURCE_DIR}/doc/completion/_signet DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
  install(FILES ${PROJECT_SOURCE_DIR}/doc/completion/signet.fish
    DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
endif()
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
