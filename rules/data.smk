# Sources -> original files -> normalised data with their provenance.
rule acquire:
    input:
        code=script_of("acquire"),
        sources=given([SOURCES]),
    output:
        update(record_of_folder("{folder}")),  # its old content has the origins of files
    log:
        "logs/acquire/{folder}.log",
    localrule: True  # nodes of a cluster may be without a network
    conda:
        "../envs/cpu.yaml"
    params:
        contents=contents(script_of("acquire")),
        sources=rows_in,
        acquisitions=acquisitions,
        stand_ins=plan.stand_ins,
    script:
        "../workflow/scripts/acquire.py"


# An original file, requested by its name. It is no output of `acquire`: some are not available, and Snakemake deletes outputs
# before it makes them.
rule raw:
    input:
        acquired,
    output:
        update("data/raw/{folder}/{file}"),
    wildcard_constraints:
        file="[^/]+",
    localrule: True


rule normalise:
    input:
        code=normalise_code,
        sources=sources_of,
        record=record_of,
    output:
        arrays="data/normalised/{dataset}.safetensors",
        facts="data/normalised/{dataset}.json",
    log:
        "logs/normalise/{dataset}.log",
    benchmark:
        "logs/normalise/{dataset}.benchmark.tsv"
    group:
        at_once("data")
    conda:
        "../envs/cpu.yaml"
    threads: 1
    resources:
        mem_mb=growing(plan.cluster.memory),
        runtime=growing(10),
    params:
        contents=contents(normalise_code, own_files),
        sources=rows_of,
        stand_ins=plan.stand_ins,
    script:
        "../workflow/scripts/normalise.py"


rule describe:
    input:
        code=script_of("describe"),
        facts=expand("data/normalised/{dataset}.json", dataset=plan.datasets()),
    output:
        "results/data.md",
    log:
        "logs/describe.log",
    group:
        at_once("data")
    conda:
        "../envs/cpu.yaml"
    threads: 1
    resources:
        mem_mb=growing(1500),
        runtime=growing(5),
    params:
        contents=contents(script_of("describe")),
        datasets=plan.datasets(),
    script:
        "../workflow/scripts/describe.py"
