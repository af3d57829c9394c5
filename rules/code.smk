# The library's files that a job runs: a method's own are its inputs, a checksum of all that they import is one of its
# params. With thirty more inputs a job Snakemake would take twice as long to build the DAG.
relpath, abspath = functools.cache(os.path.relpath), functools.cache(os.path.abspath)


def relative(files):
    """Paths as seen from the working directory: a checkout that is moved or copied reruns nothing."""
    return [relpath(file) for file in files]


def absolute(files):
    """Paths as the library names its own files."""
    return tuple(map(abspath, files))


def source(kind, name, game=""):
    """The file of a method, that of a game if several have one of that name."""
    return relative([plugins.method(kind, name, game).path])


def library(*names):
    """Modules of the library."""
    return relative(plugins.ROOT / name for name in names)


def imports(code):
    """A param: the checksum of all that these files import."""
    return lambda wildcards: code_of.digest(absolute(code(wildcards)))


def normalise_code(wildcards):
    constants = plugins.method("dataset", wildcards.dataset).constants
    stand_in = f"data/standins/{constants['stand_in'] or constants['kind']}.py"
    return source("dataset", wildcards.dataset) + library(
        "data/normalised.py", stand_in
    )


def training_code(wildcards):
    setup = plan.setups[wildcards.setup]
    return source("protocol", setup["protocol"]) + source(
        "model", setup["model"]["use"]
    )


def defense_code(setup, defense):
    return source(
        "defense", plan.defenses[defense]["use"], plan.setups[setup]["protocol"]
    )


def run_code(wildcards):
    defense = defense_code(wildcards.setup, wildcards.defense)
    return training_code(wildcards) + defense + library("stages/runs.py")


def times_code(wildcards):
    timed = plan.timed(wildcards.setup)
    defenses = {file for name in timed for file in defense_code(wildcards.setup, name)}
    return training_code(wildcards) + sorted(defenses) + library("stages/times.py")


def match_code(wildcards):
    defense = defense_code(wildcards.setup, wildcards.defense)
    attack = source("attack", matched_by(wildcards)["use"])
    return training_code(wildcards) + defense + attack + library("stages/matching.py")


def attack_code(attacks):
    """Of several attacks that are one job, as a function of its wildcards."""
    used = sorted({plan.attacks[name]["use"] for name in attacks})
    own = [file for name in used for file in source("attack", name)]

    def code(wildcards):
        protocol = source("protocol", plan.setups[wildcards.setup]["protocol"])
        return own + protocol + library("stages/scores.py")

    return code


def vulnerable_code(wildcards):
    attacks = attack_code(plan.on_watched(wildcards.setup, wildcards.defense))
    return attacks(wildcards) + library("stages/vulnerable.py")


def theory_code(wildcards):
    return library(f"stages/measures/{wildcards.paper}.py")


def cells_code(wildcards):
    return library("ledger/cells.py")


def figure_code(wildcards):
    exhibit = EXHIBITS[f"{wildcards.paper}/{wildcards.exhibit}"]
    return source("exhibit", exhibit["draw"]["use"]) + library("stages/exhibits.py")


def ledger_code(wildcards):
    return library("ledger/claims.py", "ledger/files.py", "ledger/headline.py")


def site_code(wildcards):
    drawings = sorted({exhibit["draw"]["use"] for exhibit in EXHIBITS.values()})
    own = [file for name in drawings for file in source("exhibit", name)]
    return own + library("site/build.py", "site/reference.py")


def site_templates():
    """What pages are made of, and what lies beside them."""
    return relative(sorted(plugins.ROOT.glob("site/*s/*")))
