# Output files of the rules, by kind.
def exhibit_files(paper, name):
    """All files of an exhibit, with its table of cells."""
    kinds = ["csv", "png", "pdf"] + (
        ["md", "tex"] if f"{paper}/{name}" in TABLES else []
    )
    files = [f"results/exhibits/{paper}/{name}.{kind}" for kind in kinds]
    return [*files, f"results/cells/{paper}/{name}.csv"]


def exhibits_of(*papers):
    """All files of these papers' exhibits."""
    return [
        exhibit_files(paper, name)
        for paper, name, _ in plan.exhibits()
        if paper in papers
    ]


def ledger_files():
    """Files of the ledger."""
    return [
        "results/claims.csv",
        "results/ledger.csv",
        "results/ledger.md",
        "results/metrics.json",
        "results/data.md",
    ]


def datasets_of(setups):
    """Normalised data of these setups; the json has the checksum of the arrays, which may be too large to hash again."""
    names = sorted({plan.setups[setup]["dataset"] for setup in setups})
    return [
        file
        for name in names
        for file in (
            ancient(f"data/normalised/{name}.safetensors"),
            f"data/normalised/{name}.json",
        )
    ]


def seed_files(folder, part, seeds=plan.seeds):
    """One file of a run for each seed."""
    return [f"{folder}/seed{seed}.{part}.safetensors" for seed in seeds]


def run_parts(grain, part):
    """Files of a run that a job reads or writes."""
    seeds = ["{seed}"] if grain.one_seed else plan.seeds
    return seed_files("results/runs/{setup}/{defense}", part, seeds)


def passing(grain, files):
    """Files, deleted once all jobs that read them are done if the scale requests it."""
    return temp(files) if grain.temporary else files


def table(grain, path):
    """Table of a job; that of one seed is a part, see the rule `join`."""
    return temp(f"{path}{grain.part}.csv") if grain.one_seed else f"{path}.csv"


def joined_tables():
    """Regex for the paths of tables (under results/, without extension) whose parts are jobs of one seed."""
    cut = [setup for grain in plan.grains if grain.one_seed for setup in grain.setups]
    return rf"(runs|scores|matches|theory/\w+)/({'|'.join(cut)})/(?!times\b)\w+(/\w+)?"


def measured_files(paper, exhibit):
    """The csv tables behind an exhibit."""
    return [
        file
        for source in exhibit["sources"]
        for file in plan.files(paper, exhibit, source)
    ]
