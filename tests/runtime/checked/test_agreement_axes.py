"""Every form of axis in jaxtyping's grammar means the same to `checked` as to `jaxtyped(typechecker=beartype)`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.runtime.checked.agreement import Outcome, read

# A fault of the generated code leaves a function to jaxtyping, with a warning: then nothing is compared here.
pytestmark = pytest.mark.filterwarnings("error:jaxtyping checks:RuntimeWarning")

ACCEPTED = """
b c: 3 4
b c: 3 4; c d: 4 5 -> b d: 3 5
b c: 3 4 -> c b: 4 3
a a: 3 3
a: 0
a b: 0 0; a: 0
:
: -> :
 b : 3;   b   c : 3 4
b: 3; b: 3; b: 3; b: 3 -> b: 3
4 5: 4 5
28 28: 28 28 -> 784: 784
0: 0
1: 1
rows=3 cols=4: 3 4
b n=4: 7 4; b: 7
bar qux foo=bar+qux: 2 3 5
bar foo=bar: 3 3
bar foo=#bar: 3 1
bar #foo=bar: 3 1
_: 9
_ _: 9 8
b _ _: 2 3 4; _ b: 9 2
_rows _rows: 2 3
...:
...: 3
...: 3 4 5
... c: 3 4; c: 4
b ...: 3; b: 3
b ... c: 3 4; b c: 3 4
b ... c: 3 7 8 4; b c: 3 4
... : 2 2; ...: 3
*b c: 4; *b: ; c: 4
*b c: 2 3 4; *b: 2 3; c: 4 -> *b: 2 3
*b: ; *b:
a *b: 3 4 5; *b a: 4 5 3
a *b c: 3 4; a c: 3 4; *b:
a *b c d: 3 9 8 4 5; *b: 9 8
*b h w: 2 3 4 -> *b w h: 2 4 3
*_: 3 4
*_b: 3 4; *_b: 5
*_ c: 3 4; *_ c: 9 9 4
#4: 4
#4: 1
#b: 3; #b: 1; #b: 3 -> #b: 1
#b: 1; #b: 3; #b: 3
#b: 1; #b: 1; b: 5
#b: 1 -> b: 7
b: 3; #b: 1 -> b: 3
#a #b: 1 4; a b: 2 4
#a #a: 1 3; a: 3
#c=3: 1
*#b: 3; *#b: 1
*#b: 1; *#b: 3; *#b: 3
*#b: 4; *#b: 5 4
*#b: 5 4; *#b: 4; *#b: 1 1 -> *#b: 5 4
*#b: 5 1; *#b: 1 6; *b: 5 6 -> *b: 5 6
#*b: 5 1; *#b: 6; *b: 5 6
*b: 7 3 2; *#b: 1 2
*#b: 1 2; *b: 7 3 2
*#b c: 1 4; *#b c: 9 4 -> *#b c: 2 9 4
*b l d: 2 7 3 2 2; *#b j d: 2 7 1 2 2; *b l j: 2 7 3 2 2 -> *b l d: 2 7 3 2 2
*#b: ; *b: 3
dim: 5 -> dim-1: 4
dim: 5 -> 2*dim: 10
a b: 2 3 -> a+b: 5
a b: 2 3 -> a*b+1: 7
a b: 6 4 -> a//b a%b: 1 2
a b: 6 4 -> a-b b-a+3: 2 1
a: 6 -> a//2 -(-a//4): 3 2
a: 6 -> a/2: 3
a: 3 -> a**2: 9
a: 3 -> 2**a: 8
a b: 2 3 -> min(a,b) max(a,b): 2 3
a b c: 2 3 4 -> max(a,b,c): 4
a b: 2 3 -> abs(a-b): 1
a b: 2 3 -> sum((a,b)): 5
a b: 2 3 -> (a+b)*2: 10
a b: 2 3 -> a*(b+1)-1: 7
a: 4 -> a>>1: 2
a: 4 -> a^1: 5
a: 4 -> int(a*1.5): 6
a: 4 -> round(a/3): 1
a: 4 -> (a>3): 1
foo bar min(foo,bar): 3 2 2
b: 3; b+1: 4; b+2: 5
a: 3; #a+1: 1
a: 3; #a+1: 4
a #2*a: 3 1
b: 3; *c b+1: 7 8 4 -> *c: 7 8
... a a+1: 9 9 3 4
k = 3 -> {k}: 3
k = 3; b: 2 -> b*{k}: 6
k = 3; b: 2 -> b {k}: 2 3
k = 3 -> {k-1}: 2
k = 3 -> {k}-1: 2
k = 3; m = 4 -> {k*m}: 12
k = 3; m = 4 -> {k}*{m}: 12
k = 3; m = 4 -> {k} {m}: 3 4
k = 3; m = 4 -> {max(k,m)}: 4
k = 3 -> {k:d}: 3
k = 3 -> {k}{k}: 33
k = 3; {k}: 3
k = 3; {k}: 3; #{k}: 1
x3: 5; k = 3 -> x{k}: 5
k = 3 -> {str(k)}: 3
{k}: 3; k = 3
b: 3 -> {x0.shape[0]}: 3
b: 3; c: 3 -> {x0.shape[0]+x1.shape[0]}: 6
b: 3 -> {x0.ndim}: 1
β γ: 3 4; γ: 4 -> β+γ: 7
*: 3 4; *: 3 4
4.0: 4
+4: 4
1_0: 10
0x4: 4
a: 3 -> 1.5*2: 3
a: 3 -> a+1.0: 4
a: 3 -> a+True: 4
a: 3 -> a==3: 1
a: 7 -> a>=3: 3
min: 3 -> min+1: 4
len: 3; isinstance: 4 -> len*isinstance: 12
class: 3; class: 3
k = 3 -> {k!r}: 3
k = 3 -> {k:>3}: 3
k = 3; b: 4 -> {len(x1)}: 4
k = 3; b c: 4 5 -> {sum(x1.shape)}: 9
k = 3 -> {[k][0]}: 3
k = 3 -> {k}**2: 9
k = 3 -> -{k}+5: 2
k = 3; a: 2 -> {k}*(a+{k}): 15
k = 3 -> ({k}): 3
k = 3 -> #{k}+1: 1
""".strip("\n").splitlines()

REFUSED = """
b c: 3
b c: 3 4 5
b c: 3 4; c d: 5 5
b c: 3 4 -> b c: 4 3
b c: 3 4 -> c d: 3 4
a a: 3 4
a: 0; a: 1
: 3
: -> : 1
b:
b: 3; b: 3; b: 3; b: 4 -> b: 3
b: 3; b: 3; b: 3; b: 3 -> b: 4
4 5: 4 6
4 5: 5 4
28 28: 28 28 -> 784: 783
0: 1
1: 0
rows=3 cols=4: 4 3
-1: 1
bar qux foo=bar+qux: 2 3 6
bar foo=#bar: 3 2
_:
_: 9 9
_ _: 9
b _ _: 2 3 4; _ b: 2 9
... c: 3 4; c: 3
... c: ; c: 4
b ... c: 3; c: 3
b ... c: 3 4; c b: 3 4
*b c: 4; *b: 4; c: 4
*b c: 2 3 4; *b: 2; c: 4
*b c: 2 3 4; *b: 3 2; c: 4
*b c: 2 3 4; *b: 2 3; c: 4 -> *b: 2 3 4
*b c:
a *b c: 3; a: 3
a *b: 3 4 5; *b a: 4 5 4
*b: ; *b: 1
*b: 1; *b:
*_ c: 3 4; *_ c: 4 3
#4: 3
#4: 0
#4:
#b: 3; #b: 4
#b: 1; #b: 3; #b: 4
#b: 3; b: 1
#b: 0; #b: 2
b: 3; #b: 2
b: 3 -> #b: 2
#b: 1; #b: 3 -> b: 1
#a #a: 2 3
*#b: 3; *#b: 4
*#b: 3; *#b: 4 4
*#b: 5 6; *#b: 4
*#b: 5 1; *#b: 1 6; *b: 5 1
*#b: 5 1; *#b: 1 6; *#b: 2 1
*b: 3 4; *#b: 5
*b: 3; *#b: 2 3
*b: 1; *#b: 3
*#b: 3 4; *b: 5
*#b: 3 4; *b: 4
*#b: 3; *b: 1
*#b: 1; *b:
*#b c: 1 4; *#b c: 9 5
*b: 2; *b: 2 -> *#b: 3 2
dim: 5 -> dim-1: 5
dim: 5 -> 2*dim: 11
dim: 5 6 -> 2*dim: 10
a b: 2 3 -> a+b: 6
a: 7 -> a/2: 3
a: 3 -> a/0: 3
a: 3 -> a//0: 3
a: 3 -> a%0: 3
a: 3 -> a(: 3
a: 3 -> a+: 3
a: 3 -> 3a: 3
a: 3 -> a.b: 3
a: 3 -> a[0]: 3
a: 3 -> 'a': 3
a: 3 -> (a,): 3
a: 3 -> a>5: 1
a: 3 -> a-4: 1
a: 3; b: 4 -> max(a): 3
foo bar min(foo,bar): 3 2 4
b: 3; b+1: 5
a: 3; #a+1: 3
... a a+1: 9 9 3 5
k = 3 -> {k}: 4
k = 3 -> {k-1}: 3
k = 3; b: 2 -> b*{k}: 5
k = 3; {k}: 4
k = 0 -> {k}: 1
k = 3 -> {k.foo}: 3
k = 3 -> {k/0}: 3
k = 3 -> {k: 3
k = 3 -> k}: 3
b: 3 -> {x0.shape[1]}: 3
x3: 5; k = 3 -> x{k}: 6
β γ: 3 4; β: 4
*: 3; *: 4
4.5: 4
a: 3 -> print(): 3
a: 3 -> a==3: 3
a: 7 -> a>=3: 7
a=b=3: 3
class: 3 -> class+1: 4
min: 3; a: 4 -> min(min,a): 3
a: 3 -> 'a'*3: 3
a: 3 -> [a]: 3
a: 3 -> a if: 3
k = 3 -> {k!r}: 4
k = 3 -> {k}}: 3
k = 3 -> {}: 3
k = 3 -> {k}+: 3
""".strip("\n").splitlines()

# The sizes of names are known from left to right, and a size of 1 binds no `#name`.
MALFORMED = """
2*dim: 4
dim-1: 4; dim: 5
b+1: 3 -> b: 2
-> b+1: 3
#a: 1; a+1: 2
k = 3 -> {m}: 3
k = 3 -> k+1: 4
a: 3 -> x y+1: 3 4
a: 3 -> f(a): 3
a: 3 -> torch.zeros(3): 3
?a: 3
*?a: 3
a+1 a: 4 3
*b: 3; b+1: 4
k = 3; a: 4 -> {a}: 4
k = 3 -> {k}+j: 4
a: 3 -> #j+1: 4
""".strip("\n").splitlines()


def lines(*tables: tuple[list[str], Outcome]) -> list[Any]:
    return [pytest.param(line, wanted, id=f"{line} {wanted.name}") for table, wanted in tables for line in table]


@pytest.mark.parametrize(
    "line, wanted",
    lines((ACCEPTED, Outcome.ACCEPTED), (REFUSED, Outcome.REFUSED), (MALFORMED, Outcome.MALFORMED)),
)
def test_an_axis_means_what_jaxtyping_says(line: str, wanted: Outcome, check: Callable[[Any], Any]) -> None:
    outcome, says = read(line).outcome(check)
    assert outcome is wanted, says
