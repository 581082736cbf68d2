"""The project's own files agree with one another: pins, targets, workflows, README."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parent.parent
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
MAKEFILE = (ROOT / "Makefile").read_text()
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]

pytest.importorskip("torch", reason="the project's files are checked once, in the full environment")


def pins() -> dict[str, Requirement]:
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    found = [Requirement(line) for line in lines if line and not line.startswith("#")]
    return {canonicalize_name(requirement.name): requirement for requirement in found}


def test_every_pin_is_exact_and_names_no_build():
    for requirement in pins().values():
        assert re.fullmatch(r"==[^+,*]+", str(requirement.specifier)), requirement
        assert requirement.url is None


@pytest.mark.parametrize("part", ["", *PROJECT["optional-dependencies"]])
def test_every_requirement_is_pinned_within_its_range(part):
    for text in PROJECT["optional-dependencies"][part] if part else PROJECT["dependencies"]:
        requirement = Requirement(text)
        (version,) = pins()[canonicalize_name(requirement.name)].specifier
        assert requirement.specifier.contains(version.version), text


def targets() -> set[str]:
    return set(re.findall(r"^([a-z-]+):(?!=)", MAKEFILE, re.MULTILINE))


def commands(workflow: Path) -> str:
    jobs = yaml.safe_load(workflow.read_text())["jobs"].values()
    return "\n".join(step.get("run", "") for job in jobs for step in job["steps"])


@pytest.mark.parametrize("path", [*WORKFLOWS, ROOT / "README.md", ROOT / ".ci" / "run"], ids=lambda path: path.name)
def test_targets_that_are_named_exist(path):
    text = commands(path) if path.suffix == ".yml" else path.read_text()
    named = set(re.findall(r"\bmake ([a-z][a-z-]*)", text if path.suffix != ".md" else "\n".join(code(text))))
    assert named or path.suffix == ".yml"
    assert named <= targets()


def code(markdown: str) -> list[str]:
    """What stands between backticks or in indented blocks."""
    return [*re.findall(r"`([^`\n]+)`", markdown), *re.findall(r"^    (.*)$", markdown, re.MULTILINE)]


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_workflows_follow_their_schema(path):
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.github-workflows", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_target_is_listed_with_what_it_does():
    done = subprocess.run(["make", "help"], cwd=ROOT, capture_output=True, text=True, check=True)
    listed = {line.split()[0] for line in done.stdout.splitlines()}
    assert targets() - listed == {"typecheck"}


@pytest.mark.parametrize(
    ("target", "variable"), [("compare", "make compare BASE=main HEAD=HEAD"), ("lookaside", "NAME=itertools.chain")]
)
def test_a_target_without_its_variables_says_what_to_give(target, variable):
    make = ["make", "--assume-old=.venv/.installed", target]  # nothing is installed from within a test
    done = subprocess.run(make, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert variable in done.stderr or "needs" in done.stderr


def test_every_document_is_listed_and_every_link_leads_somewhere():
    documents = {path.name for path in (ROOT / "docs").glob("*.md")} - {"README.md"}
    assert set(links(ROOT / "docs" / "README.md")) == documents
    for path in [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]:
        assert [link for link in links(path) if not (path.parent / link).exists()] == []


def links(path: Path) -> list[str]:
    """Where a page's links lead, other than to the web or within the page."""
    found = re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", path.read_text())
    return [link for link in found if "://" not in link]
