"""Builds the project that README.md shows to a user, outside this tree, and runs it.

Usage: consume.py MODE SOURCE_DIR BINARY_DIR COMPILER
MODE: find_package, components, add_subdirectory, pkg_config or headers. The program and the build files are the README's own blocks:
the first ```cpp block, and the block with `test=package_MODE`.
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "lint"))
import documents  # noqa: E402

DISCOVER = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "server/discover",
    "params": {
        "_meta": {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": {"name": "consumer", "version": "1"},
            "io.modelcontextprotocol/clientCapabilities": {},
        }
    },
}


def run(command, cwd, environment=None, text=None):
    shown = command if isinstance(command, str) else " ".join(map(str, command))
    print("+", shown, flush=True)
    result = subprocess.run(command, cwd=cwd, env=environment, input=text, stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT, text=True, shell=isinstance(command, str), timeout=1200)
    if result.returncode != 0:
        print(result.stdout)
        sys.exit(f"failed: {shown}")
    return result.stdout


def readme_blocks(source):
    blocks, _ = documents.blocks_of("README.md", (source / "README.md").read_text())
    program = next(b.text for b in blocks if b.words[:1] == ["cpp"])
    named = {b.option("test"): b.text for b in blocks if b.option("test")}
    return program, named


def install(binary, folder):
    run(["cmake", "--install", binary, "--prefix", folder / "prefix"], folder)
    return folder / "prefix"


def build_with_cmake(folder, compiler, targets, *options):
    run(["cmake", "-G", "Ninja", "-S", folder, "-B", folder / "build", f"-DCMAKE_CXX_COMPILER={compiler}", *options], folder)
    run(["cmake", "--build", folder / "build", "-j2", *targets], folder)


def check_unknown_room(folder, recipe, compiler, options):
    """A room that there is not is named, with those that there are."""
    (folder / "misspelt").mkdir()
    asking = recipe.replace("REQUIRED COMPONENTS server", "REQUIRED COMPONENTS sever")
    (folder / "misspelt" / "CMakeLists.txt").write_text(asking)
    (folder / "misspelt" / "main.cc").write_text("")
    result = subprocess.run(["cmake", "-G", "Ninja", "-S", folder / "misspelt", "-B", folder / "misspelt" / "build",
                             f"-DCMAKE_CXX_COMPILER={compiler}", *options], capture_output=True, text=True, timeout=300)
    said = " ".join(result.stderr.split())
    if result.returncode == 0 or "no room 'sever'" not in said or "server, " not in said:
        sys.exit("a misspelt room: " + result.stdout + result.stderr)


def check_answers(program, source_text, folder):
    """The ten-line server answers over stdio, and writes nothing else to stdout."""
    if "serve_stdio" not in source_text:
        run([program], folder)
        return
    lines = run([program], folder, text=json.dumps(DISCOVER) + "\n").splitlines()
    replies = [json.loads(line) for line in lines if line.startswith("{")]
    if not any(r.get("id") == 1 and "supportedVersions" in r.get("result", {}) for r in replies):
        print("\n".join(lines))
        sys.exit("the program does not answer server/discover")


def every_header(prefix):
    return sorted(p.relative_to(prefix / "include").as_posix() for p in (prefix / "include").rglob("*.h"))


def main():
    mode, source, binary, compiler = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3]), sys.argv[4]
    program, named = readme_blocks(source)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "main.cc").write_text(program)
        if mode == "headers":
            prefix = install(binary, folder)
            headers = every_header(prefix)
            # Each must stand alone, whatever was included before; twice, that they have their guards.
            for header in headers:
                text = f"#include <{header}>\n#include <{header}>\n"
                run([compiler, "-std=c++20", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-x", "c++",
                     f"-I{prefix / 'include'}", "-"], folder, text=text)
            print(f"packaging: {len(headers)} public headers, each compiled alone")
            return
        recipe = named[f"package_{mode}"]
        if mode == "pkg_config":
            prefix = install(binary, folder)
            path = prefix / "lib" / "pkgconfig"  # as README says
            run(recipe.replace("c++ ", compiler + " "), folder, dict(os.environ, PKG_CONFIG_PATH=str(path)))
            check_answers(folder / "hello", program, folder)
            return
        (folder / "CMakeLists.txt").write_text(recipe)
        if mode == "add_subdirectory":
            (folder / "signet").symlink_to(source)
            # Half of Signet once more: without optimisation, and from ccache the second time.
            os.environ.update(CCACHE_BASEDIR=name, CCACHE_NOHASHDIR="1")
            launcher = ["-DCMAKE_CXX_COMPILER_LAUNCHER=ccache"] if shutil.which("ccache") else []
            build_with_cmake(folder, compiler, ["--target", "hello"], "-DCMAKE_BUILD_TYPE=Debug", *launcher)
        else:
            prefix = install(binary, folder)
            # Boost is used inside, and by nobody who links Signet.
            options = [f"-DCMAKE_PREFIX_PATH={prefix}", "-DCMAKE_DISABLE_FIND_PACKAGE_Boost=ON"]
            build_with_cmake(folder, compiler, [], *options)
            if mode == "components":
                check_unknown_room(folder, recipe, compiler, options)
        check_answers(folder / "build" / "hello", program, folder)


if __name__ == "__main__":
    main()
