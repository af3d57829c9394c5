# What a job reads and writes, as functions of its wildcards.
def relative(files):
    """Paths as seen from the working directory: a checkout that is moved or copied reruns nothing."""
    return [os.path.relpath(file) for file in files]


def growing(amount):
    """A resource that grows with each attempt."""
    return lambda wildcards, attempt: amount * attempt


def together(wildcards):
    """What a cluster gets as one job."""
    return plan.group(wildcards.setup)


def gpu(wildcards, input):
    """1 for a job whose code uses torch, where there are GPUs."""
    return int(gpus > 0 and plugins.uses_torch(tuple(input.code)))


def source(kind, name):
    """The files a method is made of."""
    return relative(plugins.source(kind, name))


def library(*names):
    """The given modules of the library with all they import."""
    return relative(plugins.closure(*(plugins.ROOT / name for name in names)))


def exhibit_files(paper, name):
    """Every file of an exhibit, and the table seed by seed behind it."""
    kinds = ["csv", "png", "pdf"] + (
        ["md", "tex"] if f"{paper}/{name}" in TABLES else []
    )
    files = [f"results/exhibits/{paper}/{name}.{kind}" for kind in kinds]
    return [*files, f"results/cells/{paper}/{name}.csv"]


def run_files():
    """What the papers share: the files of every run, and all that is measured on them."""
    cases = {
        (setup, defense)
        for _, _, exhibit in plan.exhibits()
        if exhibit["sources"] != ["data"]
        for setup in exhibit["setups"]
        for defense in exhibit["defenses"]
    }
    return [
        file
        for setup, defense in sorted(cases)
        for part in ("transcript", "truth", "learned")
        for file in seed_files(f"results/runs/{setup}/{defense}", part)
    ] + [
        file
        for paper, _, exhibit in plan.exhibits()
        for file in measured_files(paper, exhibit)
    ]


def ledger_files():
    """The verdicts on everything."""
    return [
        "results/claims.csv",
        "results/ledger.csv",
        "results/ledger.md",
        "results/ledger.html",
        "results/metrics.json",
        "results/data.md",
    ]


def datasets_of(setups):
    """The normalised data of these setups."""
    names = sorted({plan.setups[setup]["dataset"] for setup in setups})
    return [
        f"data/normalised/{name}.{kind}"
        for name in names
        for kind in ("safetensors", "json")
    ]


def seed_files(folder, part):
    """One file of a run for each seed."""
    return [f"{folder}/seed{seed}.{part}.safetensors" for seed in plan.seeds]


def provenance(setups):
    """Where the data of these setups come from, once they are there."""
    files = [
        f for f in datasets_of(setups) if f.endswith(".json") and os.path.exists(f)
    ]
    return (
        ", ".join(sorted({json.load(open(file))["provenance"] for file in files}))
        or "not yet known"
    )


def in_report(kind):
    """Category, labels and caption of an exhibit's file in the report."""

    def labels(wildcards):
        setups = EXHIBITS[f"{wildcards.paper}/{wildcards.exhibit}"]["setups"]
        return {
            "kind": kind,
            "setups": ", ".join(setups),
            "scale": plan.scale,
            "provenance": provenance(setups),
        }

    return {
        "category": "{paper}",
        "subcategory": "{exhibit}",
        "caption": "../workflow/report/exhibit.rst",
        "labels": labels,
    }


def tried(job):
    """Where a job notes that its method failed, and how often it was tried again."""
    note = f"{failures.NOTES}/{job}.json"
    return {"note": note, "attempt": lambda w: failures.attempt(note.format(**w))}


def trained(wildcards):
    """What the undefended run learned, for runs that do not train a model of their own."""
    setup = plan.trained_by(wildcards.setup, wildcards.defense)
    return seed_files(f"results/runs/{setup}/none", "learned") if setup else []


def measured_files(paper, exhibit):
    """The csv tables that an exhibit is made of."""
    return [
        file
        for source in exhibit["sources"]
        for file in plan.files(paper, exhibit, source)
    ]


def measured(wildcards):
    """The same, of the exhibit that a job is about."""
    exhibit = EXHIBITS[f"{wildcards.paper}/{wildcards.exhibit}"]
    return measured_files(wildcards.paper, exhibit)
