"""What pyproject.toml says: which file it stands for, what is reported there, and messages about what means nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from shaped.codes import DEFAULT_CODES
from shaped.static.config import CONFIGURABLE, Choice, ConfigurationError, Configurations, Paths, read
from shaped.static.config_file import choice

OVERRIDE = "[[tool.shaped.overrides]]"
RELATIVE = "expected a pattern relative to the file's folder, such as 'tests/**'"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder, the working folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def configure(text: str, folder: str = ".") -> None:
    Path(folder).mkdir(parents=True, exist_ok=True)
    Path(folder, "pyproject.toml").write_text(text, encoding="utf-8")


def codes(path: str) -> set[str]:
    return set(Configurations().codes(Path(path)))


def test_without_a_file_the_default_codes_are_reported(folder: Path) -> None:
    assert codes("net.py") == DEFAULT_CODES


@pytest.mark.parametrize("text", ["", "[project]\nname = 'shaped'\n", "[tool.mypy]\nfiles = ['shaped']\n"])
def test_a_file_that_says_nothing_about_shaped_leaves_the_word_to_the_next_one_above(folder: Path, text: str) -> None:
    configure("[tool.shaped]\ndisable = ['dtype']\n")
    configure(text, "inner")
    assert "dtype" not in codes("inner/deep/net.py")


def test_the_nearest_file_that_speaks_of_shaped_is_the_only_one_that_counts(folder: Path) -> None:
    configure("[tool.shaped]\ndisable = ['dtype']\n")
    configure("[tool.shaped]\n", "inner")
    assert codes("inner/net.py") == DEFAULT_CODES
    assert "dtype" not in codes("outer/net.py")


def test_the_way_to_a_file_does_not_matter(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    configure("[tool.shaped]\ndisable = ['dtype']\n", "inner")
    Path("other").mkdir()
    assert "dtype" in codes("inner/../other/net.py")
    monkeypatch.chdir("other")
    assert "dtype" not in codes("../inner/net.py")


def test_no_toml_is_parsed_that_does_not_name_shaped(folder: Path) -> None:
    configure("this is [no toml")
    assert codes("net.py") == DEFAULT_CODES


@pytest.mark.parametrize(
    ("enable", "disable", "reported", "silent"),
    [
        ([], ["shape"], {"dtype"}, {"shape", "shape-axes", "shape-squeeze"}),
        ([], ["shape-axes"], {"shape", "shape-squeeze", "dtype"}, {"shape-axes"}),
        (["shape-axes"], ["shape"], {"shape-axes"}, {"shape", "shape-squeeze"}),
        (["shape"], ["shape-axes"], {"shape", "shape-squeeze"}, {"shape-axes"}),
        (["shape"], ["dtype"], {code for code in DEFAULT_CODES if code.startswith("shape")}, {"shape-promotion"}),
    ],
)
def test_a_code_stands_for_its_sub_codes_that_are_not_named(
    enable: list[str], disable: list[str], reported: set[str], silent: set[str]
) -> None:
    found = choice(enable, disable, "").applied_to(DEFAULT_CODES)
    assert found >= reported
    assert not found & silent


def test_a_code_that_is_off_by_default_is_reported_where_it_is_enabled() -> None:
    assert "shape-promotion" in choice(["shape-promotion"], [], "").applied_to(DEFAULT_CODES)
    assert "shape-promotion" not in choice(["shape"], [], "").applied_to(DEFAULT_CODES)


def test_overrides_apply_in_order_to_the_files_that_they_match(folder: Path) -> None:
    configure("""
[tool.shaped]
disable = ["shape-squeeze"]
[[tool.shaped.overrides]]
paths = ["legacy/**", "*_old.py"]
disable = ["dtype"]
enable = ["shape-squeeze"]
[[tool.shaped.overrides]]
paths = ["legacy/kept"]
enable = ["dtype"]
""")
    assert codes("net.py") == DEFAULT_CODES - {"shape-squeeze"}
    assert codes("net_old.py") == codes("legacy/deep/net.py") == DEFAULT_CODES - {"dtype"}
    assert codes("legacy/kept/net.py") == DEFAULT_CODES
    assert codes("deep/net_old.py") == codes("net.py")


def test_the_command_line_goes_before_the_file(folder: Path) -> None:
    configure("[tool.shaped]\ndisable = ['shape']\n[[tool.shaped.overrides]]\npaths = ['**']\ndisable = ['dtype']\n")
    asked = Choice(enable=frozenset({"dtype", "shape-axes"}))
    assert Configurations(asked).codes(Path("net.py")) >= {"dtype", "shape-axes"}


@pytest.mark.parametrize(
    ("pattern", "matches", "matches_not"),
    [
        ("tests/**", ["tests/net.py", "tests/deep/net.py"], ["src/tests/net.py", "tests.py", "my_tests/net.py"]),
        ("tests", ["tests/net.py", "tests/deep/net.py"], ["src/tests/net.py", "tests.py"]),
        ("tests/", ["tests/net.py"], ["tests.py"]),
        ("./tests", ["tests/net.py"], ["src/tests/net.py"]),
        ("**/tests", ["tests/net.py", "src/deep/tests/net.py"], ["src/my_tests/net.py"]),
        ("*.py", ["net.py"], ["src/net.py", "net.pyi", "net.pyc"]),
        ("**/*_pb?.py", ["net_pb2.py", "src/deep/net_pb2.py"], ["net_pb.py", "net_pb22.py"]),
        ("src/*/net.py", ["src/a/net.py"], ["src/net.py", "src/a/b/net.py"]),
        ("src/**/net.py", ["src/net.py", "src/a/b/net.py"], ["src/a/my_net.py"]),
        ("a+(b)[c].py", ["a+(b)[c].py"], ["aab.py"]),
    ],
)
def test_patterns_are_relative_to_the_folder(pattern: str, matches: list[str], matches_not: list[str]) -> None:
    paths = Paths((pattern,))
    assert [path for path in [*matches, *matches_not] if path in paths] == matches


def test_excluded_files_are_known(folder: Path) -> None:
    configure("[tool.shaped]\nexclude = ['tests/**']\n", "project")
    configurations = Configurations()
    assert configurations.is_excluded(Path("project/tests/deep/net.py"))
    assert not configurations.is_excluded(Path("project/net.py"))
    assert not configurations.is_excluded(Path("tests/net.py"))


@pytest.mark.parametrize(
    ("text", "key", "said"),
    [
        (
            "disable = ['shape-sqeeze']",
            "disable",
            "'shape-sqeeze' is no diagnostic code; did you mean 'shape-squeeze'?",
        ),
        ("enable = ['E501']", "enable", f"'E501' is no diagnostic code; expected one of {', '.join(CONFIGURABLE)}"),
        ("enable = ['syntax']", "enable", f"'syntax' is no diagnostic code; expected one of {', '.join(CONFIGURABLE)}"),
        ("enable = 'shape'", "enable", "expected a list of strings, not 'shape'"),
        ("enable = ['shape', 3]", "enable", "expected strings in the list, not 3"),
        ("enable = ['dtype']\ndisable = ['dtype']", "", "'dtype' is both enabled and disabled"),
        ("excludes = []", "excludes", "unknown key; did you mean 'exclude'?"),
        ("strict = 1", "strict", "unknown key; expected one of disable, enable, exclude, overrides, traceback"),
        ("exclude = true", "exclude", "expected a list of strings, not true"),
        ("exclude = ['/x']", "exclude", f"{RELATIVE}, not '/x'"),
        ("exclude = ['../x']", "exclude", f"{RELATIVE}, not '../x'"),
        ("traceback = 1", "traceback", "expected true or false, not 1"),
        ("overrides = {}", "overrides", "expected an array of tables, [[tool.shaped.overrides]], not a table"),
        ("overrides = [1]", "overrides[0]", "expected a table, not 1"),
        (f"{OVERRIDE}\n", "overrides[0].paths", 'expected patterns of paths, such as ["tests/**"]'),
        (f"{OVERRIDE}\nexclude = []", "overrides[0].exclude", "unknown key; expected one of disable, enable, paths"),
        (
            f"{OVERRIDE}\npaths = ['*']\ndisable = ['dtyp']",
            "overrides[0].disable",
            "'dtyp' is no diagnostic code; did you mean 'dtype'?",
        ),
    ],
)
def test_what_means_nothing_is_named_with_what_was_expected(folder: Path, text: str, key: str, said: str) -> None:
    configure(f"[tool.shaped]\n{text}\n")
    with pytest.raises(ConfigurationError) as raised:
        codes("deep/net.py")
    assert str(raised.value) == f"pyproject.toml: tool.shaped{'.' if key else ''}{key}: {said}"


def test_a_file_that_is_no_toml_is_named_with_the_place(folder: Path) -> None:
    configure("[tool.shaped]\ndisable = [\n", "inner")
    with pytest.raises(ConfigurationError, match=r"^inner/pyproject\.toml: no TOML: Invalid value"):
        codes("inner/net.py")


def test_a_table_of_another_kind_is_an_error(folder: Path) -> None:
    configure("[tool]\nshaped = 3\n")
    with pytest.raises(ConfigurationError, match=r"pyproject\.toml: tool\.shaped: expected a table, not 3"):
        read(folder / "pyproject.toml")


def test_a_change_is_noticed_where_it_matters(folder: Path) -> None:
    configure("[tool.shaped]\ndisable = ['dtype']\n")
    configurations = Configurations()
    configurations.codes(Path("deep/net.py"))
    assert not configurations.has_changed()
    configure("[tool.shaped]\ndisable = ['dtype']  # the same\n")
    assert not configurations.has_changed()
    configure("[tool.shaped]\n", "deep")
    assert configurations.has_changed()
    Path("deep/pyproject.toml").unlink()
    configure("[tool.shaped]\ndisable = 'dtype'\n")
    assert configurations.has_changed()
