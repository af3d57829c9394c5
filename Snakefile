from snakemake.utils import min_version

min_version("9.0")


configfile: "params.yaml"


include: "rules/common.smk"
include: "rules/code.smk"
include: "rules/inputs.smk"
include: "rules/outputs.smk"
include: "rules/data.smk"
include: "rules/runs.smk"
include: "rules/attacks.smk"
include: "rules/exhibits.smk"
include: "rules/ledger.smk"
include: "rules/site.smk"


report: "workflow/report/description.rst"


if plan.outside.methods:

    include: "rules/tried.smk"


localrules:
    all,
    data,
    exhibits,


rule all:
    default_target: True
    input:
        exhibits_of(*plan.papers),
        datasets_of(plan.setups_used),
        ledger_files(),
        "results/site/.whole",


rule data:
    input:
        datasets_of(plan.setups_used),
        "results/data.md",


rule exhibits:
    input:
        exhibits_of(*plan.papers),


for paper in plan.papers:

    rule:
        name:
            paper
        input:
            exhibits_of(paper),
        localrule: True
