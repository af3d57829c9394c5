# The library's files that a job runs: a method's own are its inputs, a checksum of all that they import is one of its
# params. With thirty more inputs a job Snakemake would take twice as long to build the DAG.
def relative(files):
    """Paths as seen from the working directory: a checkout that is moved or copied reruns nothing."""
    return [os.path.relpath(file) for file in files]


def absolute(files):
    """Paths as the library names its own files."""
    return tuple(os.path.abspath(file) for file in files)


def source(kind, name):
    """The file of a method."""
    return relative([plugins.method(kind, name).path])


def library(*names):
    """Modules of the library."""
    return relative(plugins.ROOT / name for name in names)


def imports(code):
    """A param: the checksum of all that these files import."""
    return lambda wildcards: plugins.digest(absolute(code(wildcards)))


def normalise_code(wildcards):
    constants = plugins.method("dataset", wildcards.dataset).constants
    stand_in = f"standins/{constants['stand_in'] or constants['kind']}.py"
    return source("dataset", wildcards.dataset) + library(
        "datasets/__init__.py", stand_in
    )


def training_code(wildcards):
    setup = plan.setups[wildcards.setup]
    return source("protocol", setup["protocol"]) + source(
        "model", setup["model"]["use"]
    )


def run_code(wildcards):
    defense = source("defense", plan.defenses[wildcards.defense]["use"])
    return training_code(wildcards) + defense + library("runs.py")


def times_code(wildcards):
    uses = {variant["use"] for variant in plan.timed(wildcards.setup).values()}
    defenses = [file for use in sorted(uses) for file in source("defense", use)]
    return training_code(wildcards) + defenses + library("times.py")


def match_code(wildcards):
    defense = source("defense", plan.defenses[wildcards.defense]["use"])
    attack = source("attack", matched_by(wildcards)["use"])
    return training_code(wildcards) + defense + attack + library("matching.py")


def attack_code(wildcards):
    attack = source("attack", plan.attacks[wildcards.attack]["use"])
    protocol = source("protocol", plan.setups[wildcards.setup]["protocol"])
    return attack + protocol + library("scores.py")


def theory_code(wildcards):
    return library(f"theory/{wildcards.paper}_measures.py")


def cells_code(wildcards):
    return library("cells.py")


def figure_code(wildcards):
    exhibit = EXHIBITS[f"{wildcards.paper}/{wildcards.exhibit}"]
    return source("exhibit", exhibit["draw"]["use"])


def ledger_code(wildcards):
    return library("claims.py", "headline.py", "ledger.py")
