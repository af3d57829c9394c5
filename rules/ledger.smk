# Cells and published numbers -> verdicts.
rule ledger:
    input:
        code=script_of("ledger"),
        cells=[
            f"results/cells/{paper}/{name}.csv" for paper, name, _ in plan.exhibits()
        ],
        published=printed(plan.papers),
    output:
        claims="results/claims.csv",
        csv="results/ledger.csv",
        metrics="results/metrics.json",
        md=report(
            "results/ledger.md",
            category=" ledger",
            caption="../workflow/report/ledger.rst",
            labels={
                "kind": "ledger",
                "setups": "all",
                "scale": plan.scale,
                "provenance": "in each row",
            },
        ),
    log:
        "logs/ledger.log",
    group:
        at_once("exhibits")
    conda:
        "../envs/cpu.yaml"
    threads: 1
    resources:
        mem_mb=growing(1500),
        runtime=growing(5),
    params:
        contents=contents(script_of("ledger"), printed(plan.papers)),
        papers=plan.papers,
        scale=plan.judged_at,
    script:
        "../workflow/scripts/ledger.py"
