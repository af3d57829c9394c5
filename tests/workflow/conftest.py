"""A copy of the project to run, change and break."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml

from cutlayer.plan import families
from tests import written
from tests.conftest import lock, shared_folder

ROOT = Path(__file__).parents[2]
PARTS = (
    "Snakefile",
    "params.yaml",
    "rules",
    "envs",
    "profiles",
    "workflow",
    "data/sources.csv",
    "docs",
    "reference",
    "README.md",
    "CONTRIBUTING.md",
    "tests/workflow/tiny.yaml",
)
NOWHERE = "http://127.0.0.1:9"  # nothing listens on the discard port: downloads fail at once
OFFLINE = {"http_proxy": NOWHERE, "https_proxy": NOWHERE, "PIP_NO_INDEX": "1"}
LONG = 3600  # seconds that nothing takes, however busy the machine


def replaced(file: Path, old: str, new: str) -> None:
    """Write something else in place of a text that a file must have."""
    text = file.read_text()
    assert old in text, f"{file} does not hold {old!r}"
    file.write_text(text.replace(old, new, 1))


@dataclass
class Project:
    """A copy of the project in a folder of its own."""

    folder: Path
    mirror: str = os.environ.get("CUTLAYER_MIRROR", "")

    def command(self, *arguments: str, cores: int = 2, tiny: bool = True) -> list[str]:
        config = ["--configfile", "tests/workflow/tiny.yaml"] if tiny else []
        return [sys.executable, "-m", "snakemake", "--cores", str(cores), *arguments, *config]

    @property
    def environment(self) -> dict[str, str]:
        mirror = str(Path(self.mirror).resolve()) if self.mirror else ""
        return os.environ | OFFLINE | {"CUTLAYER_MIRROR": mirror}

    def snakemake(self, *arguments: str, cores: int = 2, tiny: bool = True) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            self.command(*arguments, cores=cores, tiny=tiny),
            cwd=self.folder,
            env=self.environment,
            text=True,
            capture_output=True,
            timeout=LONG,
            check=False,
        )

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        return self.start_command(*self.command(*arguments))

    def start_command(self, *command: str) -> subprocess.Popen[str]:
        """Run in the background; what it says goes to a file beside the folder."""
        with self.folder.with_suffix(".said").open("a") as said:
            return subprocess.Popen(command, cwd=self.folder, env=self.environment, text=True, stdout=said, stderr=said)

    def run(self, *arguments: str, cores: int = 2) -> str:
        done = self.snakemake(*arguments, cores=cores)
        assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-6000:]
        return done.stdout + done.stderr

    def replace(self, file: str, old: str, new: str) -> None:
        replaced(self.folder / file, old, new)

    def csv(self) -> dict[str, bytes]:
        return self.files("csv")

    def files(self, kind: str) -> dict[str, bytes]:
        """The files of a kind that are among the results."""
        files = sorted((self.folder / "results").rglob(f"*.{kind}"))
        return {str(file.relative_to(self.folder)): file.read_bytes() for file in files}


def untimed(project: Project) -> dict[str, bytes]:
    """The csv tables but those that hold times: of steps, or verdicts and counts of verdicts on them."""
    timed = re.compile(
        r"results/runs/\w+/times\.csv|(cells|exhibits)/(secdt/figure8|tappfl/table1_times)\.csv|results/(claims|ledger)\.csv"
    )
    return {name: content for name, content in project.csv().items() if not timed.search(name)}


def copy(folder: Path) -> Project:
    for part in PARTS:
        source, target = ROOT / part, folder / part
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, target, ignore=shutil.ignore_patterns("*.egg-info"))  # what is compiled, too
        else:
            shutil.copy(source, target)
    return Project(folder)


BESIDE = ("Makefile", "requirements.lock", "pyproject.toml", "docs", "tests")  # what a checkout has besides


def set_up(project: Project) -> None:
    """Make a copy what `make setup` leaves, with the environment that runs the tests."""
    ignored = shutil.ignore_patterns("__pycache__")
    for part in BESIDE:
        source, target = ROOT / part, project.folder / part
        if source.is_dir():
            shutil.copytree(source, target, ignore=ignored, dirs_exist_ok=True)
        else:
            shutil.copy(source, target)
    (project.folder / ".venv").mkdir()
    for part in Path(sys.prefix).iterdir():
        if part.name != "ready":
            (project.folder / ".venv" / part.name).symlink_to(part)
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    (project.folder / ".venv/ready").write_text(f"{project.folder.resolve()}/.venv of Python {version}\n")


def blocks(document: str, language: str) -> list[str]:
    """The blocks of code of a document that are in a language."""
    found = re.findall(rf"^( *)```{language}\n(.*?)^\1```", (ROOT / document).read_text(), flags=re.S | re.M)
    return [re.sub(rf"^{indent}", "", text, flags=re.M) for indent, text in found]


def follow(block: str, checkout: Project, folder: Path, **environment: str) -> str:
    """What a block of a document says when it is run as it stands."""
    own = {
        "CUTLAYER": str(checkout.folder),
        "PYTHONPATH": str(checkout.folder / "workflow"),
        "OMP_NUM_THREADS": "1",
    }
    done = subprocess.run(
        ["bash", "-e", "-c", block],
        cwd=folder,
        env=checkout.environment | own | environment,
        text=True,
        capture_output=True,
        timeout=LONG,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return done.stdout


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A fresh copy, without results."""
    return copy(tmp_path)


# Each kind of setup of each protocol: real and bundled, shared models, streams; others run the same code.
SETUPS = {
    "bank", "bank_l2", "bank_one_feature", "bank_half", "bank_train", "bank_small", "wine", "wine_half", "wine_small",
    "criteo_steps", "avazu_days", "digits_vs_rest", "digits_images", "diabetes_sex", "diabetes_sex_poisoned",
    "diabetes_federated", "diabetes_federated_averaged", "adult_marital",
}  # fmt: skip

COMPARED = ["half", "rcc2", "gia", "chebyshev_center"]  # under every defense; figure 4 has all


def _refer_to_one_paper(project: Project) -> None:
    """Of the reference run one paper is left: pages of all of them would take longer than any other job."""
    published = project.folder / "reference/runs.csv"
    lines = published.read_text().splitlines(keepends=True)
    published.write_text("".join([lines[0], *(line for line in lines if line.split(",")[1] == "secdt")]))


def thin(project: Project) -> Project:
    """Leave every exhibit, on few setups; those that only show facts of the data stay as they are.

    Every defense meets a few attacks instead of all: each attack is in the figures of its paper.
    """
    _refer_to_one_paper(project)
    for paper in (project.folder / "workflow/papers").glob("*/paper.yaml"):
        content = families.read(paper.parent, paper.parent.name)
        for name, exhibit in content["exhibits"].items():
            if exhibit.get("sources") != ["data"]:
                exhibit["setups"] = [s for s in exhibit["setups"] if s in SETUPS] or exhibit["setups"][:1]
            if (name, exhibit["setups"]) == ("comparison", ["wine_half"]):
                exhibit["attacks"] = COMPARED
        numbers = content.get("numbers", [])
        for entry in [*content["claims"].values(), *content.get("headline", {}).values(), *numbers]:
            for check in _checks(entry):
                _narrow(check, content["exhibits"])
        content["claims"] = {name: claim for name, claim in content["claims"].items() if _has_setups(claim)}
        numbers = [number for number in numbers if _has_setups(number)]
        content |= {"numbers": numbers} if numbers else {}
        for entry in content["headline"].values():
            if not entry["check"]["setups"]:
                entry["check"]["setups"] = content["exhibits"][entry["check"]["exhibit"]]["setups"][:1]
        _said(content)
        paper.write_text(yaml.safe_dump(written.paper(content), sort_keys=False))
    return project


def _checks(entry: dict) -> list[dict]:
    """The check of an entry, and those of its readings."""
    return [*entry.get("readings", {}).values(), *([entry["check"]] if "check" in entry else [])]


def _has_setups(entry: dict) -> bool:
    return all(check.get("setups", True) for check in _checks(entry))


def _said(content: dict) -> None:
    """Leave of what a paper says above all what its claims are about."""
    for entry in content.get("main", []):
        entry["claims"] = [name for name in entry["claims"] if name in content["claims"]]
    left = [entry for entry in content.pop("main", []) if entry["claims"]]
    content |= {"main": left} if left else {}


def _narrow(check: dict, exhibits: dict) -> None:
    if "setups" in check:
        check["setups"] = [s for s in check["setups"] if s in exhibits[check["exhibit"]]["setups"]]


def once(factory: pytest.TempPathFactory, name: str, make: Callable[[Path], object]) -> Path:
    """A folder that is made once in a session of tests: by the process that asks first, the others wait for it."""
    place = shared_folder(factory) / name
    place.mkdir(exist_ok=True)
    with lock(place / "lock"):
        if (place / "project").exists() and not (place / "made").exists():
            pytest.fail(f"{name} could not be made: see the first test that asked for it")
        if not (place / "made").exists():
            make(place / "project")
            (place / "made").touch()
    return place / "project"


def linked(source: str, target: str) -> None:
    """Copy a file; one of arrays, which is large and never written in place, by a link (which DVC would replace)."""
    if source.endswith(".safetensors"):
        os.link(source, target)
    else:
        shutil.copy2(source, target)


@pytest.fixture(scope="session")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A copy in which the whole tiny DAG ran on two cores; tests leave it as it is."""
    return Project(once(tmp_path_factory, "finished", lambda folder: thin(copy(folder)).run("--quiet")))


@pytest.fixture
def edited(finished: Project, tmp_path: Path) -> Project:
    """A copy of the finished project, results and all, to edit."""
    shutil.copytree(finished.folder, tmp_path / "copy", copy_function=linked)
    return Project(tmp_path / "copy")


KEPT = {
    "chebyshev": ("table1", "figure5", "theorems", "comparison", "decisions"),
    "marvell": ("data",),
    "secdt": ("figure4",),
    "tcpo": ("guarantee",),
    "tappfl": ("figure4",),
    "arena": ("labels", "vulnerable"),
}
ABOUT = {
    "chebyshev": "wine",
    "marvell": "digits_vs_rest",
    "secdt": "digits_vs_rest",
    "tcpo": "diabetes_sex",
    "tappfl": "diabetes_federated",
    "arena": "digits_vs_rest",
}
JUDGED = ("theorems", "decisions", "figure4")


def prune(project: Project) -> Project:
    """Leave a DAG of about thirty short jobs, with every kind of exhibit and a claim, to be killed and broken.

    It is about Wine and, for labels, about one digit against the rest, for attributes about diabetes. Without a mirror:
    Robot, which gets the exhibits of features that need no defense, is a stand-in.
    """
    project.mirror = ""
    _refer_to_one_paper(project)
    for file in sorted((project.folder / "workflow/papers").glob("*/paper.yaml")):
        paper = file.parent.name
        content = families.read(file.parent, paper)
        exhibits = {name: content["exhibits"][name] for name in KEPT[paper]}
        for exhibit in exhibits.values():
            exhibit["setups"] = [ABOUT[paper], *(["robot"] if paper == "chebyshev" else ())]
            exhibit.pop("printed", None)  # of exhibits that are gone
            exhibit.pop("kept", None)  # above a defense that is gone
        content |= {"exhibits": exhibits, "numbers": []}
        content["claims"] = {
            n: c for n, c in content["claims"].items() if c["check"]["exhibit"] in exhibits.keys() & {*JUDGED}
        }
        content.pop("headline")
        content = _few(paper, content)
        _said(content)
        file.write_text(yaml.safe_dump(written.paper(content), sort_keys=False, width=1000))
    return project


def _few(paper: str, content: dict) -> dict:
    """Few methods in the exhibits that `prune` leaves."""
    exhibits = content["exhibits"]
    if paper == "chebyshev":
        exhibits["comparison"] |= {"defenses": ["none", "pps", "scheme1"], "attacks": ["half", "rcc2", "gia"]}
        exhibits["decisions"] |= {"defenses": ["pps", "scheme1"]}
        followed = {"utility": {"metric": "kl"}, "leak": {"metric": "mse", "attack": "rcc2"}}
        content["headline"] = {
            part: {
                "text": part,
                "check": {
                    "statistic": "value",
                    "left": left | {"defense": "pps"},
                    "exhibit": "comparison",
                    "setups": ["wine"],
                },
            }
            for part, left in followed.items()
        }
        for name in ("comparison", "decisions"):
            exhibits[name]["setups"] = ["wine"]
    if paper == "secdt":
        sets = {"norm": ["norm"], "any_completion": ["model_completion"]}
        exhibits["figure4"] |= {"defenses": ["none", "secdt"], "attacks": ["norm", "model_completion"]}
        exhibits["figure4"]["worst"] = {"leaks": {"attack_utility": "more"}, "among": sets}
        claim = content["claims"]["lowers_completion"]
        content["claims"] = {"lowers_completion": {key: part for key, part in claim.items() if key != "readings"}}
    if paper == "tcpo":
        exhibits["guarantee"]["defenses"] = ["tcpo"]
    if paper == "tappfl":
        exhibits["figure4"]["defenses"] = ["model_compression"]
        content["claims"] = {}
    if paper == "arena":
        exhibits["labels"] |= {"defenses": ["none", "secdt"], "attacks": ["norm", "off_axis"]}
        sets = {"attacks_of_the_papers": ["norm"], "any_attack": ["attacks_of_the_papers", "off_axis"]}
        exhibits["labels"]["worst"] = {"leaks": {"leak_auc_mean": "more"}, "among": sets}
        exhibits["vulnerable"] |= {"defenses": ["none", "secdt"], "attacks": ["repeated"]}
        exhibits["vulnerable"]["worst"] = {"leaks": {"tpr_of_vulnerable": "more"}, "among": {"followed": ["repeated"]}}
    return content


@pytest.fixture
def small(project: Project) -> Project:
    """A fresh copy with a small DAG, without results."""
    return prune(project)


@pytest.fixture(scope="session")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A copy in which the small DAG ran without disturbance; tests leave it as it is."""
    return Project(once(tmp_path_factory, "undisturbed", lambda folder: prune(copy(folder)).run("--quiet")), mirror="")


@pytest.fixture
def small_edited(undisturbed: Project, tmp_path: Path) -> Project:
    """A copy of the small DAG, results and all, to break."""
    shutil.copytree(undisturbed.folder, tmp_path / "copy")
    return Project(tmp_path / "copy", mirror="")
