# All results -> HTML pages that a browser opens from disk.
rule site:
    input:
        **site_files(),
        code=site_code,
        claims="results/claims.csv",
        exhibits=exhibits_of(*plan.papers),
        facts=expand("data/normalised/{dataset}.json", dataset=plan.datasets()),
    output:
        touch("results/site/.whole"),  # not the folder: Snakemake removes what a job writes before it begins
    log:
        "logs/site.log",
    group:
        at_once("exhibits")
    conda:
        "../envs/cpu.yaml"
    threads: 2
    resources:
        mem_mb=growing(1500),
        runtime=growing(5),
    params:
        contents=contents(site_code, sum(site_files().values(), [])),
        papers=plan.papers,
        styles=plan.styles["defense"],
        variants=plan.files_of_variants,
        scale=plan.scale,
        scales=plan.scales,
        datasets=plan.datasets(),
        code=lambda wildcards: {
            paper: code_of.of_numbers(plan, paper) for paper in plan.papers
        },
    script:
        "../workflow/scripts/site.py"
