# The code that a job runs: its script, and the methods that this finds by name. What these import they say themselves: with
# thirty more inputs a job Snakemake would take twice as long to build the DAG.
relpath, abspath = functools.cache(os.path.relpath), functools.cache(os.path.abspath)


def given(files):
    """Files that no job makes, as seen from the working directory: a checkout that is moved or copied reruns nothing.

    What they hold counts, which `contents` says, and not when they were written.
    """
    return [ancient(relpath(file)) for file in files]


def absolute(files):
    """Paths as the library names its own files."""
    return tuple(map(abspath, files))


def contents(code, read=()):
    """A param: checksums of the code that a job runs, and of all else that it reads and no job makes.

    Both are lists, or functions of its wildcards.
    """

    def digest(wildcards):
        lists = [part(wildcards) if callable(part) else part for part in (code, read)]
        return code_of.digest(*map(absolute, lists))

    return digest


def script_of(name):
    """The script of a rule."""
    return given([os.path.join(workflow.basedir, f"workflow/scripts/{name}.py")])


def source(kind, name, game=""):
    """The file of a method, that of a game if several have one of that name."""
    return given([plugins.method(kind, name, game).path])


def library(name):
    """A module of the library."""
    return given([plugins.ROOT / name])


def normalise_code(wildcards):
    constants = plugins.method("dataset", wildcards.dataset).constants
    stand_in = f"data/standins/{constants['stand_in'] or constants['kind']}.py"
    own = source("dataset", wildcards.dataset)
    return script_of("normalise") + own + library(stand_in)


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
    return script_of("run") + training_code(wildcards) + defense


def times_code(wildcards):
    timed = plan.timed(wildcards.setup)
    defenses = {file for name in timed for file in defense_code(wildcards.setup, name)}
    return script_of("times") + training_code(wildcards) + given(sorted(defenses))


def match_code(wildcards):
    defense = defense_code(wildcards.setup, wildcards.defense)
    attack = source("attack", matched_by(wildcards)["use"])
    return script_of("match") + training_code(wildcards) + defense + attack


def attack_code(names, by="attack"):
    """Of several attacks that are one job, as a function of its wildcards."""

    def code(wildcards):
        used = {attack["use"] for attack in attacks_of(names)(wildcards).values()}
        own = [file for name in sorted(used) for file in source("attack", name)]
        protocol = source("protocol", plan.setups[wildcards.setup]["protocol"])
        return script_of(by) + own + protocol

    return code


def vulnerable_code(wildcards):
    attacks = plan.on_watched(wildcards.setup, wildcards.defense)
    return attack_code(attacks, "vulnerable")(wildcards)


def theory_code(wildcards):
    return script_of("theory") + library(f"stages/measures/{wildcards.paper}.py")


def figure_code(wildcards):
    exhibit = EXHIBITS[f"{wildcards.paper}/{wildcards.exhibit}"]
    return script_of("exhibit") + source("exhibit", exhibit["draw"]["use"])


def site_code(wildcards):
    drawings = sorted({exhibit["draw"]["use"] for exhibit in EXHIBITS.values()})
    own = [file for name in drawings for file in source("exhibit", name)]
    return script_of("site") + own


def site_templates():
    """What pages are made of, and what lies beside them."""
    return given(sorted(plugins.ROOT.glob("site/*s/*")))


def site_files():
    """What the site shows of the tree, by what it is."""
    return {
        "templates": site_templates(),
        "sources": given(["data/sources.csv"]),
        "documents": given(order.texts()),
        "pictures": given(order.pictures()),
        "api": given(api.files()),
        "datasets": [f for name in plan.datasets() for f in source("dataset", name)],
        "reference": given(published.all_files(published.FOLDER)) if REFERENCE else [],
    }
