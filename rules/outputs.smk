# The files that rules make, by what they are.
def exhibit_files(paper, name):
    """Every file of an exhibit, and the table seed by seed behind it."""
    kinds = ["csv", "png", "pdf"] + (
        ["md", "tex"] if f"{paper}/{name}" in TABLES else []
    )
    files = [f"results/exhibits/{paper}/{name}.{kind}" for kind in kinds]
    return [*files, f"results/cells/{paper}/{name}.csv"]


def exhibits_of(*papers):
    """Every file of these papers' exhibits."""
    return [
        exhibit_files(paper, name)
        for paper, name, _ in plan.exhibits()
        if paper in papers
    ]


def run_files():
    """What the papers share: the files of every run, and all that is measured on them."""
    cases = {
        pair
        for _, _, exhibit in plan.exhibits()
        if set(exhibit["sources"]) - {"data", "grids", "times", "matches"}
        for pair in plan.runs(exhibit)
    }
    return [
        file
        for setup, defense in sorted(cases)
        for part in ("transcript", "truth", "learned")
        if part != "transcript" or not plan.temporary(setup)
        for file in seed_files(f"results/runs/{setup}/{defense}", part)
    ] + sorted(
        {
            file
            for paper, _, exhibit in plan.exhibits()
            for file in measured_files(paper, exhibit)
        }
    )


def ledger_files():
    """The verdicts on everything."""
    return [
        "results/claims.csv",
        "results/ledger.csv",
        "results/ledger.md",
        "results/metrics.json",
        "results/data.md",
    ]


def datasets_of(setups):
    """The normalised data of these setups; the json has a checksum of the arrays, which may be too many to take it anew."""
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
    """What a job reads or writes of a run."""
    seeds = ["{seed}"] if grain.one_seed else plan.seeds
    return seed_files("results/runs/{setup}/{defense}", part, seeds)


def passing(grain, files):
    """Files that are deleted once all that reads them is done, if the scale says so."""
    return temp(files) if grain.temporary else files


def table(grain, path):
    """A table that a job writes; what one seed gives is a part of it, see the rule `join`."""
    return temp(f"{path}{grain.part}.csv") if grain.one_seed else f"{path}.csv"


def joined_tables():
    """The paths under results/ of the tables whose parts are jobs of one seed, without extension."""
    cut = [setup for grain in plan.grains if grain.one_seed for setup in grain.setups]
    setups = "|".join(cut)
    return rf"(runs/({setups})/\w+/utility|(scores/({setups})/\w+|theory/\w+/({setups})|matches/({setups}))/\w+)"


def measured_files(paper, exhibit):
    """The csv tables that an exhibit is made of."""
    return [
        file
        for source in exhibit["sources"]
        for file in plan.files(paper, exhibit, source)
    ]
