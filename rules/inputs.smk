# Inputs, resources and params of jobs, as functions of their wildcards.
def growing(amount):
    """A resource that grows with each attempt."""
    return lambda wildcards, attempt: amount * attempt


def at_once(name):
    """Group that a cluster gets as one job; without a cluster Snakemake need not check groups for cycles."""
    return lambda wildcards: name if internals.submits else None


def together(wildcards):
    """Group of small jobs on one model; the profile may put several models into one."""
    return at_once("models" if plan.cluster.small_jobs else None)(wildcards)


def gpu(wildcards, input):
    """1 for a job whose code uses torch, where there are GPUs."""
    return int(gpus > 0 and code_of.uses_torch(absolute(input.code)))


def provenance(setups):
    """Provenance of the data of these setups, once they exist."""
    files = [
        f for f in datasets_of(setups) if f.endswith(".json") and os.path.exists(f)
    ]
    return (
        ", ".join(sorted({json.load(open(file, "rb"))["provenance"] for file in files}))
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
    """Params of a job that may fail: the path of its note, and the number of the attempt."""
    note = f"{notes.NOTES}/{job}.json"
    return {
        "note": note,
        "attempt": lambda w: notes.attempt(note.format(**w), internals.touches),
    }


def one_of(exhibits):
    """Regex for the names of these exhibits ("paper/name"); papers may have none of a kind."""
    return "|".join(sorted({os.path.basename(key) for key in exhibits})) or "!"


def attack_jobs():
    """The rules of attacks: name, job, attacks, job granularity, and regexes for setup and defense."""
    shared = [
        (setup, [defense for _, defense in own], attacks, grain)
        for (attacks, grain), runs in plan.shared_jobs().items()
        for setup, own in itertools.groupby(runs, key=lambda run: run[0])
    ]
    names = set()
    for setup, own, attacks, grain in sorted(shared, key=lambda job: -len(job[1])):
        name = f"attacks_on_{setup}"
        name += f"_under_{own[0]}" if name in names else ""
        names.add(name)
        yield name, SHARED, attacks, grain, setup, "|".join(own)
    for grain in plan.grains:
        name = f"attack{grain.suffix}"
        yield name, "{attack}", ("{attack}",), grain, setups_of(grain), r"\w+"


def attacks_of(names):
    """Settings of attacks, whose names may have wildcards, as a function of the wildcards."""
    return lambda w: {
        name: plan.attacks[name] for name in (each.format(**w) for each in names)
    }


def setups_of(grain):
    """Regex for the setups of a job granularity."""
    return r"\w+" if len(plan.grains) == 1 else "|".join(grain.setups)


def matched_by(wildcards):
    """The attack whose success tunes a defense's strength."""
    return plan.attacks[plan.matches[wildcards.setup, wildcards.defense]["attack"]]


def seeds_of(wildcards):
    """Seeds of a job."""
    return [int(wildcards.seed)] if "seed" in wildcards.keys() else list(plan.seeds)


def trained(wildcards):
    """Trained models of the undefended run, for runs that do not train their own."""
    setup, seeds = plan.trained_by(wildcards.setup, wildcards.defense), seeds_of(
        wildcards
    )
    return seed_files(f"results/runs/{setup}/none", "learned", seeds) if setup else []


def prior_of(wildcards):
    """What features alone predict, where an exhibit shows the leak beyond it."""
    return (
        ["results/priors/{setup}.safetensors".format(**wildcards)]
        if wildcards.setup in plan.with_prior
        else []
    )


def printed(papers):
    """Published numbers of these papers."""
    return given(f"workflow/papers/{paper}/published.csv" for paper in papers)


def printed_files(wildcards):
    """The paper's published numbers, if the exhibit shows any."""
    numbers = plan.plot_options(wildcards.paper, wildcards.exhibit)["numbers"]
    return {"published": printed([wildcards.paper])[0]} if numbers else {}


def own_files(wildcards):
    """Files of a dataset outside the tree."""
    own = plugins.home("dataset", wildcards.dataset)
    return given(sources.own_files(own, wildcards.dataset)) if own else []


def sources_of(wildcards):
    """Table of a dataset's original files; for one outside the tree the files themselves."""
    return own_files(wildcards) or given([SOURCES])


def rows_of(wildcards):
    """Rows of a dataset's original files: a new dataset reruns nothing of the others."""
    name = wildcards.dataset
    place = plugins.home("dataset", name) or SOURCES
    return [dict(vars(r)) for v in sources.versions_of(name, place, None) for r in v]


def rows_in(wildcards):
    """Rows of a folder of original files."""
    return [dict(vars(r)) for r in ORIGINALS if r.dataset == wildcards.folder]


def record_of_folder(folder):
    """Record of the acquired files of a folder."""
    return f"{RECORDS}/{folder}.json"


def record_of(wildcards):
    """Record of a dataset's acquired files; none for a dataset without original files, or outside the tree."""
    if plugins.home("dataset", wildcards.dataset):
        return []
    folder = sources.folder_of(wildcards.dataset, SOURCES)
    return [record_of_folder(folder)] if folder else []


@functools.cache
def answering():
    """URLs that failed before and answer now."""
    urls = sources.failed(RECORDS)
    if not urls or internals.touches:
        return ()
    from cutlayer.data import download  # it takes a while to import

    return download.answering(urls, PATIENCE)


@functools.cache
def misnamed(folder):
    """Warn about original files that may be there under another name."""
    for sentence in sources.misnamed(folder, "data/raw", SOURCES):
        print(f"warning: {sentence}", file=sys.stderr)


def acquisitions(wildcards):
    """Number of acquisitions of a folder's files; one more if there is a reason to try again."""
    if not internals.is_main:
        return 0  # only that one acquires files
    misnamed(wildcards.folder)
    places = ("data/raw", mirror, SOURCES)
    return sources.acquisitions(
        record_of_folder(wildcards.folder), *places, answering()
    )


def acquired(wildcards):
    """Record of an original file's folder; an error if the sources do not list the file, or no place has it at present."""
    known = [row["file"] for row in rows_in(wildcards)]
    if wildcards.file not in known:
        raise WorkflowError(
            f"file.{wildcards.file}: is not in {SOURCES}; {nearest(wildcards.file, known)}"
        )
    record = record_of_folder(wildcards.folder)
    if os.path.exists(record) and not os.path.exists(
        "data/raw/{folder}/{file}".format(**wildcards)
    ):
        content = json.load(open(record))
        if acquisitions(wildcards) == content.get("acquisitions"):
            reasons = [
                r
                for one in content["datasets"].values()
                for r in one.get("reasons", ())
            ]
            raise WorkflowError(f"file.{wildcards.file}: cannot be had", *reasons)
    return record


def measured(wildcards):
    """The csv tables behind the exhibit of a job."""
    exhibit = EXHIBITS[f"{wildcards.paper}/{wildcards.exhibit}"]
    return measured_files(wildcards.paper, exhibit)
