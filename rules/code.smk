# The code that a job runs: its script, and the methods that the script finds by name. Their imports are not inputs: with thirty
# more inputs per job Snakemake would take twice as long to build the DAG.
relpath, abspath = functools.cache(os.path.relpath), functools.cache(os.path.abspath)


def given(files):
    """Files that no job makes, relative to the working directory: a checkout that is moved or copied reruns nothing.

    Their content counts (see `contents`), not their time.
    """
    return [ancient(relpath(file)) for file in files]


def absolute(files):
    """Absolute paths, as the library names its files."""
    return tuple(map(abspath, files))


def contents(code, read=()):
    """Param with checksums of the code that a job runs, and of all other files that it reads and no job makes.

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
    """The file of a method, of the given game if several have one of that name."""
    return given([plugins.method(kind, name, game).path])


def library(name):
    """A module of the library."""
    return given([plugins.ROOT / name])


def normalise_code(wildcards):
    method = plugins.method("dataset", wildcards.dataset)
    stand_in = library(f"data/standins/{method.constants['kind']}.py")
    return script_of("normalise") + given([method.path]) + stand_in


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


def prior_code(wildcards):
    return script_of("prior") + training_code(wildcards)


def times_code(wildcards):
    timed = plan.defenses_to_time(wildcards.setup)
    defenses = {file for name in timed for file in defense_code(wildcards.setup, name)}
    return script_of("times") + training_code(wildcards) + given(sorted(defenses))


def match_code(wildcards):
    defense = defense_code(wildcards.setup, wildcards.defense)
    attack = source("attack", matched_by(wildcards)["use"])
    return script_of("match") + training_code(wildcards) + defense + attack


def attack_code(names, by="attack"):
    """Code of a job of several attacks, as a function of its wildcards."""

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
    """Templates and assets of the site."""
    return given(sorted(plugins.ROOT.glob("site/*s/*")))


def method_files():
    """Files of all defenses and attacks, whose docstrings the site shows."""
    places = (plugins.PLACES[kind] for kind in ("defense", "attack"))
    return sorted(file for place in places for file in plugins.ROOT.glob(place))


def site_files():
    """Files of the tree that the site shows, by kind."""
    return {
        "templates": site_templates(),
        "sources": given(["data/sources.csv"]),
        "documents": given(order.texts()),
        "pictures": given(order.pictures()),
        "api": given(api.files()),
        "methods": given(method_files()),
        "datasets": [f for name in plan.datasets() for f in source("dataset", name)],
        "reference": given(published.all_files(published.FOLDER)) if REFERENCE else [],
    }
