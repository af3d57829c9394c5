# Sources -> normalised data, with where they came from.
rule normalise:
    input:
        code=normalise_code,
        sources=sources_of,
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
        asked=asked,
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
