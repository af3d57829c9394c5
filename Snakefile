from snakemake.utils import min_version

min_version("9.0")


configfile: "params.yaml"


include: "rules/common.smk"
include: "rules/inputs.smk"
include: "rules/data.smk"
include: "rules/runs.smk"
include: "rules/attacks.smk"
include: "rules/exhibits.smk"
include: "rules/report.smk"


localrules:
    all,
    data,
    runs,
    chebyshev,


rule all:
    default_target: True
    input:
        [exhibit_files(paper, name) for paper, name, _ in plan.exhibits()],
        datasets_of(plan.setups_shown),
        run_files(),
        ledger_files(),


rule data:
    input:
        datasets_of(plan.setups_shown),
        "results/data.md",


rule runs:
    input:
        run_files(),


rule chebyshev:
    input:
        [
            exhibit_files(paper, name)
            for paper, name, _ in plan.exhibits()
            if paper == "chebyshev"
        ],
