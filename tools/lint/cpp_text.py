"""C++ text for the lints: tokens with their lines, without comments; literals become one token each."""
import re

TOKEN = re.compile(
    r"""(?P<space>\s+)
  | (?P<comment>//[^\n]*|/\*.*?\*/)
  | (?P<raw>(?:u8|[uUL])?R"(?P<delim>[^()\\\s]{0,16})\(.*?\)(?P=delim)")
  | (?P<literal>(?:u8|[uUL])?"(?:\\.|[^"\\\n])*"|(?<![0-9a-zA-Z_])(?:u8|[uUL])?'(?:\\.|[^'\\\n])+')
  | (?P<directive>^[ \t]*\#(?:[^\n\\]|\\.)*)
  | (?P<number>\.?[0-9](?:[eEpP][+-]|'?[0-9a-zA-Z_.])*)
  | (?P<word>[A-Za-z_]\w*)
  | (?P<mark>->|::|&&|\|\||==|!=|<=|>=|\+=|-=|\*=|/=|\.\.\.|.)
""",
    re.VERBOSE | re.DOTALL | re.MULTILINE,
)


def tokens(text):
    """(text, line) pairs. Literals are '""', numbers '0'; comments and preprocessor lines are left out."""
    out = []
    line = 1
    for match in TOKEN.finditer(text):
        kind = match.lastgroup
        piece = match.group(0)
        if kind == "delim" or match.group("raw"):
            kind = "literal"
        if kind == "literal":
            out.append(('""', line))
        elif kind == "number":
            out.append(("0", line))
        elif kind in ("word", "mark"):
            out.append((piece, line))
        line += piece.count("\n")
    return out
