# All that was found -> pages that a browser opens from disk.
rule site:
    input:
        code=site_code,
        templates=site_templates(),
        claims="results/claims.csv",
        exhibits=exhibits_of(*plan.papers),
        facts=expand("data/normalised/{dataset}.json", dataset=plan.datasets()),
        sources="data/sources.csv",
        documents=order.texts(),
        pictures=order.pictures(),
        api=relative(api.files()),
        reference=published.all_files(published.FOLDER) if REFERENCE else [],
    output:
        directory("results/site"),
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
        imports=imports(site_code),
        papers=plan.papers,
        looks=plan.looks["defense"],
        scale=plan.scale,
        hours=plan.judged_at["hours"],
        datasets=plan.datasets(),
    script:
        "../workflow/scripts/site.py"
